"""Every front door × every part that can fail: the exit code, the last ten lines, the JSON, the card, and `show`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.eval_kit import Project
from tests.app.failing_doors import (
    DONE,
    DOORS,
    INCOMPLETE,
    LEVEL,
    STOPPED,
    Door,
    benchmark,
    evaluation,
    failures_in,
    load,
    pack,
    run,
    summaries,
)
from tests.app.failing_endpoint import endpoint
from tests.app.pack_kit import Packs, scenario
from tests.app.test_custom_benchmarks import EXAMPLE
from tests.app.test_pack_trouble import verified, verifier

REFUSED = f"Cannot connect to {NOWHERE}: Connection refused"
NO_CARD = None


class Told(NamedTuple):
    """What has to be told of a failure: the exit code, words of the last ten lines, and why how many trials failed.

    `failures` counts them by words that the reason holds. `shown` are words of `show`, `card` those of a pack's card.
    """

    code: int
    last: str
    failures: dict[str, int]
    shown: str
    card: str | None = NO_CARD


def check(told: Told, program: Program, command: list[str], url: str, *more: str, model: str = "m") -> None:
    """Runs a command with `--json`, and looks at everything that it leaves."""
    ended = run(program, command, url, "--json", *more, model=model)
    assert (ended.code, told.last in ended.last) == (told.code, True), ended.last
    found = failures_in(ended.document)
    assert len(found) == len(told.failures), found
    for words, count in told.failures.items():
        assert [n for reason, n in found.items() if words in reason] == [count], found
    assert ended.shown is not None
    assert told.shown in ended.shown
    assert (ended.card is None) == (told.card is None)
    assert told.card is None or told.card in str(ended.card)
    assert "★" not in f"{ended.card} {ended.last}", "nothing of this is rated"


# Nobody answers


@pytest.mark.parametrize("door", DOORS)
def test_where_nobody_answers_it_ends_before_the_first_trial(program: Program, door: Door) -> None:
    ended = run(program, door(program), NOWHERE, "--json")
    assert ended.code == STOPPED
    assert f"Error: {REFUSED}" in ended.last
    assert "--no-probe" in ended.last
    assert (ended.out, ended.card, ended.shown) == ("", None, None)


DOWN: dict[Door, Told] = {
    evaluation: Told(STOPPED, f"Error: {REFUSED}", {REFUSED: 1}, "m has no result: its only trial failed"),
    benchmark: Told(STOPPED, f"Error: {REFUSED}", {REFUSED: 4}, "m has no result: all 4 trials failed"),
    load: Told(
        STOPPED,
        "Error: Level 1 in flight has no figures: its only request was not answered",
        {REFUSED: 1},
        "m has no result: its only trial failed",
    ),
    pack: Told(
        STOPPED,
        "Error: the first 4 trials failed with the same error",
        {REFUSED: 4},
        "m: no score incomplete: 4 of 4 cells have no result",
        "| m | – | incomplete: 4 of 4 cells have no result |",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_where_nobody_answers_and_nobody_asked_before_it_stops_at_once(program: Program, door: Door) -> None:
    check(DOWN[door], program, door(program), NOWHERE, "--no-probe")


# A model that the endpoint does not have

NO_SUCH = "no model model-lrage"
UNKNOWN: dict[Door, Told] = {
    evaluation: Told(STOPPED, NO_SUCH, {NO_SUCH: 1}, "model-lrage has no result: its only trial failed"),
    benchmark: Told(STOPPED, NO_SUCH, {NO_SUCH: 4}, "model-lrage has no result: all 4 trials failed"),
    load: Told(STOPPED, NO_SUCH, {NO_SUCH: 1}, "model-lrage has no result: its only trial failed"),
    pack: Told(
        STOPPED,
        NO_SUCH,
        {NO_SUCH: 4},
        "model-lrage: no score incomplete: 4 of 4 cells have no result",
        "| model-lrage | – | incomplete: 4 of 4 cells have no result |",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_model_that_is_not_there_is_no_bad_model(program: Program, door: Door) -> None:
    with endpoint(models=["model-large"]) as url:
        check(UNKNOWN[door], program, door(program), url, model="model-lrage")


@pytest.mark.parametrize("door", DOORS)
def test_a_model_that_is_not_listed_is_warned_of_with_the_nearest_one(program: Program, door: Door) -> None:
    with endpoint(models=["model-large"]) as url:
        ended = run(program, door(program), url, model="model-lrage")
    assert f"{url} does not list the model 'model-lrage'. Did you mean 'model-large'?" in ended.last


# An endpoint that fails from the middle on

MEMORY = "HTTP 500"
MIDDLE: dict[Door, Told] = {
    evaluation: Told(
        DONE, "Warning: 2 of 4 runs failed.", {MEMORY: 2}, "2 of 4 have no score and count as 0 here"
    ),
    benchmark: Told(
        DONE, "Warning: 2 of 4 trials failed.", {MEMORY: 2}, "2 of 4 have no score and count as 0 here"
    ),
    load: Told(DONE, "2 failed", {MEMORY: 2}, "2 failed"),
    pack: Told(
        INCOMPLETE,
        "Error: The total of m is incomplete: 2 of its 4 cells failed",
        {MEMORY: 2},
        "incomplete: 2 of 4 cells have no result",
        "| incomplete: 2 of 4 cells have no result |",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_endpoint_that_fails_from_the_middle_on_is_told_at_the_end(program: Program, door: Door) -> None:
    with endpoint(answers=2) as url:
        check(MIDDLE[door], program, door(program), url)


@pytest.mark.parametrize("door", DOORS)
def test_more_failures_than_are_allowed_are_an_incomplete_result(program: Program, door: Door) -> None:
    with endpoint(answers=2) as url:
        ended = run(program, door(program), url, "--max-failures", "25%")
    assert ended.code == INCOMPLETE
    assert "2 of 4 " in ended.last
    assert "failed, more than --max-failures 25% allows" in ended.last


# A judge that nobody reaches: of packs, the verifier is the judge

JUDGE = ["--judge-model", "j", "--judge-base-url", NOWHERE]


def judged_evaluation(program: Program) -> list[str]:
    return ["eval", "-d", program.rows(4), "--scorer", "judge", "--scorer-option", "rubric=Right?", *JUDGE]


def judged_benchmark(program: Program) -> list[str]:
    row = {"question": "5?", "answer": "5", "answer_type": "exactMatch", "category": "Math"}
    rows = "".join(json.dumps({"id": f"q{number}", **row}) + "\n" for number in range(4))
    options = [f"path={program.write('test.jsonl', rows)}", "judge_model=j", f"judge_base_url={NOWHERE}"]
    return ["run", "hle", *(part for option in options for part in ("--option", option))]


def judged_load(program: Program) -> list[str]:
    return [*load(program), "--scorer", "judge", "--scorer-option", "rubric=Right?", *JUDGE]


JUDGED: tuple[Door, ...] = (judged_evaluation, judged_benchmark, judged_load)


@pytest.mark.parametrize("door", JUDGED)
def test_a_judge_that_nobody_reaches_is_told_before_the_first_trial(program: Program, door: Door) -> None:
    with endpoint() as url:
        ended = run(program, door(program), url, "--json")
    assert (ended.code, f"Error: {REFUSED}" in ended.last) == (STOPPED, True), ended.last
    assert (ended.out, ended.shown) == ("", None)


@pytest.mark.parametrize("door", JUDGED)
def test_a_judge_that_nobody_asked_before_is_no_mean_of_0(program: Program, door: Door) -> None:
    told = Told(
        INCOMPLETE,
        f"the scorer failed in all 4 trials: {REFUSED}",
        {REFUSED: 4},
        f"no score (4 of 4 failed: {REFUSED}",
    )
    with endpoint() as url:
        check(told, program, door(program), url, "--no-probe")


# Verifiers of packs


@contextmanager
def verified_pack(program: Program, healthy: int) -> Iterator[list[str]]:
    """A pack of three scenarios that every answer fails, whose verifier is there for so many questions."""
    wrong = [scenario(f"S-{number:02}", expect="never said") for number in range(1, 4)]
    with ExitStack() as stack:
        address = stack.enter_context(verifier(healthy)) if healthy else NOWHERE.removesuffix("/v1")
        yield [
            "pack",
            "run",
            Packs(program).pack("pack", wrong, verifiers=verified(address)),
            "--mode",
            "serial",
        ]


def test_a_verifier_that_is_not_there_is_told_before_the_first_cell(program: Program) -> None:
    with endpoint() as url, verified_pack(program, 0) as command:
        ended = run(program, command, url, "--json")
    assert (ended.code, "Error: The verifier 'judge' of pack is not running" in ended.last) == (STOPPED, True)
    assert (ended.out, ended.card) == ("", None)
    assert "unfinished, 0 of 3 trials m no trial is finished" in str(ended.shown)


def test_a_verifier_that_dies_in_mid_run_is_no_bad_model(program: Program) -> None:
    told = Told(
        INCOMPLETE,
        "Error: The total of m is incomplete: 2 of its 3 cells failed: The verifier 'judge' of pack is not running",
        {"The verifier 'judge' of pack is not running": 2},
        "m: 0 pts incomplete: 2 of 3 cells have no result",
        "| m | 0 pts | incomplete: 2 of 3 cells have no result |",
    )
    with endpoint() as url, verified_pack(program, 2) as command:
        check(told, program, command, url)


# Graders that all raise

GRADERS = """
from pathlib import Path

def raises(solution_str, ground_truth, extra_info=None):
    if not Path("key").exists():
        raise RuntimeError("the grader has no key")
    return 1.0
"""


def raising_evaluation(program: Program) -> list[str]:
    program.write("graders.py", GRADERS)
    Project(program, rows=4)
    return ["eval", "-m", "agent:agent_loop", "-d", "data.jsonl", "--eval-fn", "graders:raises"]


def raising_plugin(program: Program) -> list[str]:
    right = 'correct = sample.metadata["expected"] in response'
    assert right in EXAMPLE
    plugin = EXAMPLE.replace(right, 'raise RuntimeError("the grader has no key")')
    return ["my_benchmark", "--plugin", program.write("mine.py", plugin)]


def raising_benchmark(program: Program) -> list[str]:
    return ["run", *raising_plugin(program)]


def raising_load(program: Program) -> list[str]:
    return ["load", *raising_plugin(program), *LEVEL]


def raising_pack(program: Program) -> list[str]:
    code = """
        exports.manifest = {};
        exports.listScenarios = async () => ["A", "B", "C", "D"].map((id) => ({ id, title: id }));
        exports.prepare = async () => ({
            async runScenario() { throw new Error("the grader has no key"); },
            async dispose() {},
        });
        exports.scoreModelResults = () => ({ totalScore: 0, categories: [], summary: "★ Poor" });
    """
    return ["pack", "run", Packs(program).pack("raises", [], code=code)]


KEY = {"the grader has no key": 4}
NO_SCORE = "the scorer failed in all 4 trials: RuntimeError: the grader has no key"
SHOWN = "no score (4 of 4 failed: RuntimeError: the grader has no key)"
RAISING: dict[Door, Told] = {
    raising_evaluation: Told(
        INCOMPLETE, f"Error: m has no score by graders:raises: {NO_SCORE}", KEY, f"graders:raises: {SHOWN}"
    ),
    raising_benchmark: Told(
        INCOMPLETE, f"Error: m has no score by score: {NO_SCORE}", KEY, f"score: {SHOWN}"
    ),
    raising_load: Told(
        INCOMPLETE, f"Error: 1 in flight: m has no score by score: {NO_SCORE}", KEY, f"score: {SHOWN}"
    ),
    raising_pack: Told(
        INCOMPLETE,
        "Error: m has no result: all 4 cells failed: the scenario failed: the grader has no key",
        KEY,
        "m: no score incomplete: 4 of 4 cells have no result",
        "| m | – | incomplete: 4 of 4 cells have no result |",
    ),
}


@pytest.mark.parametrize("door", RAISING)
def test_graders_that_all_fail_leave_no_result_and_their_reason_is_told(program: Program, door: Door) -> None:
    with endpoint() as url:
        check(RAISING[door], program, door(program), url)


@pytest.mark.parametrize("door", [raising_evaluation, raising_benchmark, raising_pack])
def test_what_would_finish_the_result_is_named(program: Program, door: Door) -> None:
    with endpoint() as url:
        ended = run(program, door(program), url, "--json")
        (command,) = re.findall(r"^To .+: benchwright (retry .+)$", ended.last, re.M)
        again = program.run(*command.split())
    assert command.split()[1] == program.only_run.name
    assert "the grader has no key" in summaries(ended.document)[0]["shortfalls"][0]
    assert again.returncode == INCOMPLETE
    told = [line for line in (again.stdout + again.stderr).splitlines() if not line.startswith("[")]
    assert "\n".join(told).count("the grader has no key") == 1, "beside the lines of single trials, once"


def test_scores_that_failed_are_made_again_without_asking_the_model(program: Program) -> None:
    command = raising_evaluation(program)
    with endpoint(answers=4) as url:
        assert run(program, command, url).code == INCOMPLETE
        program.write("key", "")
        again = program.run("retry", program.only_run.name, "--json")
    assert again.returncode == DONE, again.stderr
    summary = json.loads(again.stdout)
    (score,) = summary["targets"][0]["scores"]
    assert (score["mean"], score["n_scored"], summary.get("shortfalls", [])) == (1.0, 4, [])
