"""Folders of results, compared task by task and all tasks together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.app.compare_kit import made, write_run
from tests.interop.foreign_kit import WRITERS
from tests.interop.inspect_kit import sample, write_log

from benchwright.analysis.comparison.all_tasks_comparison import mean_paired_difference
from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.pairing import SideMeans
from benchwright.analysis.comparison.records import Comparison
from benchwright.errors import UserError
from benchwright.records import Target, TaskSpec
from benchwright.reports.comparison.junit import render_junit
from benchwright.reports.comparison.markdown import render_markdown
from benchwright.runs.manifest import DataFile
from benchwright.stats.multiple_testing import holm_adjusted_p_values
from benchwright.stats.strata import mean_of_strata

RIGHT = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
WRONG = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))


def comparison_of(*paths: Path, **wanted: Any) -> Comparison:
    return compare([str(path) for path in paths], ComparisonOptions(**wanted)).comparison


def put_run(folder: Path, task: str, scores: Sequence[float], model: str) -> Path:
    """Writes a run of an eval whose dataset is called like the task."""
    return write_run(
        folder / f"{task}-{model}",
        made(scores),
        targets=[Target("primary", model, "http://127.0.0.1:9/v1")],
        task=TaskSpec(task, "1", "solver 1"),
        data=[DataFile(f"{task}.jsonl", "0" * 32, len(scores))],
    )


def runs(folder: Path, tasks: Mapping[str, Sequence[float]], model: str) -> Path:
    for task, scores in tasks.items():
        put_run(folder, task, scores, model)
    return folder


def test_tasks_of_two_folders_are_paired_by_name_and_compared_each(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG, "words": RIGHT, "only-here": RIGHT}, "old")
    b = runs(tmp_path / "b", {"words": WRONG, "sums": RIGHT, "extra": RIGHT}, "new")
    found = comparison_of(a, b)
    assert {pair.task: pair.scores[0].difference for pair in found.pairs} == {"sums": 0.5, "words": -0.5}
    assert "only in old: only-here" in found.notes
    assert "only in new: extra" in found.notes


def test_the_correction_is_holms_over_all_tasks_and_the_mean_over_them(tmp_path: Path) -> None:
    tasks = ["one", "two", "three"]
    a = runs(tmp_path / "a", dict.fromkeys(tasks, WRONG), "old")
    b = runs(tmp_path / "b", dict.fromkeys(tasks, RIGHT), "new")
    found = comparison_of(a, b)
    (together,) = found.together
    scores = [pair.scores[0] for pair in found.pairs]
    alone = [*(score.p_value for score in scores), together.p_value]
    adjusted = [*(score.p_adjusted for score in scores), together.p_adjusted]
    assert found.tests == len(alone) == 4
    assert adjusted == pytest.approx(
        holm_adjusted_p_values([p_value for p_value in alone if p_value is not None]).tolist()
    )


def test_all_together_each_task_weighs_the_same(tmp_path: Path) -> None:
    """A task of 80 samples does not drown one of 8: +0.5 on the small one and nothing on the large one are +0.25."""
    a = runs(tmp_path / "a", {"small": WRONG, "large": RIGHT * 10}, "old")
    b = runs(tmp_path / "b", {"small": RIGHT, "large": RIGHT * 10}, "new")
    (together,) = comparison_of(a, b).together
    assert together.difference == pytest.approx(0.25)
    assert together.n == 88
    assert together.low is not None
    assert together.low < 0.25 < (together.high or 0)


def test_what_has_no_mean_with_the_others_is_left_out_and_told(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"one": WRONG, "two": WRONG, "metres": [1.0, 200.0]}, "old")
    b = runs(tmp_path / "b", {"one": RIGHT, "two": RIGHT, "metres": [2.0, 100.0]}, "new")
    (together,) = comparison_of(a, b).together
    assert together.tasks == ["one", "two"]
    assert together.left_out == ["metres: exact does not lie between 0 and 1"]


def test_several_models_are_paired_by_model_and_each_has_its_mean(tmp_path: Path) -> None:
    for folder, scores in (("before", WRONG), ("after", RIGHT)):
        for model in ("small", "large"):
            runs(tmp_path / folder, {"sums": scores, "words": scores}, model)
    found = comparison_of(tmp_path / "before", tmp_path / "after")
    assert {pair.task for pair in found.pairs} == {
        "sums, small",
        "sums, large",
        "words, small",
        "words, large",
    }
    assert [one.model for one in found.together] == ["large", "small"]
    assert {run.name for run in found.runs} == {"before", "after"}


def test_of_several_results_of_one_task_the_last_one_counts(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG, "words": WRONG}, "old")
    b = runs(tmp_path / "b", {"sums": WRONG, "words": WRONG}, "new")
    target = [Target("primary", "new", "")]
    write_run(b / "z-later", made(RIGHT), targets=target, data=[DataFile("sums.jsonl", "0" * 32, 8)])
    found = comparison_of(a, b)
    assert {pair.task: pair.scores[0].difference for pair in found.pairs} == {"sums": 0.5, "words": 0.0}
    assert "new holds several results of sums by new: the last one counts" in found.notes


def test_folders_of_result_files_are_compared_without_their_runs(tmp_path: Path) -> None:
    for folder, model, correct in (("a", "old", False), ("b", "new", True)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text("{}")
        for benchmark in ("mmlu", "gsm8k"):
            samples = [{"id": str(n), "correct": correct or n % 2 == 0} for n in range(20)]
            content = {"benchmark": benchmark, "model": model, "sample_results": samples}
            (tmp_path / folder / f"{benchmark}_{model}_1.json").write_text(json.dumps(content))
    found = comparison_of(tmp_path / "a", tmp_path / "b")
    assert {pair.task: pair.scores[0].difference for pair in found.pairs} == {"mmlu": 0.5, "gsm8k": 0.5}


def harness(folder: Path, model: str, tasks: Mapping[str, Sequence[float]]) -> Path:
    """Writes results of lm-evaluation-harness with several tasks into one folder."""
    out = folder / f"{model}-results"
    out.mkdir(parents=True)
    whole: dict[str, Any] = {}
    for task, scores in tasks.items():
        made_of = WRITERS["lm-eval"](out, model, scores)
        (results,) = made_of.glob("results_*")
        content = json.loads(results.read_text().replace('"sums"', f'"{task}"'))
        whole = {
            name: {**whole.get(name, {}), **value} if isinstance(value, dict) else value
            for name, value in content.items()
        }
        (samples,) = made_of.glob("samples_sums_*")
        samples.rename(out / samples.name.replace("samples_sums", f"samples_{task}"))
        results.unlink()
        made_of.rmdir()
    (out / "results_2026-11-22T10-00-00.000000.json").write_text(json.dumps(whole))
    return out


def test_folders_of_another_program_are_paired_by_its_tasks(tmp_path: Path) -> None:
    a = harness(tmp_path, "old", {"sums": WRONG, "words": RIGHT})
    b = harness(tmp_path, "new", {"sums": RIGHT, "words": RIGHT})
    found = comparison_of(a, b)
    assert {pair.task: pair.scores[0].difference for pair in found.pairs} == {"sums": 0.5, "words": 0.0}
    assert len(found.together) == 1


def test_what_cannot_be_read_of_a_folder_is_told_with_the_comparison(tmp_path: Path) -> None:
    a = harness(tmp_path, "old", {"sums": WRONG, "words": RIGHT, "lost": RIGHT})
    b = harness(tmp_path, "new", {"sums": RIGHT, "words": RIGHT, "lost": RIGHT})
    next(b.glob("samples_lost_*")).unlink()
    notes = "\n".join(comparison_of(a, b).notes)
    assert "new: not read: " in notes
    assert "the samples of lost are missing" in notes
    assert "only in old: lost" in notes


def test_names_of_two_programs_that_differ_before_the_slash_are_one_task(tmp_path: Path) -> None:
    a = harness(tmp_path, "old", {"sums": WRONG, "words": RIGHT})
    logs = tmp_path / "logs"
    logs.mkdir()
    for task, scores in (("inspect_evals/sums", RIGHT), ("inspect_evals/words", RIGHT)):
        samples = [sample(n, "C" if score else "I", input=f"Question {n}?") for n, score in enumerate(scores)]
        write_log(logs / f"{task.rpartition('/')[2]}.eval", samples, task=task, model="openai/new")
    found = comparison_of(a, logs)
    assert {pair.task: pair.scores[0].difference for pair in found.pairs} == {"sums": 0.5, "words": 0.0}
    assert {pair.scores[0].title for pair in found.pairs} == {"exact_match,none / match"}


def test_a_run_may_stand_against_a_folder(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG, "words": WRONG}, "old")
    b = runs(tmp_path / "b", {"sums": RIGHT}, "new")
    found = comparison_of(a, b / "sums-new")
    assert [pair.task for pair in found.pairs] == ["sums"]


def test_one_task_on_either_side_is_compared_as_runs_are(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG}, "old")
    b = runs(tmp_path / "b", {"sums": RIGHT}, "new")
    (pair,) = comparison_of(a, b).pairs
    assert (pair.a, pair.b, pair.task) == ("A", "B", "eval sums")


def test_folders_without_a_common_task_say_what_each_holds(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG, "more": WRONG}, "old")
    b = runs(tmp_path / "b", {"words": RIGHT, "less": WRONG}, "new")
    with pytest.raises(
        UserError, match="no task in common: only in old: more, sums; only in new: less, words"
    ):
        comparison_of(a, b)


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no runs, and no results that can be read"):
        comparison_of(tmp_path / "empty", tmp_path / "empty")


def test_rules_name_the_task(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": RIGHT * 8, "words": RIGHT * 8}, "old")
    b = runs(tmp_path / "b", {"sums": WRONG * 8, "words": RIGHT * 8}, "new")
    found = comparison_of(a, b, max_regression=0.1, fail_if=("exact < 0.5",))
    assert {ruling.rule: ruling.passed for ruling in found.rulings} == {
        "sums, new: fail if exact < 0.5": False,
        "words, new: fail if exact < 0.5": True,
        "sums: C against A, exact: no regression above 0.1 at confidence 0.95": False,
        "words: D against B, exact: no regression above 0.1 at confidence 0.95": True,
    }


def test_every_format_has_each_task_and_all_together(tmp_path: Path) -> None:
    a = runs(tmp_path / "a", {"sums": WRONG * 4, "words": RIGHT}, "old")
    b = runs(tmp_path / "b", {"sums": RIGHT * 4, "words": RIGHT}, "new")
    found = comparison_of(a, b)
    for written in (render_markdown(found), render_junit(found).decode()):
        assert "sums" in written
        assert "together" in written
    assert render_junit(found).decode().count("<testcase") == 3


def test_the_interval_of_the_mean_over_tasks_covers_it() -> None:
    """Of 400 simulated pairs of folders (4 tasks of 40 samples, 0/1) 95 % of intervals hold the difference of 0.1."""
    random = np.random.default_rng(20_261)
    covered = 0
    for _ in range(400):
        strata = []
        for base in (0.2, 0.4, 0.6, 0.8):
            a = (random.random(40) < base).astype(float)
            change = random.random(40)
            b = np.where(change < 0.1 / (1 - base) * (1 - a), 1.0, a)
            strata.append(mean_paired_difference(SideMeans(a, b, None, None, a, b)))
        interval = mean_of_strata(strata).interval
        assert interval is not None
        covered += interval.low <= 0.1 <= interval.high
    assert 0.93 <= covered / 400 <= 0.99
