"""A failure never looks like a result: behind each front door, the exit code, the last lines and the JSON tell it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.eval_kit import Project
from tests.app.failing_endpoint import endpoint
from tests.app.pack_kit import Packs, numbered
from tests.app.test_custom_benchmarks import EXAMPLE
from tests.web.web_kit import viewing

DONE, STOPPED, INCOMPLETE = 0, 1, 4

GRADERS = """
from pathlib import Path

def raises(solution_str, ground_truth, extra_info=None):
    if not Path("key").exists():
        raise RuntimeError("the grader has no key")
    return 1.0
"""


def evaluation(program: Program) -> list[str]:
    return ["eval", "-d", program.rows(4), "--scorer", "exact"]


def benchmark(program: Program) -> list[str]:
    return ["run", "my_benchmark", "--plugin", program.write("mine.py", EXAMPLE)]


def load(program: Program) -> list[str]:
    return ["load", "-d", program.rows(4), "--concurrency", "1", "--requests", "4", "--warmup", "0"]


def pack(program: Program) -> list[str]:
    return ["pack", "run", Packs(program).pack("tools", numbered(4)), "--mode", "serial"]


Door = Callable[[Program], list[str]]
DOORS: tuple[Door, ...] = (evaluation, benchmark, load, pack)


class Ended(NamedTuple):
    """A command that has ended: its exit code, the last ten lines that it said, and what it printed."""

    code: int
    last: str
    out: str


def run(program: Program, arguments: list[str], url: str, *more: str, model: str = "m") -> Ended:
    retries = ["--cell-retries", "0"] if arguments[0] == "pack" else ["--no-stream"]
    ended: subprocess.CompletedProcess[str] = program.run(
        *arguments, "--model", model, "--base-url", url, "--retries", "0", *retries, *more
    )
    return Ended(ended.returncode, "\n".join(ended.stderr.splitlines()[-10:]), ended.stdout)


@pytest.mark.parametrize("door", DOORS)
def test_where_nobody_answers_it_ends_before_the_first_trial(program: Program, door: Door) -> None:
    ended = run(program, door(program), NOWHERE)
    assert ended.code == STOPPED
    assert f"Error: Cannot connect to {NOWHERE}" in ended.last
    assert "--no-probe" in ended.last
    assert [run for run in program.runs if (run / "trials.jsonl").exists()] == []


@pytest.mark.parametrize("door", DOORS)
def test_a_model_that_is_not_listed_is_warned_of_with_the_nearest_one(program: Program, door: Door) -> None:
    with endpoint(models=["model-large"]) as url:
        ended = run(program, door(program), url, model="model-lrage")
    assert ended.code == STOPPED
    assert f"{url} does not list the model 'model-lrage'. Did you mean 'model-large'?" in ended.last
    assert "no model model-lrage" in ended.last


MIDDLE: dict[Door, tuple[int, str]] = {
    evaluation: (DONE, "Warning: 2 of 4 runs failed."),
    benchmark: (DONE, "Warning: 2 of 4 trials failed."),
    load: (DONE, "2 failed"),
    pack: (INCOMPLETE, "Error: The total of m is incomplete: 2 of its 4 cells failed"),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_endpoint_that_fails_from_the_middle_on_is_told_at_the_end(program: Program, door: Door) -> None:
    code, words = MIDDLE[door]
    with endpoint(answers=2) as url:
        ended = run(program, door(program), url)
    assert (ended.code, words in ended.last) == (code, True), ended.last


def failures_in(document: dict[str, Any]) -> dict[str, int]:
    """Why trials failed, and how often, by what a command printed with `--json`."""
    if "levels" in document:
        failures: dict[str, int] = document["levels"][0]["failures"]
        return failures
    statistics: dict[str, Any] = {}
    for pack in document.get("packs", ()):
        assert pack["incompleteScores"] == {"endpoint:m": {"cells": 4, "withoutResult": 2}}
        statistics = pack["statisticsByModel"]["endpoint:m"]
    target = statistics or summaries(document)[0]["targets"][0]
    assert target["statuses"] == {"provider_error": 2, "scored": 2}
    found: dict[str, int] = target["failures"]
    return found


@pytest.mark.parametrize("door", DOORS)
def test_the_json_has_the_failures_with_their_reason_in_full(program: Program, door: Door) -> None:
    with endpoint(answers=2) as url:
        document = json.loads(run(program, [*door(program), "--json"], url).out)
    ((reason, count),) = failures_in(document).items()
    assert (count, "HTTP 500" in reason, "out of memory" in reason) == (2, True, True)


@pytest.mark.parametrize("door", DOORS)
def test_more_failures_than_are_allowed_are_an_incomplete_result(program: Program, door: Door) -> None:
    with endpoint(answers=2) as url:
        ended = run(program, door(program), url, "--max-failures", "25%")
    assert ended.code == INCOMPLETE
    assert "2 of 4 " in ended.last
    assert "failed, more than --max-failures 25% allows" in ended.last


@pytest.mark.parametrize("most", ["2", "50%"])
def test_as_many_failures_as_are_allowed_are_none_too_many(program: Program, most: str) -> None:
    with endpoint(answers=2) as url:
        assert run(program, evaluation(program), url, "--max-failures", most).code == DONE


def test_a_number_of_failures_that_is_none_is_a_usage_error(program: Program) -> None:
    ended = run(program, evaluation(program), NOWHERE, "--max-failures", "few")
    assert (ended.code, "--max-failures" in ended.last) == (2, True)


def raising_graders(program: Program) -> list[str]:
    program.write("graders.py", GRADERS)
    Project(program, rows=4)
    return ["eval", "-m", "agent:agent_loop", "-d", "data.jsonl", "--eval-fn", "graders:raises", "--json"]


def raising_benchmark(program: Program) -> list[str]:
    plugin = EXAMPLE.replace(
        'correct = sample.metadata["expected"] in response', 'raise RuntimeError("the grader has no key")'
    )
    return ["run", "my_benchmark", "--plugin", program.write("mine.py", plugin), "--json"]


def raising_pack(program: Program) -> list[str]:
    code = """
        exports.manifest = {};
        exports.listScenarios = async () => [{ id: "A", title: "A" }, { id: "B", title: "B" }];
        exports.prepare = async () => ({
            async runScenario() { throw new Error("the grader has no key"); },
            async dispose() {},
        });
        exports.scoreModelResults = () => ({ totalScore: 0, categories: [], summary: "★ Poor" });
    """
    return ["pack", "run", Packs(program).pack("raises", [], code=code), "--json"]


@pytest.mark.parametrize("door", [raising_graders, raising_benchmark, raising_pack])
def test_graders_that_all_fail_leave_no_result_and_their_reason_is_told(program: Program, door: Door) -> None:
    with endpoint() as url:
        ended = run(program, door(program), url)
    assert ended.code == INCOMPLETE
    assert "Error: m has no " in ended.last
    assert "the grader has no key" in ended.last
    assert "benchwright retry " in ended.last
    (told,) = summaries(json.loads(ended.out))
    assert "the grader has no key" in told["shortfalls"][0]


def summaries(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The summaries of runs in what a command printed."""
    if "benchmarks" in document:
        return [one["summary"] for one in document["benchmarks"]]
    packs: list[dict[str, Any]] = document.get("packs", [document])
    return packs


@pytest.mark.parametrize(
    ("probe", "code", "words"),
    [
        ([], STOPPED, f"Error: Cannot connect to {NOWHERE}"),
        (
            ["--no-probe"],
            INCOMPLETE,
            "Error: m has no score by judge: the scorer failed in all 4 trials: Cannot connect",
        ),
    ],
)
def test_a_judge_that_nobody_reaches_is_no_mean_of_0(
    program: Program, probe: list[str], code: int, words: str
) -> None:
    command = ["eval", "-d", program.rows(4), "--scorer", "judge", "--scorer-option", "rubric=Right?"]
    with endpoint() as url:
        ended = run(program, command, url, "--judge-model", "j", "--judge-base-url", NOWHERE, *probe)
    assert (ended.code, words in ended.last) == (code, True), ended.last


def test_scores_that_failed_are_made_again_without_asking_the_model(program: Program) -> None:
    command = raising_graders(program)
    with endpoint(answers=4) as url:
        assert run(program, command, url).code == INCOMPLETE
        program.write("key", "")
        again = program.run("retry", program.only_run.name, "--json")
    assert again.returncode == DONE, again.stderr
    summary = json.loads(again.stdout)
    (score,) = summary["targets"][0]["scores"]
    assert (score["mean"], score["n_scored"], summary.get("shortfalls", [])) == (1.0, 4, [])


def test_a_finished_run_with_failures_is_still_told_as_one(program: Program) -> None:
    command = evaluation(program)
    with endpoint(answers=2) as url:
        run(program, command, url)
        again = run(program, command, url)
    assert again.code == DONE
    assert "Warning: 2 of 4 runs failed." in again.last
    assert "benchwright retry " in again.last
    listed = program.run("runs")
    assert "finished, 2 failed" in listed.stdout


def served(answers: int) -> AbstractContextManager[str]:
    return endpoint(answers=answers) if answers else nullcontext(NOWHERE)


@pytest.mark.parametrize(
    ("answers", "total", "remark"),
    [
        (0, "no score", "incomplete: 4 of 4 cells have no result"),
        (3, "70 pts", "incomplete: 1 of 4 cells have no result"),
        (4, "100 pts", "★★★ Good"),
    ],
)
def test_a_packs_total_over_missing_cells_is_never_rated(
    program: Program, answers: int, total: str, remark: str
) -> None:
    command = [*pack(program), "--markdown", "card.md", "--csv", "cells.csv"]
    with served(answers) as url:
        ended = run(program, command, url, "--no-probe")
        card, cells = ((program.directory / name).read_text() for name in ("card.md", "cells.csv"))
        assert ended.code == (DONE if answers == 4 else STOPPED if not answers else INCOMPLETE)
        shown = program.run("show", program.only_run.name).stdout
    for text in (ended.out, shown):
        assert f"m: {total}  {remark}" in " ".join(text.split("\n"))
    assert f"| {total if answers else '–'} | {remark} |" in card
    assert card.count("error") == cells.count(",error,") == 4 - answers
    assert ("★" in card + ended.out) == (answers == 4)


def test_every_door_of_a_finished_run_tells_what_is_missing(program: Program) -> None:
    with endpoint() as url:
        run(program, [*raising_graders(program), "-o", "out.json"], url)
    written = json.loads((program.directory / "out.json").read_text())
    assert written["summary"]["failures"] == {"graders:raises: RuntimeError: the grader has no key": 4}
    sentence = "m has no score by graders:raises: the scorer failed in all 4 trials"
    name = program.only_run.name
    shown = program.run("show", name).stdout
    assert sentence in " ".join(shown.split())
    assert (
        "raises: mean=0.000 std=0.000 min=0.000 max=0.000\n    4 of 4 have no score and count as 0 here"
        in shown
    )
    assert program.run("report", name, "-o", "report.html").returncode == DONE
    assert sentence in (program.directory / "report.html").read_text()
    with viewing(program) as viewer:
        assert sentence in viewer.get(f"/runs/{name}").text
        assert "4 failed" in viewer.get("/").text
