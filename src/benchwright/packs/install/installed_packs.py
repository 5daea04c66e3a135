"""Finds installed packs, and detects changes of the packs' files."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from benchwright.errors import UserError
from benchwright.packs.inspection import PackInspection, inspect_pack
from benchwright.packs.install.digest import compare_digests, file_digests, tree_digest
from benchwright.packs.install.storage import InstallRecord, current_directory, install_record_path
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.packs.manifest_check import PACK_ID_PATTERN
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import DECODE_ERRORS, Record
from benchwright.suggestions import did_you_mean
from benchwright.user_paths import expand_user_path


class InstalledPack(Record, frozen=True):
    """A pack on this machine.

    `local`: True if the pack is used in its own directory, without a copy in the storage. `record`: None if
    there is no valid record of the installation.
    """

    id: str
    directory: Path
    inspection: PackInspection
    local: bool = False
    record: InstallRecord | None = None


def list_installed(storage: Path, compatible_version: str = COMPATIBLE_VERSION) -> list[InstalledPack]:
    """Return the packs in a storage, sorted by id. Broken packs are included; their `inspection` says what is wrong."""
    if not storage.is_dir():
        return []
    names = sorted(entry.name for entry in storage.iterdir() if PACK_ID_PATTERN.fullmatch(entry.name))
    packs = (_installed(storage, name, compatible_version) for name in names)
    return [pack for pack in packs if pack is not None]


def find_installed(
    pack_id: str, storage: Path, compatible_version: str = COMPATIBLE_VERSION
) -> InstalledPack:
    """Return the installed pack with this id.

    Raises:
        UserError: If the pack is not installed.
    """
    pack = _installed(storage, pack_id, compatible_version) if PACK_ID_PATTERN.fullmatch(pack_id) else None
    if pack is None:
        hint = did_you_mean(pack_id, [pack.id for pack in list_installed(storage, compatible_version)])
        raise UserError(f"There is no pack {pack_id!r} in {storage}.{hint}")
    return pack


def find_pack(reference: str, storage: Path, compatible_version: str = COMPATIBLE_VERSION) -> InstalledPack:
    """Return a pack, given its id in the storage, or the path of its directory or manifest.

    A reference that could be an id or a path is an id if such a pack is installed.

    Raises:
        UserError: If there is no such pack.
    """
    if PACK_ID_PATTERN.fullmatch(reference) and (pack := _installed(storage, reference, compatible_version)):
        return pack
    path = expand_user_path(reference)
    directory = (path.parent if path.name == MANIFEST_NAME else path).resolve()
    if directory.is_dir() and (os.sep in reference or (directory / MANIFEST_NAME).is_file()):
        inspection = inspect_pack(directory, compatible_version)
        pack_id = inspection.manifest.id if inspection.manifest else directory.name
        return InstalledPack(pack_id, directory, inspection, local=True)
    if os.sep in reference:
        raise UserError(f"There is no directory {reference}.")
    return find_installed(reference, storage, compatible_version)


def find_changes(pack: InstalledPack) -> list[str] | None:
    """Return the differences between a pack's files and its state when it was installed, one line each.

    Return None if there is no record of that state.

    Raises:
        UserError: If the pack's files cannot be read.
    """
    record = pack.record
    if record is None:
        return None
    if tree_digest(record.files) != record.tree_sha256:
        return ["the record of the installation was changed"]
    try:
        return compare_digests(record.files, file_digests(pack.directory))
    except OSError as error:
        raise UserError(f"{error.filename} cannot be read ({error.strerror}).") from None


def _installed(storage: Path, name: str, compatible_version: str) -> InstalledPack | None:
    home = storage / name
    directory = current_directory(home)
    if directory is None:
        return None
    inspection = inspect_pack(directory, compatible_version)
    local = not directory.is_relative_to(home)
    return InstalledPack(name, directory, inspection, local, None if local else _record(directory))


def _record(version: Path) -> InstallRecord | None:
    try:
        return msgspec.json.decode(install_record_path(version).read_bytes(), type=InstallRecord)
    except (OSError, *DECODE_ERRORS):
        return None
