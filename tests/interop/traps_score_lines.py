"""Traps in lines of ids and scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interop.foreign_kit import run_of
from tests.interop.trap_kit import (
    cut,
    imported,
    notes,
    put_lines,
    trap,
)

from benchwright.interop.foreign_results import UnreadableResults


@trap("scores", "missing")
def _(folder: Path) -> None:
    path = put_lines(folder / "a.jsonl", [{"id": 1, "score": 1}, {"id": 2}])
    with pytest.raises(UnreadableResults, match="line 2: it has neither a score nor an error"):
        run_of(path)


@trap("scores", "doubles")
def _(folder: Path) -> None:
    """A repeat that is named twice counts once where the lines are the same, and is refused where they differ."""
    line = {"id": 1, "repeat": 0, "score": 1}
    path = put_lines(folder / "a.jsonl", [line, line])
    assert "1 trial stood twice, word for word" in notes(path)
    put_lines(path, [line, {**line, "score": 0}])
    with pytest.raises(UnreadableResults, match="appears twice, and the two differ"):
        imported(path)


@trap("scores", "damaged")
def _(folder: Path) -> None:
    path = cut(put_lines(folder / "a.jsonl", [{"id": 1, "score": 1}, {"id": 2, "score": 1}]), 5)
    with pytest.raises(UnreadableResults, match="line 2: this is no JSON"):
        run_of(path)
