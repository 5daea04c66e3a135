"""Lock files age: `make requirements` says what changed, and a package that moved is named in one line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests import lock_files
from tests.environments import ROOT, programs_of
from tests.locked_install import reason

ZERO, ONE = "0" * 64, "1" * 64


def locked(*entries: tuple[str, str]) -> str:
    return "".join(f"{name} \\\n    --hash=sha256:{digest}\n" for name, digest in entries)


def test_another_version_is_told_as_old_and_new() -> None:
    before = locked(("kept==1.0", ZERO), ("moved==1.0", ZERO), ("left==2.0", ZERO))
    after = locked(("added==3.0", ZERO), ("kept==1.0", ZERO), ("moved==1.1", ONE))
    assert list(lock_files.changes(before, after)) == [
        "added (new) → 3.0",
        "left 2.0 → (gone)",
        "moved 1.0 → 1.1",
    ]


def test_other_files_of_the_same_version_are_told() -> None:
    """A version whose files changed is what somebody should look at."""
    changed = lock_files.changes(locked(("same==1.0", ZERO)), locked(("same==1.0", ONE)))
    assert list(changed) == ["same 1.0: other files"]


def test_versions_for_several_pythons_are_told_together() -> None:
    before = locked(
        ('a[b]==1.0 ; python_version < "3.12"', ZERO), ('a[b]==2.0 ; python_version >= "3.12"', ONE)
    )
    assert list(lock_files.changes(before, locked(("a==2.0", ONE)))) == ["a 1.0 2.0 → 2.0"]


def test_every_file_has_a_source() -> None:
    assert set(lock_files.names(lock_files.FOLDER)) == {path.stem for path in lock_files.FOLDER.glob("*.txt")}


@pytest.mark.parametrize(
    "name", [name for name, source in lock_files.SOURCES.items() if "pyproject.toml" in source]
)
def test_a_file_has_every_dependency_that_the_project_has_now(name: str) -> None:
    """Else it is of a project of former days: make requirements KEEP=1."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]}
    assert (
        needed <= lock_files.entries((lock_files.FOLDER / f"{name}.txt").read_text(encoding="utf-8")).keys()
    )


def test_an_unknown_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert lock_files.main(["unheard-of"]) == 1
    assert "there is no requirements/unheard-of.txt; there are: dev" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(300)
class TestRefreshing:
    """What uv makes of a small file; needs a package index."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        programs_of("uv")
        folder = tmp_path / "requirements"
        folder.mkdir()
        (folder / "small.in").write_text("idna==3.4\nsix==1.16.0\n")
        assert lock_files.main(["small"], folder) == 0
        return folder

    def test_a_package_that_was_named_moves_and_the_others_stay(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "small.in").write_text("idna\nsix\n")
        capsys.readouterr()
        assert lock_files.main(["small", "--package", "six"], folder) == 0
        said = capsys.readouterr().out.splitlines()
        assert said[0] == "requirements/small.txt: 1 changed"
        assert said[1].startswith("  six 1.16.0 → 1.17")

    def test_what_cannot_be_made_leaves_the_old_file(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = (folder / "small.txt").read_text()
        (folder / "small.in").write_text("six==1.16.0\nsix==1.17.0\n")
        capsys.readouterr()
        assert lock_files.main(["small"], folder) == 1
        assert capsys.readouterr().out.startswith("Error: requirements/small.txt cannot be made: ")
        assert (folder / "small.txt").read_text() == before
        assert sorted(path.name for path in folder.iterdir()) == ["small.in", "small.txt"]


def installed(tmp_path: Path, wheel_version: str, locked_version: str) -> subprocess.CompletedProcess[str]:
    """Install a locked file whose hash is wrong on purpose, from a folder with one small wheel."""
    made = tmp_path / "made"
    made.mkdir()
    (made / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "moved"\nversion = "{wheel_version}"\n'
        "[tool.hatch.build.targets.wheel]\nbypass-selection = true\n"
    )
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
    subprocess.run(build, cwd=made, check=True, capture_output=True)
    file = tmp_path / "requirements" / "small.txt"
    file.parent.mkdir()
    file.write_text(locked((f"moved=={locked_version}", ZERO)))
    command = [sys.executable, str(ROOT / "tests" / "locked_install.py"), str(file)]
    environment = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_wrong_hash_is_one_line_with_the_package_and_what_to_do(tmp_path: Path) -> None:
    ended = installed(tmp_path, "1.0", "1.0")
    assert ended.returncode == 1
    (line,) = (ended.stdout + ended.stderr).splitlines()
    assert line.startswith(
        "Error: requirements/small.txt: the index has another file of moved 1.0 than the locked one (its sha256 is "
    )
    assert "`make requirements ONLY=small PACKAGES=moved`" in line


def test_a_version_that_is_gone_is_one_line_too(tmp_path: Path) -> None:
    ended = installed(tmp_path, "1.1", "1.0")
    (line,) = (ended.stdout + ended.stderr).splitlines()
    assert line.startswith(
        "Error: requirements/small.txt: the index has no moved 1.0 for this Python and machine."
    )


def test_of_another_failure_pips_own_words_are_kept() -> None:
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    assert reason("requirements/dev.txt", said) == said.rstrip()
