"""benchlocal.pack.json: what a pack says of itself, read and checked.

The format is that of Bench Protocol v1 with the later additions that packs use (`requirements`, `type`).
What the desktop host refuses is refused here too; beyond that, an `entry` or a `buildContext` outside the
pack, an id that is not a name of a directory, and verifiers that could not be started. Whatever else looks wrong
is a warning, because the pack runs regardless. `sidecars`, the old name of `verifiers`, is read where the new
one is absent.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import UserError
from benchwright.packs.declared import PackManifest, VerifierSpec
from benchwright.packs.manifest_check import check_manifest
from benchwright.records import UNREADABLE

__all__ = [
    "MANIFEST_NAME",
    "ManifestError",
    "ManifestMissing",
    "PackManifest",
    "VerifierSpec",
    "leaves",
    "paths_outside",
    "read_manifest",
]

MANIFEST_NAME = "benchlocal.pack.json"
LARGEST_MANIFEST = 1024 * 1024


class ManifestMissing(UserError):
    """There is no manifest in the directory."""


class ManifestError(UserError):
    """The manifest cannot be used; `problems` has one line per field that is wrong."""

    def __init__(self, where: str, problems: list[str]) -> None:
        super().__init__(f"{where} is not valid: {'; '.join(problems)}")
        self.problems = problems


def read_manifest(directory: Path) -> PackManifest:
    """The manifest of the pack in `directory`.

    Raises:
        ManifestMissing: there is none.
        ManifestError: it cannot be used; says which fields are wrong and what was expected.
    """
    path = directory / MANIFEST_NAME
    raw = _read_json(path)
    manifest, problems = check_manifest(raw)
    if manifest is None:
        raise ManifestError(str(path), problems)
    if outside := paths_outside(directory, manifest):
        raise ManifestError(str(path), outside)
    return manifest


def paths_outside(directory: Path, manifest: PackManifest) -> list[str]:
    """Which paths of a manifest lead out of the pack, and how, a line each."""
    return [f"{field} {why}" for field, value in _paths(manifest) if (why := leaves(directory, value))]


def leaves(directory: Path, relative: str) -> str | None:
    """How a path that a manifest gives leads out of the pack, links followed; None where it stays inside."""
    if "\0" in relative:
        return f"{relative!r} is not a path"
    if os.path.isabs(relative):
        return f"must be relative to the pack, found {relative!r}"
    root = directory.resolve()
    if not (root / relative).resolve().is_relative_to(root):
        return f"must stay inside the pack, found {relative!r}"
    return None


def _paths(manifest: PackManifest) -> list[tuple[str, str]]:
    """The paths that the manifest gives, with the fields that hold them."""
    found = [("entry", manifest.entry)] if manifest.type == "table" else []
    return found + [
        (f"verifiers[{position}].docker.buildContext", verifier.docker.build_context)
        for position, verifier in enumerate(manifest.verifiers)
        if verifier.docker and verifier.docker.build_context is not None
    ]


def _read_json(path: Path) -> Any:
    """The content of a manifest file; never waits for what is not a file (a pipe)."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ManifestError(str(path), ["it is not a file"])
            content = file.read(LARGEST_MANIFEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise ManifestMissing(f"There is no {path.name} in {path.parent}.") from None
    except OSError as error:
        raise ManifestError(str(path), [f"it cannot be read ({error.strerror})"]) from None
    if len(content) > LARGEST_MANIFEST:
        raise ManifestError(str(path), [f"it is larger than {LARGEST_MANIFEST:,} bytes"])
    try:
        return msgspec.json.decode(content)
    except UNREADABLE as error:
        raise ManifestError(str(path), [f"it is not valid JSON ({error})"]) from None
