"""Compares the manifest that a pack's module exports with the manifest file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchwright.errors import ExecutionError
from benchwright.packs.manifest import PackManifest, describe_outside_paths
from benchwright.packs.manifest_check import check_manifest

COMPARED_KEYS = (
    "version",
    "name",
    "capabilities",
    "samplingDefaults",
    "verifiers",
    "sidecars",
    "requirements",
)
"""Keys whose values should be the same in module and file. Hosts display the file's values but run the module."""
MAX_VALUE_LENGTH = 60


def effective_manifest(
    declared: PackManifest, own: dict[str, Any] | None, directory: Path
) -> tuple[PackManifest, list[str]]:
    """Return (manifest to use, differences between the module's and the file's manifest, as messages).

    The manifest of the module (`own`) is used if it is valid. Otherwise that of the file (`declared`) is
    used.

    Raises:
        ExecutionError: If the module's manifest has another id, or a path in it leads out of the pack.
    """
    if not own:
        return declared, []
    manifest, problems = check_manifest(own)
    if manifest is None:
        return declared, [
            f"the module's own manifest is not valid ({'; '.join(problems)}); the file's is used"
        ]
    if manifest.id != declared.id:
        raise ExecutionError(
            f"the module calls itself {manifest.id!r} and the manifest file {declared.id!r}; "
            "both must have the same id"
        )
    if outside := describe_outside_paths(directory, manifest):
        raise ExecutionError(f"the module's own manifest cannot be used: {'; '.join(outside)}")
    differing = [
        f"{key} is {_shown(own.get(key))} in the module and {_shown(declared.raw.get(key))} in the manifest file; "
        "the module's counts"
        for key in COMPARED_KEYS
        if own.get(key) != declared.raw.get(key)
    ]
    return manifest, differing


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return (
        "missing"
        if value is None
        else text
        if len(text) <= MAX_VALUE_LENGTH
        else f"{text[:MAX_VALUE_LENGTH]}…"
    )
