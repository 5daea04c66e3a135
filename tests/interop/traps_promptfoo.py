"""Traps in results of promptfoo."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.interop.foreign_kit import WRITERS, run_of
from tests.interop.trap_kit import (
    cells,
    changed,
    cut,
    imported,
    notes,
    trap,
)

from benchwright.interop.foreign_results import UnreadableResults
from benchwright.records import Status


@trap("promptfoo", "prefix")
def _(folder: Path) -> None:
    """Variables and names of models that begin alike, far beyond what is shown of them, stay apart."""
    path = WRITERS["promptfoo"](folder, "m", [1.0, 0.0])
    same = "x" * 100

    def alike(cells: list[dict[str, Any]]) -> None:
        for place, cell in enumerate(cells):
            cell |= {
                "vars": {"q": f"{same}{place}"},
                "promptIdx": place,
                "provider": {"id": f"{same}{place}"},
            }

    run, trials = run_of(cells(path, alike))
    assert len({target.slot for target in run.targets}) == len({trial.sample for trial in trials}) == 2


@trap("promptfoo", "version")
def _(folder: Path) -> None:
    """Without numbers of tests and columns, each provider and prompt is a column; without marks, a reason tells."""
    path = WRITERS["promptfoo"](folder, "m", [1.0, 0.0])

    def old(cells: list[dict[str, Any]]) -> None:
        cells += [{**cell, "provider": {"id": "other"}, "score": 1.0, "success": True} for cell in cells]
        for cell in cells:
            del cell["testIdx"], cell["promptIdx"], cell["failureReason"]
        cells[0]["error"] = "API error: 500"
        cells[0]["gradingResult"] = None

    run, trials = run_of(cells(path, old))
    assert (len(run.targets), run.repeats) == (2, 1)
    assert Counter(trial.slot for trial in trials) == {"m": 2, "other": 2}
    assert [trial.status for trial in trials].count(Status.PROVIDER_ERROR) == 1


@trap("promptfoo", "missing")
def _(folder: Path) -> None:
    """Cells that the counts know and that are not there."""
    path = WRITERS["promptfoo"](folder, "m", [1.0, 0.0])
    changed(path, lambda whole: whole["results"].update(stats={"successes": 3, "failures": 1, "errors": 1}))
    assert "It tells of 5 trials; 2 are in its files." in notes(path)


@trap("promptfoo", "doubles")
def _(folder: Path) -> None:
    """The same cell twice counts once, and is no repeat; two that differ are refused."""
    path = WRITERS["promptfoo"](folder, "m", [1.0, 0.0])
    run, trials = run_of(cells(path, lambda cells: cells.append(cells[0])))
    assert (run.repeats, len(trials)) == (1, 2)
    assert "1 results stood twice, word for word" in notes(path)
    cells(path, lambda cells: cells[-1].update(score=0.5))
    with pytest.raises(UnreadableResults, match="the test 0 stands there twice for m"):
        run_of(path)


@trap("promptfoo", "damaged")
def _(folder: Path) -> None:
    path = cut(WRITERS["promptfoo"](folder, "m", [1.0]))
    with pytest.raises(UnreadableResults, match=r"m\.json: this is no JSON"):
        imported(path)
