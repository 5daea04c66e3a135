"""The live matrix of a pack: it fits its terminal, and shows the part where the work is."""

from __future__ import annotations

import pytest
from tests.rendered import as_text

from benchwright.packs.results import CellState
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.reports.pack_live import render_live

LONG = "a title that is longer than any column of the matrix can ever be"
SCENARIOS = [ScenarioMeta(f"S-{number:02}", LONG) for number in range(1, 61)]
Cells = dict[tuple[str, str], CellState]


def models(count: int) -> dict[str, RegisteredModel]:
    return {
        f"slot-{n}": RegisteredModel(f"p:m{n}", "p", f"m{n}", f"Model {n} {'x' * 20}", True, "primary")
        for n in range(count)
    }


def cells(done: int, running: int, slots: list[str]) -> Cells:
    """So many scenarios are done for all models, and so many more are at work."""
    found: Cells = {}
    for at, scenario in enumerate(SCENARIOS[: done + running]):
        for slot in slots:
            state = found[slot, scenario.id] = CellState()
            if at < done:
                state.attempts, state.seconds = ["pass"], 1.5
            else:
                state.running_since = 0.0
    return found


def shown(count: int, done: int, running: int, columns: int = 80, lines: int = 22) -> list[str]:
    them = models(count)
    matrix = render_live(them, SCENARIOS, cells(done, running, list(them)), columns, lines)
    return as_text(matrix, columns).rstrip("\n").splitlines()


@pytest.mark.parametrize("count", [1, 3, 12, 60])
@pytest.mark.parametrize("done", [0, 1, 29, 58, 60])
@pytest.mark.parametrize(("columns", "lines"), [(80, 22), (120, 60), (60, 8)])
def test_it_fits_the_terminal_wherever_the_run_is(count: int, done: int, columns: int, lines: int) -> None:
    found = shown(count, done, min(2, 60 - done), columns, lines)
    assert len(found) <= lines
    assert max(map(len, found)) <= columns


@pytest.mark.parametrize("done", [0, 7, 29, 58])
def test_the_cells_at_work_are_shown_among_three_models(done: int) -> None:
    found = shown(3, done, 2)
    at_work = [line for line in found if "●" in line]
    assert [line[:4] for line in at_work] == [SCENARIOS[done].id, SCENARIOS[done + 1].id]
    assert all(line.count("●") == 3 for line in at_work)


@pytest.mark.parametrize("done", [0, 7, 29, 58])
def test_the_cells_at_work_are_shown_among_many_models(done: int) -> None:
    head, *rows = shown(12, done, 2)
    assert SCENARIOS[done].id in head
    assert sum(row.count("●") for row in rows) == 24


def test_what_is_not_shown_is_counted() -> None:
    assert shown(3, 0, 1)[-1] == "… 40 scenarios below"
    assert shown(3, 30, 1)[-1] == "… 20 scenarios above, 20 scenarios below"
    assert shown(3, 60, 0)[-1] == "… 40 scenarios above"
    assert shown(60, 0, 1, 80, 22)[-2] == "… 41 more models"


def test_it_says_of_each_cell_how_it_ended_and_how_long_it_took() -> None:
    assert shown(3, 1, 1)[1].count("✓ 1.5s") == 3
