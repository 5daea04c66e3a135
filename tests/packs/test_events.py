"""The documented events, in the documented order, whatever the order in which cells end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.events import PackEvents, ProgressEvent
from benchwright.packs.types import BenchmarkScore, RegisteredModel, ScenarioMeta

MODELS = {
    slot: RegisteredModel(f"p:{slot}", "p", slot, slot.upper(), True, "primary")
    for slot in ("primary", "model-2")
}
SCENARIOS = [ScenarioMeta("A", "First"), ScenarioMeta("B", "Second")]


def told(repeats: int = 1, *, grouped: bool = True) -> tuple[PackEvents, list[ProgressEvent]]:
    heard: list[ProgressEvent] = []
    return PackEvents("run-1", MODELS, SCENARIOS, repeats, heard.append, grouped=grouped), heard


def result(scenario: str, status: str = "pass") -> dict[str, Any]:
    return {"scenarioId": scenario, "status": status, "summary": "", "rawLog": ""}


def outline(heard: list[ProgressEvent]) -> list[str]:
    names = {"primary": "1", "model-2": "2"}
    return [
        " ".join([event["type"], *(event[key] for key in ("scenarioId",) if key in event),
                  *(names[event["modelId"][2:]] for key in ("modelId",) if key in event)])
        for event in heard
    ]  # fmt: skip


def test_the_shapes_are_the_documented_ones() -> None:
    events, heard = told()
    events.run_started()
    events.verifier_preparing(benchPackId="x", verifierId="v", phase="building_image", message="Building.")
    events.cell_started("primary", "B", 0)
    events.cell_progress("primary", "B", "Asking.")
    events.cell_finished("primary", "B", 0, result("B"))
    events.cell_finished("model-2", "B", 0, result("B"))
    events.run_finished({"primary": BenchmarkScore(1.0, raw={"totalScore": 1, "own": "kept"})})
    events.run_error("stopped")
    models = [{"id": "p:primary", "label": "PRIMARY"}, {"id": "p:model-2", "label": "MODEL-2"}]
    assert heard == [
        {"type": "run_started", "runId": "run-1", "models": models, "totalScenarios": 2},
        {"type": "verifier_preparing", "benchPackId": "x", "verifierId": "v", "phase": "building_image",
         "message": "Building."},
        {"type": "scenario_started", "scenarioId": "B", "title": "Second", "index": 2, "total": 2},
        {"type": "model_progress", "modelId": "p:primary", "scenarioId": "B", "message": "Asking."},
        {"type": "scenario_result", "modelId": "p:primary", "scenarioId": "B", "result": result("B")},
        {"type": "scenario_result", "modelId": "p:model-2", "scenarioId": "B", "result": result("B")},
        {"type": "scenario_finished", "scenarioId": "B"},
        {"type": "run_finished", "scores": {"p:primary": {"totalScore": 1, "own": "kept"}}},
        {"type": "run_error", "message": "stopped"},
    ]  # fmt: skip


def test_grouped_results_wait_for_the_last_model_and_keep_the_models_order() -> None:
    events, heard = told()
    events.cell_finished("model-2", "A", 0, result("A"))
    assert outline(heard) == ["scenario_started A"]
    events.cell_finished("primary", "A", 0, result("A"))
    assert outline(heard)[1:] == ["scenario_result A 1", "scenario_result A 2", "scenario_finished A"]


def test_ungrouped_results_are_told_as_they_come() -> None:
    events, heard = told(grouped=False)
    events.cell_finished("model-2", "A", 0, result("A"))
    events.cell_finished("primary", "B", 0, result("B"))
    events.cell_finished("primary", "A", 0, result("A"))
    assert outline(heard) == [
        "scenario_started A", "scenario_result A 2", "scenario_started B", "scenario_result B 1",
        "scenario_result A 1", "scenario_finished A",
    ]  # fmt: skip


def test_of_several_attempts_each_beginning_is_told_and_one_result() -> None:
    events, heard = told(3, grouped=False)
    for repeat, status in enumerate(("pass", "fail", "pass")):
        events.cell_started("primary", "A", repeat)
        events.cell_finished("primary", "A", repeat, result("A", status))
    assert [event["message"] for event in heard if event["type"] == "model_progress"] == [
        f"Running attempt {number}/3." for number in (1, 2, 3)
    ]
    (last,) = [event for event in heard if event["type"] == "scenario_result"]
    assert last["result"]["status"] == "pass"


def test_what_an_earlier_session_did_is_not_told_again_but_counts() -> None:
    events, heard = told()
    events.add_earlier_attempt("primary", "A", 0, result("A"))
    former = {"scenarioId": "A", "modelId": "p:primary", "result": result("A")}
    events.read_earlier_events([{"type": "scenario_result", **former}])
    events.run_started()
    events.cell_finished("model-2", "A", 0, result("A"))
    assert outline(heard)[1:] == ["scenario_started A", "scenario_result A 2", "scenario_finished A"]


@pytest.mark.parametrize("grouped", [True, False])
def test_what_a_kill_kept_from_being_told_is_told_when_the_run_goes_on(grouped: bool) -> None:
    events, heard = told(grouped=grouped)
    for slot in MODELS:
        events.add_earlier_attempt(slot, "A", 0, result("A"))
    former = {"scenarioId": "A", "modelId": "p:primary", "result": result("A")}
    events.read_earlier_events([{"type": "scenario_result", **former}, {"type": "run_started"}])
    events.run_started()
    assert outline(heard) == [
        "run_started", "scenario_started A", "scenario_result A 2", "scenario_finished A",
    ]  # fmt: skip


def test_all_that_was_told_before_is_not_told_again() -> None:
    events, before = told()
    for slot in MODELS:
        events.cell_finished(slot, "A", 0, result("A"))
    events, heard = told()
    for slot in MODELS:
        events.add_earlier_attempt(slot, "A", 0, result("A"))
    events.read_earlier_events(before)
    events.run_started()
    assert outline(heard) == ["run_started"]


@given(
    st.permutations([(slot, name, repeat) for slot in MODELS for name in "AB" for repeat in range(2)]),
    st.booleans(),
)
def test_in_whatever_order_cells_end_all_is_told_once_and_in_order(
    order: list[tuple[str, str, int]], grouped: bool
) -> None:
    events, heard = told(2, grouped=grouped)
    for slot, name, repeat in order:
        events.cell_finished(slot, name, repeat, result(name))
    lines = outline(heard)
    assert len(lines) == len(set(lines)) == 8
    for name in "AB":
        places = [
            lines.index(f"{kind} {name}{model}")
            for kind, model in (
                ("scenario_started", ""),
                ("scenario_result", " 1"),
                ("scenario_result", " 2"),
            )
        ]
        assert places[0] < min(places[1:]) <= max(places[1:]) < lines.index(f"scenario_finished {name}")
        if grouped:
            assert places[1] < places[2]
