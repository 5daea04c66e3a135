"""Scripted conversations that check tau2-bench's grader: for each task a right one, and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from benchwright.catalog.asking import assistant, tool_call
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.tau2_bench.dialogue import GREETING, STOP_MARKS
from benchwright.catalog.tau2_bench.grading import is_communicated
from benchwright.catalog.tau2_bench.rows import Action, Criteria, criteria_of
from benchwright.catalog.tau2_bench.solo import DONE_TOOL as END
from benchwright.records import Message, Sample

USER_GREETING = "Hello, I need some help."
DONE_MESSAGE = "Done"
USER_GOODBYE = f"Thank you. {STOP_MARKS[0]}"

READ_TOOL_PREFIXES = (
    "get_",
    "find_",
    "list_",
    "search_",
    "check_",
    "calculate",
    "think",
    "transfer_",
    "KB_",
    "grep",
)
"""Beginnings of the names of tools that only read."""


KNOWN_FAILURES = {
    (
        "tau2_retail_105",
        "no action",
    ): "the only write among the right calls cannot be paid for, and changes nothing",
    ("tau2_mock_update_task_with_history_and_env_assertions", GOLD): "no right calls are given",
    (
        "tau2_mock_update_task_with_user_tools",
        GOLD,
    ): "the user must read a notification, and must not change it",
}
"""Checks that are known to fail on tasks of release 1.0.1: mapping from (sample id, check name) to the reason."""


def checks(sample: Sample) -> Iterator[Check]:
    """Yield a conversation with all right calls and required statements, then conversations that must fail."""
    criteria = criteria_of(sample.content["task"]) or Criteria(reward_basis=())
    for check in (_checks_alone if sample.content["solo"] else _checks)(criteria):
        yield msgspec.structs.replace(check, reason=KNOWN_FAILURES.get((sample.id, check.name)))


def _checks(criteria: Criteria) -> Iterator[Check]:
    actions = criteria.actions or []
    outputs = [text for text in criteria.communicate_info or [] if "COMMUNICATE" in criteria.reward_basis]
    words = "; ".join([DONE_MESSAGE, *outputs])
    yield _played(GOLD, actions, words, judge=_judged(criteria, True))
    yield Check("never ends", [assistant(words)], passes=False, user_replies=[USER_GREETING])
    if not all(action.name.startswith(READ_TOOL_PREFIXES) for action in actions):
        yield _played("no action", [], words, passes=False, judge=_judged(criteria, True))
    if not all(
        is_communicated(text, [assistant(said) for said in (GREETING, DONE_MESSAGE)]) for text in outputs
    ):
        yield _played("an output missing", actions, DONE_MESSAGE, passes=False)
    if judged := _judged(criteria, False):
        yield _played("judged otherwise", actions, words, passes=False, judge=judged)


def _checks_alone(criteria: Criteria) -> Iterator[Check]:
    """Yield the checks of a solo task, in which the agent has no user.

    In the gold conversation, the agent makes all right calls, and the text of each call contains the required
    statements.
    """
    end = tool_call(END, {})
    calls = [tool_call(action.name, action.arguments) for action in criteria.actions or []]
    words = "; ".join(criteria.communicate_info or [])
    yield Check(GOLD, [*({**call, "content": words or None} for call in calls), end])
    yield Check("talks", [assistant(DONE_MESSAGE)], passes=False)
    if not all(action.name.startswith(READ_TOOL_PREFIXES) for action in criteria.actions or []):
        yield Check("no action", [end], passes=False)


def _played(
    name: str, actions: Sequence[Action], words: str, *, passes: bool = True, judge: Sequence[str] = ()
) -> Check:
    """Return a check in which agent and user make their calls.

    Then the agent says `words`, and the user ends the conversation.

    Before each series of calls by the user, the agent asks for these calls. `judge`: the judge's scripted
    responses.
    """
    replies: list[Message] = []
    user: list[str | Message] = [USER_GREETING]
    for side, group in groupby(actions, key=lambda action: action.requestor):
        calls = [tool_call(action.name, action.arguments) for action in group]
        if side == "assistant":
            replies += calls
        else:
            replies.append(assistant("Please do this."))
            user += [*calls, "I did."]
    return Check(
        name,
        [*replies, assistant(words)],
        passes,
        user_replies=[*user, USER_GOODBYE],
        judge_replies=list(judge),
    )


def _judged(criteria: Criteria, met: bool) -> list[str]:
    """Return the judge's scripted responses to a task, with `met` as every verdict.

    Return [] if the task has no judge.
    """
    if "NL_ASSERTION" not in criteria.reward_basis or not criteria.nl_assertions:
        return []
    results = [
        {"expectedOutcome": text, "reasoning": "So it is.", "metExpectation": met}
        for text in criteria.nl_assertions
    ]
    return [json.dumps({"results": results})]
