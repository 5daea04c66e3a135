"""A library that is missing or broken is one line with its name, its version and the command that helps."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from benchwright.data.errors import DatasetParseError
from benchwright.errors import UserError
from benchwright.optional_libraries import importing


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on `sys.path` in which the distribution `some-library`, version 7.1, is installed."""
    metadata = tmp_path / "some_library-7.1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: some-library\nVersion: 7.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def load(name: str = "some_library") -> ModuleType:
    """Import the library as a feature does that needs it."""
    with importing("some-library", "Reading tea leaves needs", "tea"):
        return import_module(name)


def test_a_missing_library_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(UserError) as refused:
        load("no_such_library")
    assert str(refused.value) == "Reading tea leaves needs some-library: pip install 'benchwright[tea]'"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import a_dependency_that_is_gone", "No module named 'a_dependency_that_is_gone'"),
        ("from sys import no_such_name", "cannot import name 'no_such_name'"),
        ("raise AttributeError('another version of a dependency')", "another version of a dependency"),
    ],
)
def test_a_broken_library_is_named_with_its_version_and_its_error(
    code: str, reason: str, installed: Path
) -> None:
    (installed / "some_library.py").write_text(code)
    with pytest.raises(UserError) as refused:
        load()
    sys.modules.pop("some_library", None)
    line = str(refused.value)
    assert "some-library, but version 7.1, which is installed, cannot be imported" in line
    assert reason in line
    assert line.endswith("pip install --upgrade 'benchwright[tea]'")
    assert "\n" not in line


def test_a_library_that_works_is_imported(installed: Path) -> None:
    (installed / "some_library.py").write_text("LEAVES = 3\n")
    assert load().LEAVES == 3
    del sys.modules["some_library"]


def test_a_feature_chooses_the_type_of_its_error() -> None:
    with pytest.raises(DatasetParseError), importing("x", "Reading needs", "x", DatasetParseError):
        import_module("no_such_library")
