"""Checks of a manifest's fields. Each problem states the field, the expected value, and the value found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from benchwright.packs.manifest_types import (
    Capabilities,
    CloudVerifier,
    CustomUrlVerifier,
    DockerVerifier,
    PackManifest,
    Requirements,
    VerifierSpec,
)
from benchwright.packs.types import VerifierMode
from benchwright.runs.store_format import THIS_VERSION

PACK_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
"""Matches the valid ids of packs and verifiers. Names of directories and containers are derived from these ids."""

_SHOWN = 60


def check_manifest(raw: Any) -> tuple[PackManifest | None, list[str]]:
    """Convert a JSON value into a manifest. Return (manifest, problems).

    If the value is a valid manifest, there are no problems. Otherwise the manifest is None, and there is one
    line per faulty field.
    """
    if not isinstance(raw, dict):
        return None, [f"expected a JSON object, found {_shown(raw)}"]
    fields = _Fields(raw)
    for name in ("schemaVersion", "protocolVersion"):
        if type(raw.get(name)) not in (int, float) or raw[name] != 1:
            fields.wrong(name, "1", raw.get(name, _ABSENT), hint_for_newer(raw.get(name)))
    manifest = PackManifest(
        id=_identifier(fields, "id"),
        name=fields.text("name"),
        version=fields.text("version"),
        entry=fields.text("entry"),
        capabilities=_capabilities(fields),
        author=fields.optional("author", str, "a string"),
        description=fields.optional("description", str, "a string"),
        repository_url=_inner(fields, "repository", "url"),
        accent=_inner(fields, "theme", "accent"),
        sampling_defaults=fields.optional("samplingDefaults", dict, "an object") or {},
        verifiers=_verifiers(fields),
        requirements=_requirements(fields),
        type=fields.text("type") if raw.get("type") is not None else "table",
        warnings=fields.warnings,
        raw=raw,
    )
    return (None, fields.problems) if fields.problems else (manifest, [])


def hint_for_newer(version: Any) -> str:
    """Return what to do if a version number is from the future, to be appended to a message. Empty for other values."""
    newer = type(version) in (int, float) and version > 1
    return f" (made for a newer host; this is {THIS_VERSION}: upgrade it)" if newer else ""


_ABSENT: Any = object()


def _shown(value: Any) -> str:
    """Format the value of a field for a message: shortened, and on one line."""
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class _Fields:
    """One object of the manifest, read field by field. It collects problems and warnings."""

    def __init__(self, raw: Mapping[str, Any], prefix: str = "", within: _Fields | None = None) -> None:
        self.raw = raw
        self.prefix = prefix
        self.problems: list[str] = within.problems if within else []
        self.warnings: list[str] = within.warnings if within else []

    def wrong(self, name: str, expected: str, found: Any, hint: str = "") -> None:
        """Add a problem with the field `name`. `hint`: what to do about it."""
        self.problems.append(f"{self.prefix}{name}: expected {expected}, found {_shown(found)}{hint}")

    def doubtful(self, name: str, expected: str, found: Any) -> None:
        """Add a warning about the field `name`."""
        self.warnings.append(f"{self.prefix}{name}: expected {expected}, found {_shown(found)}")

    def text(self, name: str) -> str:
        """Return a required string, which must not be empty. If it is missing or empty, add a problem."""
        value = self.raw.get(name, _ABSENT)
        if not isinstance(value, str) or not value.strip():
            self.wrong(name, "a string", value)
            return ""
        return value

    def optional(self, name: str, kind: type, expected: str) -> Any:
        """Return an optional value. If it has another type, add a warning and return None."""
        return self._if_there(name, kind, expected, self.doubtful)

    def strict(self, name: str, kind: type, expected: str) -> Any:
        """Return an optional value. If it has another type, add a problem."""
        return self._if_there(name, kind, expected, self.wrong)

    def _if_there(
        self, name: str, kind: type, expected: str, complain: Callable[[str, str, Any], None]
    ) -> Any:
        value = self.raw.get(name)
        if value is None or isinstance(value, kind):
            return value
        complain(name, expected, value)
        return None

    def inside(self, name: str, value: Mapping[str, Any]) -> _Fields:
        """Return a reader of a nested object. It adds to the same problems and warnings."""
        return _Fields(value, f"{self.prefix}{name}.", self)


def _identifier(fields: _Fields, name: str) -> str:
    value = fields.text(name)
    if value and not PACK_ID_PATTERN.fullmatch(value):
        fields.wrong(
            name, "letters, digits, '.', '_' and '-', at most 100, beginning with a letter or digit", value
        )
    return value


def _inner(fields: _Fields, name: str, key: str) -> str | None:
    """Return a string of a nested object, or None. A fault is only a warning, because the string is only displayed."""
    value = fields.optional(name, dict, "an object")
    return fields.inside(name, value).optional(key, str, "a string") if value else None


def _capabilities(fields: _Fields) -> Capabilities:
    raw = fields.raw.get("capabilities", _ABSENT)
    if not isinstance(raw, dict):
        fields.wrong("capabilities", "an object", raw)
        return Capabilities()
    if "verification" not in raw and "sidecars" not in raw:
        fields.wrong("capabilities.verification", "true or false", _ABSENT)
    inner = fields.inside("capabilities", raw)
    verification = "verification" if "verification" in raw else "sidecars"
    tools, multi_turn, streaming, verification_used = (
        bool(inner.optional(name, bool, "true or false"))
        for name in ("tools", "multiTurn", "streamingProgress", verification)
    )
    return Capabilities(tools, multi_turn, streaming, verification_used)


def _requirements(fields: _Fields) -> Requirements:
    raw = fields.strict("requirements", dict, "an object")
    if not raw:
        return Requirements()
    inner = fields.inside("requirements", raw)
    host = inner.inside("benchlocal", inner.strict("benchlocal", dict, "an object") or {})
    features = inner.strict("hostFeatures", list, "a list of strings") or []
    if not all(isinstance(feature, str) for feature in features):
        inner.wrong("hostFeatures", "a list of strings", features)
        features = []
    return Requirements(
        host.strict("minVersion", str, "a version"),
        host.strict("maxVersionExclusive", str, "a version"),
        features,
    )


def _verifiers(fields: _Fields) -> list[VerifierSpec]:
    name = "sidecars" if fields.raw.get("verifiers") is None else "verifiers"
    found: list[VerifierSpec] = []
    for position, raw in enumerate(fields.strict(name, list, "a list") or []):
        if not isinstance(raw, dict):
            fields.wrong(f"{name}[{position}]", "an object", raw)
            continue
        verifier = _verifier(fields.inside(f"{name}[{position}]", raw))
        if verifier.id in {other.id for other in found}:
            fields.problems.append(f"{name}[{position}].id: {verifier.id!r} appears twice")
        found.append(verifier)
    return found


def _verifier(fields: _Fields) -> VerifierSpec:
    if fields.raw.get("transport", "http") != "http":
        fields.wrong("transport", '"http"', fields.raw["transport"])
    mode = fields.raw.get("defaultMode", _ABSENT)
    if mode not in get_args(VerifierMode):
        fields.wrong("defaultMode", '"docker", "cloud" or "custom_url"', mode)
    elif mode == "docker" and fields.raw.get("docker") is None:
        fields.wrong("docker", "an object, because defaultMode is docker", _ABSENT)
    sections = {name: fields.strict(name, dict, "an object") for name in ("docker", "cloud", "customUrl")}
    cloud, custom = (fields.inside(name, sections[name] or {}) for name in ("cloud", "customUrl"))
    return VerifierSpec(
        id=_identifier(fields, "id"),
        default_mode=mode,
        required=bool(fields.optional("required", bool, "true or false")),
        description=fields.optional("description", str, "a string"),
        docker=None if sections["docker"] is None else _docker(fields.inside("docker", sections["docker"])),
        cloud=None if sections["cloud"] is None else CloudVerifier(_url(cloud, "baseUrl"), _health(cloud)),
        custom_url=None
        if sections["customUrl"] is None
        else CustomUrlVerifier(_url(custom, "defaultUrl"), _health(custom)),
    )


def _docker(fields: _Fields) -> DockerVerifier:
    port = fields.raw.get("listenPort", _ABSENT)
    if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536:
        fields.wrong("listenPort", "a port from 1 to 65535", port)
    image, context = fields.strict("image", str, "a string"), fields.strict("buildContext", str, "a path")
    if not image and not context:
        fields.doubtful("image", "an image or a buildContext", _ABSENT)
    return DockerVerifier(port, image, context, _health(fields))


def _health(fields: _Fields) -> str | None:
    path = fields.strict("healthcheckPath", str, "a path such as /health")
    if path is not None and not re.fullmatch(r"[!-~]*", path):
        fields.wrong("healthcheckPath", "a path such as /health", path)
    return path or None


def _url(fields: _Fields, name: str) -> str | None:
    url = fields.strict(name, str, "an http:// or https:// address")
    if url and not re.fullmatch(r"https?://[!-~]+", url):
        fields.wrong(name, "an http:// or https:// address", url)
    return url or None
