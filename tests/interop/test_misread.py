"""Results that were read as something else: what each of them is read as now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.foreign_kit import WRITERS, run_of
from tests.interop.inspect_kit import header, sample
from tests.interop.trajectories_kit import mini, swe_agent
from tests.interop.trap_kit import (
    cells,
    changed,
    evalscope_part,
    harbor_trial,
    imported,
    lm_results,
    lm_samples,
    notes,
    objects,
    put_lines,
    values,
)

from benchwright.interop import journal_lines
from benchwright.interop.foreign_results import ForeignTrial, UnreadableResults
from benchwright.records import Status


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("write", [mini, swe_agent])
def test_a_patch_without_a_trajectory_is_told(write: Callable[..., Path], tmp_path: Path) -> None:
    folder = write(tmp_path / "out", "a__b-1", "diff")
    changed(folder / "preds.json", lambda known: known.update({"a__b-2": {"model_patch": "diff"}}))
    assert "preds.json names 1 instances that have no trajectory, such as a__b-2." in notes(folder)


def test_a_grader_of_promptfoo_that_failed_is_no_answer_of_the_model(tmp_path: Path) -> None:
    """Newer versions mark it, older ones say so in its reason."""
    path = WRITERS["promptfoo"](tmp_path, "m", [0.0, 0.0, 0.0])
    rubric = {"type": "llm-rubric", "metric": "tone"}
    failed = {"pass": False, "score": 0, "reason": "Request timed out", "metadata": {"graderError": True}}
    silent = {"pass": False, "score": 0, "reason": "Could not extract JSON from llm-rubric response"}
    honest = {"pass": False, "score": 0, "reason": "It is rude."}

    def judged(cells: list[dict[str, Any]]) -> None:
        for cell, part in zip(cells, (failed, silent, honest), strict=True):
            cell["gradingResult"] |= {"componentResults": [{**part, "assertion": rubric}]}
            cell["namedScores"] = {"tone": 0}

    trials = run_of(cells(path, judged))[1]
    for score in ("pass", "score", "tone"):
        assert values(trials, score) == [None, None, 0.0]
        assert trials[0].scores[score].status is Status.GRADER_ERROR
    assert "The grader of an assertion failed" in notes(path)
    assert "2 trials, such as Question 0?" in notes(path)


def test_a_metric_of_promptfoo_does_not_take_the_place_of_the_cells_own_score(tmp_path: Path) -> None:
    path = WRITERS["promptfoo"](tmp_path, "m", [1.0])
    _, (trial,) = run_of(cells(path, lambda cells: cells[0].update(namedScores={"score": 0.2, "pass": 0.3})))
    assert {name: score.value for name, score in trial.scores.items()} == {
        "pass": 1.0,
        "score": 1.0,
        "namedScores.score": 0.2,
        "namedScores.pass": 0.3,
    }


@pytest.mark.parametrize(
    ("weights", "written", "value"),
    [([0, 0], 0, 0.5), ([1, 1], 1, 0.5), ([3, 1], 1, 0.75)],
    ids=["of weight 0", "a sum", "a sum of weighted ones"],
)
def test_a_metric_of_promptfoo_is_the_mean_of_its_assertions(
    weights: list[int], written: float, value: float, tmp_path: Path
) -> None:
    path = WRITERS["promptfoo"](tmp_path, "m", [1.0])
    parts = [
        {
            "pass": bool(score),
            "score": score,
            "assertion": {"type": "contains", "metric": "near", "weight": weight},
        }
        for score, weight in zip((1, 0), weights, strict=True)
    ]

    def named(cells: list[dict[str, Any]]) -> None:
        cells[0]["gradingResult"]["componentResults"] = parts
        cells[0]["namedScores"] = {"near": written}

    assert values(run_of(cells(path, named))[1], "near") == [value]
    assert "A metric is the mean of its assertions here" in notes(path)


def test_a_test_of_promptfoo_without_assertions_is_told(tmp_path: Path) -> None:
    path = WRITERS["promptfoo"](tmp_path, "m", [1.0])
    cells(path, lambda cells: cells[0]["gradingResult"].update(reason="No assertions"))
    assert "It has no assertions, which promptfoo counts as passed: 1 trial" in notes(path)


@pytest.mark.parametrize(
    ("kind", "status", "reward"),
    [
        ("AgentTimeoutError", Status.LIMIT, 0.0),
        ("ContextWindowExceededError", Status.LIMIT, 0.0),
        ("AgentSafetyRefusalError", Status.REFUSED, 0.0),
        ("ApiRateLimitError", Status.EXECUTION_ERROR, None),
        ("NonZeroAgentExitCodeError", Status.EXECUTION_ERROR, None),
        ("CancelledError", Status.CANCELLED, None),
    ],
)
def test_a_reward_of_harbor_counts_if_the_agent_itself_brought_about_the_end(
    kind: str, status: Status, reward: float | None, tmp_path: Path
) -> None:
    job = WRITERS["harbor"](tmp_path, "m", [0.0])
    raised = {"exception_type": kind, "exception_message": "gone"}
    changed(harbor_trial(job) / "result.json", lambda one: one.update(exception_info=raised))
    (trial,) = run_of(job)[1]
    assert (trial.status, values([trial], "reward")) == (status, [reward])
    changed(harbor_trial(job) / "result.json", lambda one: one.update(exception_info=None))
    steps = [{"step_name": "one", "exception_info": raised}]
    changed(harbor_trial(job) / "result.json", lambda one: one.update(step_results=steps))
    (trial,) = run_of(job)[1]
    assert (trial.status, values([trial], "reward")) == (status, [reward])


def test_a_judge_of_evalscope_that_failed_gives_no_score(tmp_path: Path) -> None:
    out = WRITERS["evalscope"](tmp_path, "m", [1.0, 1.0])
    file = evalscope_part(out, "reviews", "sums_default.jsonl")
    lines = objects(file)
    lines[1]["sample_score"]["score"] |= {"status": "parse_error", "value": {}}
    put_lines(file, lines)
    _, trial = run_of(out)[1]
    assert trial.scores["acc"].status is Status.GRADER_ERROR


@pytest.mark.parametrize("format", ["inspect", "lm-eval", "evalscope"])
def test_a_mean_that_the_program_does_not_have_is_told(format: str, tmp_path: Path) -> None:
    path = WRITERS[format](tmp_path, "m", [1.0, 0.0])
    if format == "inspect":
        score = {
            "name": "match",
            "scorer": "match",
            "metrics": {"accuracy": {"name": "accuracy", "value": 0.9}},
        }
        log = {**header(2), "results": {"scores": [score]}, "samples": [sample(1, "C"), sample(2, "I")]}
        path = tmp_path / "a.json"
        path.write_text(json.dumps(log))
    elif format == "lm-eval":
        changed(lm_results(path), lambda one: one["results"]["sums"].update({"exact_match,none": 0.9}))
    else:
        identity = {"name": "acc", "aggregation": "mean", "dimensions": {}}
        report = evalscope_part(path, "reports", "sums.json")
        changed(report, lambda one: one["metrics"][0].update(identity=identity, score=0.9))
    assert "the program itself gives a mean of 0.9000, the values in its files have one of 0.5000" in notes(
        path
    )


def test_results_named_by_their_output_path_are_found_with_their_samples(tmp_path: Path) -> None:
    """`lm_eval --output_path mine.json` writes mine_TIME.json."""
    out = WRITERS["lm-eval"](tmp_path, "m", [1.0, 0.0])
    lm_results(out).rename(out / "mine_2026-11-22T10-00-00.000000.json")
    assert values(run_of(out)[1], "exact_match,none") == [1.0, 0.0]


def test_results_of_lm_eval_before_its_samples_were_readable_say_so(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old: dict[str, Any] = {"results": {}, "versions": {}, "config": {}}
    (tmp_path / "old" / "results.json").write_text(json.dumps(old))
    with pytest.raises(UnreadableResults, match=r"before 0\.4\.3"):
        imported(tmp_path / "old")


def test_what_changes_while_it_is_read_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is being copied is of two states: its digest would belong to neither."""
    out = WRITERS["lm-eval"](tmp_path, "m", [1.0, 0.0])
    samples = lm_samples(out)
    written = objects(samples)
    real = journal_lines.trial_line

    def grows(trial: ForeignTrial, key: str) -> Any:
        put_lines(samples, [*written, {**written[0], "doc_id": 9}])
        return real(trial, key)

    monkeypatch.setattr("benchwright.interop.run_import.trial_line", grows)
    with pytest.raises(UnreadableResults, match="changed while it was read"):
        imported(out)
    assert not list((tmp_path / "home" / "runs").glob("*"))


def test_a_folder_moved_elsewhere_is_the_same_import(tmp_path: Path) -> None:
    out = WRITERS["lm-eval"](tmp_path, "m", [1.0, 0.0])
    (first,) = imported(out)
    (tmp_path / "elsewhere").mkdir()
    out.rename(tmp_path / "elsewhere" / "m")
    for path in (
        tmp_path / "elsewhere",
        tmp_path / "elsewhere" / "m",
        lm_results(tmp_path / "elsewhere" / "m"),
    ):
        (again,) = imported(path)
        assert (again.is_new, again.directory) == (False, first.directory)
