"""Scripted conversations that check tau-bench's grader: for each task a right one, and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog.asking import assistant, tool_call
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.tau_bench.database import have_equal_records
from benchwright.catalog.tau_bench.domain import TRANSFER_TOOL
from benchwright.catalog.tau_bench.environment import DomainEnvironment
from benchwright.catalog.tau_bench.grading import ToolCall, replay_calls
from benchwright.catalog.tau_bench.solver import STOP_MARK
from benchwright.records import Message, Sample

USER_GREETING = "Hello, I need some help."
USER_GOODBYE = "Thank you. One more thing."

ADDRESS_FIELDS = ("address1", "address2", "city", "state", "country", "zip")

EXTRA_WRITE_CALLS: dict[str, ToolCall] = {
    "airline": ("send_certificate", {"amount": 1}),
    "retail": ("modify_user_address", dict.fromkeys(ADDRESS_FIELDS, "elsewhere")),
}
"""Mapping from a domain to a change of the user's data that no task requires."""


def checks(sample: Sample, world: DomainEnvironment) -> Iterator[Check]:
    """Yield a conversation with the gold actions and all required outputs, then conversations that must fail.

    The latter leave out or change the last write that affects the final database. (If a gold write itself
    fails, it changes nothing, so that leaving it out would be right, too.)
    """
    content = sample.content
    gold = [(action["name"], action["kwargs"]) for action in content["actions"]]
    outputs = "; ".join(["Done", *content["outputs"]])
    yield _played(GOLD, gold, outputs)
    yield Check(
        "never ends",
        [*map(_call, _untransferred(gold)), assistant(outputs)],
        False,
        user_replies=[USER_GREETING],
    )
    extra, its_arguments = EXTRA_WRITE_CALLS[content["domain"]]
    call = (extra, {"user_id": content["user_id"], **its_arguments})
    yield _wrong("an extra write", [*gold, call], outputs)
    last = _last_that_matters(gold, world)
    if last is not None:
        name, arguments = gold[last]
        yield _wrong("no action", [], outputs)
        yield _wrong("last write left out", gold[:last] + gold[last + 1 :], outputs)
        changed = (name, _with_another_value(arguments))
        yield _wrong("a wrong argument", [*gold[:last], changed, *gold[last + 1 :]], outputs)
        yield _second_of_two(gold[:last], gold[last], outputs)
    if content["outputs"]:
        yield _wrong("an output missing", gold, "Done")


def _played(name: str, calls: list[ToolCall], said: str, passes: bool = True) -> Check:
    """Return a check in which the agent makes the calls one by one, then sends the message `said`.

    The user then ends the conversation, unless the agent has transferred the user to a human.
    """
    transfer = [call for call in calls if call[0] == TRANSFER_TOOL]
    replies = [*map(_call, _untransferred(calls)), assistant(said), *map(_call, transfer[:1])]
    return Check(name, replies, passes, user_replies=[USER_GREETING, USER_GOODBYE if transfer else STOP_MARK])


def _wrong(name: str, calls: list[ToolCall], said: str) -> Check:
    return _played(name, calls, said, passes=False)


def _second_of_two(before: list[ToolCall], call: ToolCall, said: str) -> Check:
    """Return a check in which a write is the second call of a response. A second call is never executed."""
    both = _call(("think", {"thought": "Now."}))
    both["tool_calls"] += _call(call)["tool_calls"]
    replies = [*map(_call, _untransferred(before)), both, assistant(said)]
    return Check("second call of an answer", replies, False, user_replies=[USER_GREETING, STOP_MARK])


def _untransferred(calls: list[ToolCall]) -> list[ToolCall]:
    return [call for call in calls if call[0] != TRANSFER_TOOL]


def _call(call: ToolCall) -> Message:
    return tool_call(*call)


def _last_that_matters(calls: list[ToolCall], world: DomainEnvironment) -> int | None:
    """Return the index of the last call without which the final database would differ.

    Return None if there is no such call.
    """
    right = replay_calls(world, calls)
    for index in reversed(range(len(calls))):
        if not have_equal_records(right, replay_calls(world, calls[:index] + calls[index + 1 :])):
            return index
    return None


def _with_another_value(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with the value of the last argument changed."""
    name, value = list(arguments.items())[-1]
    return arguments | {name: value + "0" if isinstance(value, str) else [] if isinstance(value, list) else 7}
