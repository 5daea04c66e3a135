"""The project's own files: what must be in none of them."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from tests.other_versions import PYTHONS

ROOT = Path(__file__).parents[2]

INDEX_HOSTS = re.compile(
    rb"\bpypi" rb"\.org|python" rb"hosted\.org|index" rb"-url *[= ] *http|find" rb"-links *[= ] *[/h]"
)
"""Hosts of package indexes and the options that name one, written so that this file is not found itself."""

PINNED = re.compile(r"^[a-z0-9._-]+(\[[a-z,-]+\])?==[^ ]+( ; .+)? \\$")


def files() -> list[Path]:
    """Every file that is, or would be, committed."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git checkout")
    paths = (ROOT / name.decode() for name in listed.stdout.split(b"\0") if name)
    return [path for path in paths if path.is_file()]


def test_no_file_names_the_host_of_a_package_index() -> None:
    found = files()
    assert ROOT / "pyproject.toml" in found
    naming = [path.relative_to(ROOT).as_posix() for path in found if INDEX_HOSTS.search(path.read_bytes())]
    assert naming == []


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_requirements_are_versions_with_hashes_and_nothing_else(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    for line in lines:
        hashed = re.match(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$", line)
        assert hashed or PINNED.match(line), line


def test_no_module_is_longer_than_a_room_should_be() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "src").rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_no_two_files_of_tests_have_one_name() -> None:
    """Without packages, pytest takes the second one for the first."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name, count in names.items() if count > 1} == set()


def test_the_pythons_of_the_classifiers_are_those_that_the_tests_try() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: "
    named = {one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(prefix)}
    oldest = project["requires-python"].removeprefix(">=")
    assert named == {oldest, *PYTHONS}
    assert f"with Python {oldest} to {PYTHONS[0]} on Linux" in (ROOT / "README.md").read_text()
