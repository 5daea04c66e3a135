"""The states of a pack, as far as they can be told without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.install.install_kit import ENTRY, pack_files, write_tree

from benchwright.packs.inspection import failed_inspection, inspect_pack


def test_a_whole_pack_is_ready(tmp_path: Path) -> None:
    inspection = inspect_pack(write_tree(tmp_path / "pack", pack_files()))
    assert (inspection.status, inspection.error) == ("ready", None)
    assert inspection.manifest is not None
    assert inspection.manifest.id == "sample"


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"entry": "./missing.js"}, "entry_missing", "missing.js is missing"),
        ({"entry": "./dist"}, "entry_missing", "dist is missing"),
        ({"name": 5}, "invalid_manifest", "name: expected a string, found 5"),
        ({"entry": "../out.js"}, "invalid_manifest", "must stay inside the pack"),
        ({"requirements": {"benchlocal": {"minVersion": "9"}}}, "incompatible", "needs host version 9"),
        ({"requirements": {"benchlocal": {"minVersion": "?"}}}, "incompatible", "not a version"),
        ({"type": "web", "entry": "https://host.example"}, "incompatible", "it is a web pack"),
        ({"type": "video"}, "incompatible", "it is a 'video' pack"),
    ],
)
def test_a_pack_that_is_not_says_why(
    tmp_path: Path, changes: dict[str, Any], status: str, reason: str
) -> None:
    inspection = inspect_pack(write_tree(tmp_path / "pack", pack_files(**changes)))
    assert inspection.status == status
    assert reason in str(inspection.error)


def test_a_directory_without_a_manifest_or_no_directory(tmp_path: Path) -> None:
    write_tree(tmp_path, {ENTRY: ""})
    assert inspect_pack(tmp_path).status == "manifest_missing"
    assert inspect_pack(tmp_path / "nowhere").status == "not_installed"


def test_the_version_stood_in_for_decides(tmp_path: Path) -> None:
    needs = {"benchlocal": {"minVersion": "0.4.0", "maxVersionExclusive": "0.5.0"}}
    pack = write_tree(tmp_path / "pack", pack_files(requirements=needs))
    statuses = [inspect_pack(pack, version).status for version in ("0.3.9", "0.4.0", "0.4.9", "0.5.0")]
    assert statuses == ["incompatible", "ready", "ready", "incompatible"]


def test_a_module_that_does_not_load_is_told_with_the_rest_kept(tmp_path: Path) -> None:
    inspection = inspect_pack(write_tree(tmp_path / "pack", pack_files()))
    failed = failed_inspection(inspection, "it threw")
    assert (failed.status, failed.error, failed.manifest) == ("load_error", "it threw", inspection.manifest)
