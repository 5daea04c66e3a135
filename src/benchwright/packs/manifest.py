"""Reads and checks a pack's manifest, benchlocal.pack.json.

The format is Bench Protocol v1 with the later additions that packs use (`requirements`, `type`). Every error
of the desktop host (BenchLocal) is an error here, too. In addition, these are errors: an `entry` or a
`buildContext` outside the pack, an id that is not a valid directory name, and verifiers that could not be
started. Every other fault is a warning, because the pack runs regardless. `sidecars`, the old name of
`verifiers`, is read if the new name is absent.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import UserError
from benchwright.packs.manifest_check import check_manifest
from benchwright.packs.manifest_types import PackManifest, VerifierSpec
from benchwright.records import DECODE_ERRORS

__all__ = [
    "MANIFEST_NAME",
    "ManifestError",
    "ManifestMissing",
    "PackManifest",
    "VerifierSpec",
    "describe_outside_paths",
    "describe_path_escape",
    "read_manifest",
]

MANIFEST_NAME = "benchlocal.pack.json"
MAX_MANIFEST_BYTES = 1024 * 1024


class ManifestMissing(UserError):
    """Raised if a directory has no manifest."""


class ManifestError(UserError):
    """Raised if a manifest cannot be used. `problems`: one line per faulty field."""

    def __init__(self, where: str, problems: list[str]) -> None:
        super().__init__(f"{where} is not valid: {'; '.join(problems)}")
        self.problems = problems


def read_manifest(directory: Path) -> PackManifest:
    """Read and check the manifest of the pack in `directory`.

    Raises:
        ManifestMissing: If the directory has no manifest.
        ManifestError: If the manifest cannot be used. The message lists the faulty fields and the expected
            values.
    """
    path = directory / MANIFEST_NAME
    raw = _read_json(path)
    manifest, problems = check_manifest(raw)
    if manifest is None:
        raise ManifestError(str(path), problems)
    if outside := describe_outside_paths(directory, manifest):
        raise ManifestError(str(path), outside)
    return manifest


def describe_outside_paths(directory: Path, manifest: PackManifest) -> list[str]:
    """Return one line for each path in the manifest that leads out of the pack."""
    return [
        f"{field} {why}"
        for field, value in _paths(manifest)
        if (why := describe_path_escape(directory, value))
    ]


def describe_path_escape(directory: Path, relative: str) -> str | None:
    """Return a description of how a path leads out of the pack. Return None if the path stays inside.

    Links are followed.
    """
    if "\0" in relative:
        return f"{relative!r} is not a path"
    if os.path.isabs(relative):
        return f"must be relative to the pack, found {relative!r}"
    root = directory.resolve()
    if not (root / relative).resolve().is_relative_to(root):
        return f"must stay inside the pack, found {relative!r}"
    return None


def _paths(manifest: PackManifest) -> list[tuple[str, str]]:
    """Return (field, path) for each path in the manifest."""
    found = [("entry", manifest.entry)] if manifest.type == "table" else []
    return found + [
        (f"verifiers[{position}].docker.buildContext", verifier.docker.build_context)
        for position, verifier in enumerate(manifest.verifiers)
        if verifier.docker and verifier.docker.build_context is not None
    ]


def _read_json(path: Path) -> Any:
    """Return the JSON value in a manifest file.

    Never block, not even if the path is not a regular file but, for example, a pipe.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ManifestError(str(path), ["it is not a file"])
            content = file.read(MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise ManifestMissing(f"There is no {path.name} in {path.parent}.") from None
    except OSError as error:
        raise ManifestError(str(path), [f"it cannot be read ({error.strerror})"]) from None
    if len(content) > MAX_MANIFEST_BYTES:
        raise ManifestError(str(path), [f"it is larger than {MAX_MANIFEST_BYTES:,} bytes"])
    try:
        return msgspec.json.decode(content)
    except DECODE_ERRORS as error:
        raise ManifestError(str(path), [f"it is not valid JSON ({error})"]) from None
