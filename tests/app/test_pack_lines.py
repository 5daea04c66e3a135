"""The lines that a pack's run prints where there is no terminal, one for each cell that was solved."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchwright.cli.pack_progress import PackProgress
from benchwright.engine.progress import LiveProgress
from benchwright.engine.worker import SolvedWork
from benchwright.records import Status, TrialRecord


@pytest.mark.parametrize(
    ("again", "said"),
    [
        (0, "Resuming: 2 of 4 cells are done."),
        (1, "Resuming: 2 of 4 cells are done, 1 of them is asked again."),
    ],
)
def test_a_start_counts_what_the_stop_before_counted(
    again: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    watch: Any = SimpleNamespace(setup=None)
    PackProgress(LiveProgress(), watch).on_start(4, 2, again)
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize(("done", "counts"), [(0, ["[1/4]", "[2/4]"]), (2, ["[3/4]", "[4/4]"])])
def test_cells_that_are_solved_before_any_is_scored_are_counted_one_by_one(
    done: int, counts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    watch: Any = SimpleNamespace(setup=SimpleNamespace(models={"m": SimpleNamespace(label="m")}), cells={})
    progress = LiveProgress()
    progress.on_start(4, done, 0)
    lines = PackProgress(progress, watch)
    lines.on_start(4, done, 0)
    capsys.readouterr()
    for cell in ("A-01", "A-02"):
        lines.on_result(SolvedWork(TrialRecord(cell, cell, "m", Status.SCORED), b""))
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == counts
