"""The check of `make check` finds circles of modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.import_circles import circles, imports_of


def test_modules_that_import_downwards_only_are_no_circle() -> None:
    assert list(circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})) == []


def test_every_circle_is_found() -> None:
    found = list(circles({"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}))
    assert sorted(sorted(set(circle)) for circle in found) == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    "backwards",
    [
        "import other",
        "def later():\n    import {name}.first",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {name}.first",
    ],
    ids=["no circle", "within a function", "for types"],
)
def test_a_circle_made_on_purpose_is_found(
    backwards: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"circular{abs(hash(backwards))}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "first.py").write_text(f"import {name}.second\n")
    (package / "second.py").write_text(backwards.format(name=name))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = list(circles(imports_of(name)))
    assert [len(circle) for circle in found] == ([] if backwards == "import other" else [3])
