"""What is easily misread in the files of each program, and real files against the figures that the programs gave."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.interop.foreign_kit import WRITERS, run_of, runs_of

from benchwright.interop.foreign_results import ForeignTrial, UnreadableResults
from benchwright.interop.result_formats import RESULT_FORMATS, format_of, import_runs
from benchwright.records import Status, Usage
from benchwright.runs.manifest import origin_of, read_manifest


def values(trials: list[ForeignTrial], score: str) -> list[float]:
    found = (trial.scores[score].value for trial in trials if score in trial.scores)
    return [value for value in found if value is not None]


def mean(trials: list[ForeignTrial], score: str) -> float:
    found = values(trials, score)
    return sum(found) / len(found)


def lines(path: Path, *objects: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_each_format_is_recognised_as_itself_alone(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path, "m", [1.0, 0.0])
    assert [one.name for one in RESULT_FORMATS if one.recognises(path)] == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_keeps_ids_scores_and_order_of_repeats(name: str, tmp_path: Path) -> None:
    run, trials = run_of(WRITERS[name](tmp_path, "m", [1.0, 0.0, 1.0]))
    assert len({trial.sample for trial in trials}) == 3
    (score, *_) = trials[0].scores
    assert sorted(values(trials, score)) == [0.0, 1.0, 1.0]
    assert run.missing_data


class TestScoreLines:
    def test_the_same_id_again_is_a_repeat(self, tmp_path: Path) -> None:
        run, trials = run_of(lines(tmp_path / "a.jsonl", {"id": 1, "score": 1}, {"id": 1, "score": 0}))
        assert ([trial.repeat for trial in trials], run.repeats) == ([0, 1], 2)

    def test_several_models_are_several_targets(self, tmp_path: Path) -> None:
        run, trials = run_of(
            lines(
                tmp_path / "a.jsonl", {"id": 1, "score": 1, "model": "x"}, {"id": 1, "score": 0, "model": "y"}
            )
        )
        assert [target.model for target in run.targets] == ["x", "y"]
        assert [(trial.slot, trial.repeat) for trial in trials] == [("x", 0), ("y", 0)]

    def test_an_error_is_a_failure_and_null_is_no_answer(self, tmp_path: Path) -> None:
        _, (failed, unparsed) = run_of(
            lines(tmp_path / "a.jsonl", {"id": 1, "error": "timeout"}, {"id": 2, "score": None})
        )
        assert (failed.status, failed.reason) == (Status.PROVIDER_ERROR, "timeout")
        assert unparsed.scores["score"].status is Status.UNPARSED

    def test_a_line_without_an_id_is_named(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "a.jsonl", {"id": 1, "score": 1}, {"score": 1})
        with pytest.raises(UnreadableResults, match=r"a\.jsonl, line 2: it has no id"):
            runs_of(path)


class TestLmEval:
    def test_the_lines_of_one_document_are_one_trial(self, tmp_path: Path) -> None:
        folder = WRITERS["lm-eval"](tmp_path, "m", [1.0])
        (samples,) = folder.glob("samples_*")
        line = json.loads(samples.read_text())
        lines(samples, line, {**line, "filter": "strict", "exact_match": 0.0})
        _, (trial,) = run_of(folder)
        assert {name: score.value for name, score in trial.scores.items()} == {
            "exact_match,none": 1.0,
            "exact_match,strict": 0.0,
        }

    def test_without_samples_it_says_how_to_get_them(self, tmp_path: Path) -> None:
        folder = WRITERS["lm-eval"](tmp_path, "m", [1.0])
        next(folder.glob("samples_*")).unlink()
        with pytest.raises(UnreadableResults, match="--log_samples"):
            runs_of(folder)

    def test_real_results_have_their_own_means(self, real_rows: Path) -> None:
        folder = real_rows / "interop" / "lm_eval" / "a"
        results = json.loads(next(folder.glob("*/results_*")).read_text())["results"]
        runs = runs_of(folder)
        assert {run.task for run in runs} == {"hub_sums", "hub_many", "hub_topic_x", "hub_topic_y"}
        for run in runs:
            trials = list(run.trials)
            for score in run.scores:
                assert mean(trials, score) == pytest.approx(results[run.task][score])
        many = next(run for run in runs if run.task == "hub_many")
        assert [name for name, scale in many.scores.items() if scale.lower_is_better] == ["brevity,none"]


class TestEvalScope:
    def test_a_metric_that_was_not_computed_has_no_value(self, real_rows: Path) -> None:
        folder = real_rows / "interop" / "evalscope" / "model-a"
        run = next(run for run in runs_of(folder) if run.task == "general_qa")
        trials = list(run.trials)
        assert {trial.scores["bleu-1"].status for trial in trials} == {Status.GRADER_ERROR}
        assert len(values(trials, "Rouge-1-R")) == len(trials) == 4
        assert run.notes == ["Requests that failed: 1; nothing of them was written down."]

    def test_repeats_are_those_of_one_sample(self, real_rows: Path) -> None:
        run, trials = run_of(real_rows / "interop" / "evalscope" / "model-c-repeats")
        assert run.repeats == 3
        assert set(Counter(trial.sample for trial in trials).values()) == {3}

    def test_real_reports_have_their_own_means(self, real_rows: Path) -> None:
        folder = real_rows / "interop" / "evalscope" / "model-a"
        for run in runs_of(folder):
            if run.task == "general_qa":
                continue
            report = json.loads((folder / "reports" / "model-a" / f"{run.task}.json").read_text())
            (metric,) = report["metrics"]
            trials = list(run.trials)
            assert mean(trials, "accuracy") == pytest.approx(metric["score"], abs=5e-5)
            assert len(trials) == metric["num"]

    def test_times_and_tokens_are_those_of_the_predictions(self, real_rows: Path) -> None:
        folder = real_rows / "interop" / "evalscope" / "model-a"
        run = next(run for run in runs_of(folder) if run.task == "general_mcq")
        requests = [request for trial in run.trials for request in trial.requests]
        assert sum(request.usage.completion_tokens or 0 for request in requests) == 165
        assert all(request.total > 0 for request in requests)


class TestPromptfoo:
    def test_an_error_is_no_wrong_answer(self, real_rows: Path) -> None:
        path = real_rows / "interop" / "promptfoo" / "a.json"
        stats = json.loads(path.read_text())["results"]["stats"]
        _, trials = run_of(path)
        assert Counter(trial.status for trial in trials)[Status.PROVIDER_ERROR] == stats["errors"] == 1
        assert sum(values(trials, "pass")) == stats["successes"]
        assert len(values(trials, "pass")) == stats["successes"] + stats["failures"]

    def test_prompts_and_providers_are_targets_and_equal_variables_repeats(self, real_rows: Path) -> None:
        run, trials = run_of(real_rows / "interop" / "promptfoo" / "matrix.json")
        assert (len(run.targets), run.repeats, len(trials)) == (4, 2, 32)
        assert len({target.slot for target in run.targets}) == 4

    def test_the_same_test_has_the_same_id_in_another_file(self, real_rows: Path) -> None:
        folder = real_rows / "interop" / "promptfoo"
        (_, first), (_, second) = (run_of(folder / name) for name in ("a.json", "b.json"))
        assert {trial.sample for trial in first} == {trial.sample for trial in second}


class TestHarbor:
    def test_a_timeout_that_was_graded_counts_by_its_reward(self, real_rows: Path) -> None:
        _, trials = run_of(real_rows / "interop" / "harbor" / "job-a")
        assert Counter(trial.status for trial in trials) == {
            Status.ANSWERED: 4,
            Status.LIMIT: 2,
            Status.EXECUTION_ERROR: 4,
        }
        assert all(trial.scores for trial in trials if trial.status is Status.LIMIT)

    def test_a_missing_reward_is_none_and_not_0(self, real_rows: Path) -> None:
        run, trials = run_of(real_rows / "interop" / "harbor" / "job-a")
        assert (len(values(trials, "reward")), len(values(trials, "format"))) == (6, 4)
        assert any("Harbor's own mean counts them 0" in note for note in run.notes)

    def test_steps_become_messages_and_requests(self, real_rows: Path) -> None:
        _, trials = run_of(real_rows / "interop" / "harbor" / "job-a")
        trial = next(one for one in trials if one.sample == "sum-00")
        assert [message["role"] for message in trial.messages] == ["user", "assistant", "tool", "assistant"]
        assert trial.requests[0].usage == Usage(124, 18, 64)

    def test_a_trial_without_a_result_is_unfinished(self, tmp_path: Path) -> None:
        job = WRITERS["harbor"](tmp_path, "m", [1.0, 0.0])
        (job / "sum-2__abcdefg").mkdir()
        run, trials = run_of(job)
        assert (run.state, len(trials), run.notes) == ("unfinished", 2, ["1 trials have no result yet."])

    def test_two_agents_with_one_model_are_two_targets(self, tmp_path: Path) -> None:
        job = WRITERS["harbor"](tmp_path, "m", [1.0])
        other = WRITERS["harbor"](tmp_path, "other", [0.0])
        (trial,) = other.glob("sum-*")
        written = (
            (trial / "result.json").read_text().replace("scripted", "another").replace("mock/other", "mock/m")
        )
        (trial / "result.json").write_text(written)
        trial.rename(job / "sum-0__gfedcba")
        run, trials = run_of(job)
        assert {(one.slot, one.model) for one in run.targets} == {
            ("scripted mock/m", "mock/m"),
            ("another mock/m", "mock/m"),
        }
        assert {trial.repeat for trial in trials} == {0}

    def test_links_out_of_the_job_are_not_followed(self, tmp_path: Path) -> None:
        job = WRITERS["harbor"](tmp_path, "m", [1.0])
        other = WRITERS["harbor"](tmp_path, "other", [0.0])
        (job / "sum-9__abcdefg").symlink_to(next(other.glob("sum-*")))
        assert len(run_of(job)[1]) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "inspect"])
@given(data=st.data())
@settings(max_examples=60)
def test_any_value_may_be_another(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever stands in a file, it is read, or it is told what cannot be."""
    folder = tmp_path_factory.mktemp("damaged")
    path = WRITERS[name](folder, "m", [1.0, 0.0])
    files = (
        [path] if path.is_file() else sorted(one for one in path.rglob("*.json*") if one.stat().st_size > 2)
    )
    file = data.draw(st.sampled_from(files))
    whole = [json.loads(line) for line in file.read_text().splitlines()]
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] = with_another(whole[place], data.draw)
    lines(file, *whole)
    with suppress(UnreadableResults):
        if format_of(path) is not None:
            for run in runs_of(path):
                list(run.trials)
    shutil.rmtree(folder)


def with_another(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    """The value with something in it replaced by something else."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: with_another(value[name], draw)}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], with_another(value[place], draw), *value[place + 1 :]]
    return draw(JSON)


def notes(directory: Path) -> str:
    origin = origin_of(read_manifest(directory))
    assert origin is not None
    return " ".join(origin.notes)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_cut_short_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    path = WRITERS[name](tmp_path, "m", [1.0, 0.0])
    file = path if path.is_file() else max(path.rglob("*.json*"), key=lambda one: one.stat().st_size)
    file.write_bytes(file.read_bytes()[:-20])
    if name in ("evalscope", "harbor"):
        (run,) = import_runs(path).runs
        assert "line 2" in notes(run.directory) or "damaged" in notes(run.directory)
        return
    with pytest.raises(UnreadableResults):
        import_runs(path)
