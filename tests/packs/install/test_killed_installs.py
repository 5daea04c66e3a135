"""kill -9 at any moment of an installation leaves the old version or the new one, and the next one cleans up."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packs.install.install_kit import pack_archive

from benchwright.packs.install import find_changes, find_pack, install, list_installed, uninstall

DYING = """
import os, signal, sys
from pathlib import Path
from benchwright.packs.install import install, uninstall

moment, archive, storage = sys.argv[1], sys.argv[2], Path(sys.argv[3])
renames = 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(real):
    def rename(source, target):
        global renames
        renames += 1
        if moment == f"before rename {renames}":
            die()
        real(source, target)
        if moment == f"after rename {renames}":
            die()
    return rename

os.rename, os.replace = dying(os.rename), dying(os.replace)
report = lambda progress: die() if progress.phase == moment else None
if archive == "-":
    uninstall("sample", storage, report=report)
else:
    install(archive, storage, report=report)
"""

MOMENTS = [
    *("resolving", "downloading", "extracting", "validating", "activating"),
    *(f"{when} rename {number}" for number in (1, 2, 3) for when in ("before", "after")),
    "complete",
]
"""The renames are: the record into place, the files into place, current.json into place."""


def die(moment: str, archive: str, storage: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", DYING, moment, archive, str(storage)], check=False, timeout=60
    )
    assert child.returncode == -signal.SIGKILL, "it reached the moment and was killed there"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_installation_leaves_old_or_new(storage: Path, tmp_path: Path, moment: str) -> None:
    install(str(pack_archive(tmp_path / "old.tar.gz", version="1.0.0")), storage)
    die(moment, str(pack_archive(tmp_path / "new.tar.gz", version="2.0.0")), storage)
    [pack] = list_installed(storage)
    assert pack.inspection.status == "ready"
    assert pack.inspection.manifest is not None
    switched = moment in ("after rename 3", "complete")
    assert pack.inspection.manifest.version == ("2.0.0" if switched else "1.0.0")
    assert find_changes(pack) == []

    install(str(pack_archive(tmp_path / "newest.tar.gz", version="3.0.0")), storage)
    assert find_changes(find_pack("sample", storage)) == []
    assert list((storage / ".staging").iterdir()) == []
    directories = [path for path in (storage / "sample" / "versions").iterdir() if path.is_dir()]
    assert len(directories) == 2, "the new version and the one before; nothing of the killed one is left"


def test_a_first_installation_that_was_killed_is_no_installation(storage: Path, tmp_path: Path) -> None:
    die("after rename 2", str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    assert list_installed(storage) == []
    install(str(pack_archive(tmp_path / "other.tar.gz", id="other")), storage)
    assert not (storage / "sample").exists()


@pytest.mark.parametrize("moment", ["removing", "before rename 1", "after rename 1", "complete"])
def test_a_killed_removal_leaves_all_or_nothing(storage: Path, tmp_path: Path, moment: str) -> None:
    install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    die(moment, "-", storage)
    assert [find_changes(pack) for pack in list_installed(storage)] == (
        [] if moment in ("after rename 1", "complete") else [[]]
    )
    install(str(pack_archive(tmp_path / "other.tar.gz", id="other")), storage)
    assert list((storage / ".staging").iterdir()) == []
    if list_installed(storage)[-1].id == "sample":
        uninstall("sample", storage)
    assert not (storage / "sample").exists()
