"""What each event of a pack's run does to the matrix that the replay shows."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.web.pages.replay import CellChange, steps_of


def test_cells_at_work_when_a_run_was_interrupted_are_idle_when_it_goes_on() -> None:
    events: list[dict[str, Any]] = [
        {"type": "run_started", "models": [], "totalScenarios": 1},
        {"type": "model_progress", "modelId": "x", "scenarioId": "A", "message": "Asking."},
        {"type": "run_started", "models": [], "totalScenarios": 1},
    ]
    last = steps_of(events, {"x": "X"}, ["A"])[-1]
    assert last.changes == [CellChange(0, 0, "idle", "")]


@pytest.mark.parametrize("result", [{"status": "fail", "errorType": "provider_error"}, {"status": 7}, None])
def test_a_cell_without_a_result_is_an_error(result: object) -> None:
    events: list[dict[str, Any]] = [
        {"type": "scenario_result", "modelId": "x", "scenarioId": "A", "result": result}
    ]
    assert steps_of(events, {"x": "X"}, ["A"])[0].changes == [CellChange(0, 0, "error", "error")]
