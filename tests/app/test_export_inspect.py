"""`export --format inspect`: what is in a log, and that it says the same when it is read again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, write_run

from benchwright.records import Status, Usage

TRIALS = [
    Made("a/1", 1.0, span="42", group="sums", usage=Usage(100, 5, 60, 2)),
    Made("b", None),
    Made("c", failed=Status.PROVIDER_ERROR),
    Made("c", 0.0, attempt=1, latency=2.5),
    Made("d", 1.0, repeat=1),
    Made("e", failed=Status.EXECUTION_ERROR),
    Made("f", failed=Status.LIMIT),
    Made("g", failed=Status.REFUSED),
]


class Log:
    """An archive, its members read."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.members: dict[str, Any] = {
                name: json.loads(archive.read(name)) for name in archive.namelist()
            }

    def sample(self, name: str, epoch: int = 1) -> dict[str, Any]:
        found: dict[str, Any] = self.members[f"samples/{name}_epoch_{epoch}.json"]
        return found


@pytest.fixture
def run(program: Program) -> Path:
    return write_run(program.home / "runs" / "run-1", TRIALS)


@pytest.fixture
def path(program: Program, run: Path) -> Path:
    ended = program.run("export", "run-1", "--format", "inspect", "-o", "logs")
    assert ended.returncode == 0, ended.stderr
    return program.directory / "logs" / "run-1.eval"


@pytest.fixture
def log(path: Path) -> Log:
    return Log(path)


def test_the_list_of_samples_says_what_the_samples_say(log: Log) -> None:
    lines = log.members["summaries.json"]
    assert len(lines) == 7
    for line in lines:
        sample = log.sample(line["id"], line["epoch"])
        assert line["scores"] == sample["scores"]
        assert line["uuid"] == sample["uuid"]


def test_scores_have_their_answer_and_their_trial(log: Log) -> None:
    score = log.sample("a/1")["scores"]["exact"]
    assert (score["value"], score["answer"]) == (1.0, "42")


def test_what_has_no_value_has_no_score_and_is_counted(log: Log) -> None:
    assert log.sample("b")["scores"] == {}
    (result,) = log.members["header.json"]["results"]["scores"]
    assert (result["scored_samples"], result["unscored_samples"]) == (3, 4)


def test_failures_are_errors_and_earlier_attempts_retries(log: Log) -> None:
    assert log.sample("e")["error"]["message"] == "execution_error"
    retried = log.sample("c")
    assert "error" not in retried
    assert [one["message"] for one in retried["error_retries"]] == ["provider_error"]


def test_limits_and_refusals_are_told_as_inspect_tells_them(log: Log) -> None:
    assert log.sample("f")["limit"]["type"] == "custom"
    assert log.sample("g")["output"]["choices"][0]["stop_reason"] == "content_filter"


def test_tokens_from_a_cache_are_no_part_of_the_input(log: Log) -> None:
    (usage,) = log.sample("a/1")["model_usage"].values()
    assert usage == {
        "input_tokens": 40,
        "output_tokens": 5,
        "total_tokens": 105,
        "input_tokens_cache_read": 60,
        "reasoning_tokens": 2,
    }


def test_read_again_it_has_the_same_summary(program: Program, path: Path) -> None:
    ours, theirs = (json.loads(program.run("show", one, "--json").stdout) for one in ("run-1", str(path)))
    for name in ("done", "repeats", "state"):
        assert ours[name] == theirs[name]
    (own,), (read,) = ours["targets"], theirs["targets"]
    assert own["statuses"] == read["statuses"]
    for name in ("n", "n_scored", "no_answer", "unparsed", "mean", "mean_scored", "low", "high", "n_groups"):
        assert own["scores"][0].get(name) == read["scores"][0].get(name), name
    for name in ("latency_p50", "total_prompt_tokens", "total_completion_tokens"):
        counted = [one for one in TRIALS if one.sample != "c" or one.attempt]
        if name.startswith("total"):
            kind = name.removeprefix("total_")
            assert read["requests"][name] == sum(getattr(one.usage, kind) for one in counted)
        else:
            assert read["requests"][name] == pytest.approx(own["requests"][name], rel=0.5)


def test_each_target_has_a_log(program: Program) -> None:
    from benchwright.records import Target

    targets = [Target(slot, slot, "http://127.0.0.1:9/v1") for slot in ("primary", "baseline")]
    write_run(program.home / "runs" / "run-2", [Made("a"), Made("a", slot="baseline")], targets=targets)
    program.run("export", "run-2", "--format", "inspect", "-o", "logs")
    assert {one.name for one in (program.directory / "logs").iterdir()} == {
        "run-2_primary.eval",
        "run-2_baseline.eval",
    }


def test_a_run_without_trials_is_a_log_without_samples(program: Program) -> None:
    write_run(program.home / "runs" / "run-3", [], finished=False)
    program.run("export", "run-3", "--format", "inspect", "-o", "logs")
    log = Log(program.directory / "logs" / "run-3.eval")
    assert (log.members["summaries.json"], log.members["header.json"]["status"]) == ([], "started")
