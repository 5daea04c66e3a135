"""The registry of packs: a list of names, versions and sources.

The format is that of the public registry (schemaVersion 1). An entry that cannot be understood is kept,
together with the reason why its pack cannot be installed. It does not affect other entries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import UserError
from benchwright.packs.install.settings import InstallLimits
from benchwright.packs.install.sources import Archive, GitHub, is_http_url, normalize_sha256
from benchwright.packs.manifest_check import PACK_ID_PATTERN, hint_for_newer
from benchwright.packs.web_pack import NOT_RUNNABLE_MESSAGE
from benchwright.records import DECODE_ERRORS, Record
from benchwright.suggestions import did_you_mean
from benchwright.user_paths import expand_user_path


class RegistryEntry(Record, frozen=True):
    """A pack in the registry.

    `problem`: why the pack cannot be installed here, or None. `source`: None if there is a problem.
    """

    id: str
    name: str
    version: str
    source: GitHub | Archive | None = None
    problem: str | None = None
    sha256: str | None = None
    raw: dict[str, Any] = {}

    @property
    def page_url(self) -> str | None:
        """The address of a web pack's page; None if the pack is not a web pack."""
        source = self.raw.get("source")
        if not isinstance(source, dict) or source.get("type") != "web":
            return None
        return str(source.get("entry") or "(no address given)")

    def optional_text(self, key: str) -> str | None:
        """Return an optional text of the entry, such as its author, description, homepage or license."""
        value = self.raw.get(key)
        return value if isinstance(value, str) else None


class Registry(Record, frozen=True):
    """A registry, with its entries sorted by name."""

    address: str
    entries: list[RegistryEntry]

    def find(self, pack_id: str) -> RegistryEntry:
        """Return the entry of a pack.

        Raises:
            UserError: If there is no such entry, or its pack cannot be installed here.
        """
        entry = next((entry for entry in self.entries if entry.id == pack_id), None)
        if entry is None:
            hint = did_you_mean(pack_id, [entry.id for entry in self.entries])
            raise UserError(f"There is no pack {pack_id!r} in the registry {self.address}.{hint}")
        if entry.source is None:
            raise UserError(f"{pack_id} cannot be installed: {entry.problem}.")
        return entry


def read_registry(address: str, limits: InstallLimits = InstallLimits()) -> Registry:  # noqa: B008  # frozen
    """Read the registry at an http or https address, or in a file.

    Raises:
        UserError: If the registry cannot be read, or the document is not a registry.
        OSError: If a temporary file cannot be written.
    """
    try:
        content = msgspec.json.decode(_content(address, limits))
    except DECODE_ERRORS as error:
        raise UserError(f"The registry {address} is not valid JSON: {error}.") from None
    packs = content.get("packs") if isinstance(content, dict) else None
    if not isinstance(packs, list) or content.get("schemaVersion") != 1:
        found = content.get("schemaVersion") if isinstance(content, dict) else None
        expected = f'expected {{"schemaVersion": 1, "packs": [...]}}{hint_for_newer(found)}'
        raise UserError(f"The registry {address} is none: {expected}.")
    entries = [_entry(raw) for raw in packs if isinstance(raw, dict)]
    return Registry(address, sorted(entries, key=lambda entry: (entry.name.lower(), entry.id)))


def _content(address: str, limits: InstallLimits) -> bytes:
    if is_http_url(address):
        import tempfile

        from benchwright.packs.install.download import download

        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "registry.json")
            download(address, path, limits.registry_bytes, limits)
            return path.read_bytes()
    try:
        return expand_user_path(address).read_bytes()
    except OSError as error:
        raise UserError(f"The registry {address} cannot be read ({error.strerror}).") from None


def _entry(raw: dict[str, Any]) -> RegistryEntry:
    pack_id, name, version = (
        value if isinstance(value := raw.get(key), str) else "" for key in ("id", "name", "version")
    )
    try:
        if not PACK_ID_PATTERN.fullmatch(pack_id):
            raise ValueError(f"its id {pack_id!r} is not a valid pack name")
        source, sha256 = _source(raw)
    except ValueError as error:
        return RegistryEntry(pack_id, name or pack_id, version, problem=str(error), raw=raw)
    return RegistryEntry(pack_id, name or pack_id, version, source, None, sha256, raw)


def _source(raw: dict[str, Any]) -> tuple[GitHub | Archive, str | None]:
    """Return (source, checksum) of a registry entry's archive. The checksum is None if the entry has none.

    The checksum is the entry's `sha256` or `integrity`.

    Raises:
        ValueError: If the source is not understood. The message has the reason.
    """
    source = raw.get("source")
    if not isinstance(source, dict):
        raise ValueError("its source is not an object")
    checksum = next(
        (place[key] for place in (source, raw) for key in ("sha256", "integrity") if place.get(key)), None
    )
    sha256 = None if checksum is None else normalize_sha256(str(checksum))
    match source:
        case {"type": "github", "repo": str(repository), "tag": str(tag)}:
            return GitHub.create_validated(repository, tag), sha256
        case {"type": "archive", "url": str(url)} if is_http_url(url):
            return Archive(url), sha256
        case {"type": "web"}:
            raise ValueError(f"it is {NOT_RUNNABLE_MESSAGE}")
        case {"type": "github" | "archive" as kind}:
            raise ValueError(f"its {kind} source is incomplete")
    raise ValueError(f"sources of type {source.get('type')!r} are not supported")
