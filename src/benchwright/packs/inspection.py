"""The state of a pack, found without running its code: whether the pack can be loaded, and if not, why."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from benchwright.packs.manifest import ManifestError, ManifestMissing, PackManifest, read_manifest
from benchwright.packs.versions import COMPATIBLE_VERSION, incompatibility_reason
from benchwright.packs.web_pack import NOT_RUNNABLE_MESSAGE
from benchwright.records import Record

PackStatus = Literal[
    "ready",
    "not_installed",
    "incompatible",
    "manifest_missing",
    "entry_missing",
    "invalid_manifest",
    "load_error",
]


class PackInspection(Record, frozen=True):
    """The state of a pack.

    `error`: why the state is not "ready", None if it is. `manifest`: None if the manifest cannot be read.

    "ready" means that the pack's files are fit to be loaded. Only the bridge finds out whether the pack's
    module loads; see `failed_inspection`.
    """

    status: PackStatus
    directory: Path
    error: str | None = None
    manifest: PackManifest | None = None


def inspect_pack(directory: Path, compatible_version: str = COMPATIBLE_VERSION) -> PackInspection:
    """Return the state of the pack in `directory`.

    `compatible_version`: the host version that the pack must support.
    """
    if not directory.is_dir():
        return PackInspection("not_installed", directory, f"{directory} is not a directory")
    try:
        manifest = read_manifest(directory)
    except ManifestMissing as error:
        return PackInspection("manifest_missing", directory, str(error))
    except ManifestError as error:
        return PackInspection("invalid_manifest", directory, str(error))
    if manifest.type != "table":
        error_text = f"it is a {manifest.type!r} pack, and only table packs can be run"
        if manifest.type == "web":
            error_text = f"it is {NOT_RUNNABLE_MESSAGE}"
        return PackInspection("incompatible", directory, error_text, manifest)
    if reason := incompatibility_reason(manifest.requirements, compatible_version):
        return PackInspection("incompatible", directory, reason, manifest)
    if not (directory / manifest.entry).is_file():
        error_text = f"its entry {manifest.entry} is missing; was the pack built?"
        return PackInspection("entry_missing", directory, error_text, manifest)
    return PackInspection("ready", directory, None, manifest)


def failed_inspection(inspection: PackInspection, error: str) -> PackInspection:
    """Return the state of a pack whose module failed to load or to list its scenarios."""
    return msgspec.structs.replace(inspection, status="load_error", error=error)
