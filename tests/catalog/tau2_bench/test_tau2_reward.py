"""tau2-bench's reward: the product of what a task is rewarded for, and who judges."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark
from tests.catalog.conversations import Talk, figures, graded
from tests.catalog.tau2_bench.tau2_kit import CANCEL, cancelling

from benchwright.catalog.tau2_bench.grading import is_communicated, is_matching_call
from benchwright.catalog.tau2_bench.rows import Action
from benchwright.engine.protocols import Score
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample

TALK: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Hi!"},
    {"role": "user", "content": "It was 99 dollars."},
    {
        "role": "assistant",
        "content": "Let me see: 1,234.",
        "tool_calls": [{**CANCEL, "requestor": "assistant"}],
    },
    {"role": "tool", "content": "done"},
]


async def scored(
    criteria: dict[str, Any] | None,
    *,
    judge: tuple[str, ...] = (),
    database: bool | None = True,
    ended: str = "user_stop",
) -> Score:
    task = benchmark("tau2_bench", {"domain": "retail", "judge_model": "j"}, roles=["judge"])
    row = cancelling() | {"evaluation_criteria": criteria}
    artifacts = {
        "conversation": TALK,
        "ended": ended,
        "examined": {"database": database, "assertions": [True, False]},
    }
    sample = Sample("s", {"domain": "retail", "task": row})
    return await task.scorers[0].score(sample, Outcome(artifacts=artifacts), Talk(judge=judge))


@pytest.mark.parametrize(
    ("criteria", "value"),
    [
        (None, 1.0),
        ({"reward_basis": []}, 1.0),
        ({"reward_basis": ["DB"]}, 1.0),
        ({"communicate_info": ["1234"]}, 1.0),
        ({"communicate_info": ["1234", "99"]}, 0.0),
        ({"reward_basis": ["DB", "ENV_ASSERTION"]}, 0.0),
        ({"reward_basis": ["ACTION"], "actions": [CANCEL]}, 1.0),
        ({"reward_basis": ["ACTION"], "actions": [CANCEL, {"name": "think", "arguments": {}}]}, 0.0),
        ({"reward_basis": ["DB"], "actions": [{"name": "think", "arguments": {}}]}, 1.0),
    ],
)
async def test_only_what_stands_in_the_basis_counts(criteria: dict[str, Any] | None, value: float) -> None:
    assert (await scored(criteria)).value == value


async def test_another_database_or_a_premature_end_is_worth_nothing() -> None:
    assert (await scored({"reward_basis": ["DB"]}, database=False)).value == 0.0
    assert (await scored({"reward_basis": ["DB"]}, database=None)).value == 1.0
    assert (await scored(None, ended="too_many_errors")).value == 0.0


@pytest.mark.parametrize(
    ("compared", "arguments", "equal"),
    [
        (None, {"order": "1"}, True),
        (None, {}, True),
        (None, {"order": "1", "reason": "x"}, False),
        ([], {"order": "2"}, True),
        (["order"], {"order": "1", "reason": "x"}, True),
        (["order"], {}, False),
    ],
)
def test_calls_are_compared_as_the_authors_do(
    compared: list[str] | None, arguments: dict[str, Any], equal: bool
) -> None:
    action = Action("cancel_order", {"order": "1"}, compare_args=compared)
    assert is_matching_call(action, {"name": "cancel_order", "arguments": arguments}) is equal
    assert not is_matching_call(action, {"name": "get_order", "arguments": arguments})


def test_commas_are_put_aside_in_what_is_said_and_only_there() -> None:
    assert is_communicated("LET ME SEE", TALK)
    assert is_communicated("1234", TALK)
    assert not is_communicated("1,234", TALK)


JUDGED = {"reward_basis": ["DB", "NL_ASSERTION"], "nl_assertions": ["It is kind.", "It is brief."]}


def judgement(*met: bool) -> str:
    return json.dumps({"results": [{"expectedOutcome": "…", "metExpectation": one} for one in met]})


@pytest.mark.parametrize(
    ("said", "value"),
    [
        (judgement(True, True), 1.0),
        (f"```json\n{judgement(True, True)}\n```", 1.0),
        (judgement(True, False), 0.0),
    ],
)
async def test_a_judge_must_find_all_assertions_met(said: str, value: float) -> None:
    score = await scored(JUDGED, judge=(said,))
    assert (score.value, dict(score.detail or {})["judge"]) == (value, "the judge")


@pytest.mark.parametrize("said", ["Yes.", '{"results": []}', '{"results": [{"metExpectation": "perhaps"}]}'])
async def test_a_judge_that_says_nothing_gives_no_score(said: str) -> None:
    with pytest.raises(GraderError, match="the judge gives no verdict"):
        await scored(JUDGED, judge=(said,))


async def test_the_judge_is_not_asked_where_something_else_is_wrong() -> None:
    assert (await scored(JUDGED, database=False)).value == 0.0
    assert (await scored(JUDGED | {"nl_assertions": []})).value == 1.0


def test_pass_hat_k_names_the_model_that_played_the_user() -> None:
    task = benchmark("tau2_bench", {"domain": "airline", "user_model": "gpt-4.1"}, roles=["user"])
    scores = [graded(value, sample=name, labels={"domain": "airline"}) for name, value in
              [("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 0.0)]]  # fmt: skip
    assert figures(task, scores) == {"pass^1": 0.75, "pass^2": 0.5}
    assert {figure.note for figure in task.figures(scores)} == {"user played by gpt-4.1"}
    assert task.departures == ()
