"""tau-bench's reward: 1 if the final database is right and every required output was sent (envs/base.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.tau_bench.database import Database, have_equal_records
from benchwright.catalog.tau_bench.domain import TRANSFER_TOOL
from benchwright.catalog.tau_bench.environment import DomainEnvironment, DomainEnvironments
from benchwright.catalog.tau_bench.solver import STOP_MARK
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.engine.protocols import Score, Session
from benchwright.records import Message, Outcome, Sample
from benchwright.runs.keys import fingerprint

ToolCall = tuple[str, dict[str, Any]]
"""A tool's name and its arguments."""


class RewardScorer:
    """Scorer of a conversation by its messages: the agent's calls are replayed on a fresh database."""

    def __init__(self, name: str, worlds: DomainEnvironments) -> None:
        self.name = name
        self.fingerprint = fingerprint("tau_bench reward", name, "1")
        self._worlds = worlds

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the reward, 0 or 1."""
        world = self._worlds[sample.content["domain"]]
        return verdict_score(grade(world, sample.content, outcome.messages))


def grade(world: DomainEnvironment, content: dict[str, Any], messages: Sequence[Message]) -> Verdict:
    """Return 1 if the conversation ended, the databases are equal and every required output was sent; else 0.

    An output counts as sent if a message to the user contains it, ignoring case and the commas in the
    message.
    """
    calls = find_executed_calls(messages)
    expected = [(action["name"], action["kwargs"]) for action in content["actions"]]
    ended = find_ending_side(messages)
    right_state = have_equal_records(replay_calls(world, calls), replay_calls(world, expected))
    said = [text.lower().replace(",", "") for text in texts_to_user(messages)]
    outputs = {output: any(output.lower() in text for text in said) for output in content["outputs"]}
    right = ended is not None and right_state and all(outputs.values())
    return Verdict(
        float(right),
        predicted=", ".join(name for name, _ in calls),
        expected=", ".join(name for name, _ in expected),
        details={
            "domain": content["domain"],
            "database": right_state,
            "outputs": outputs,
            "ended": ended,
            "steps": sum(message["role"] == "assistant" for message in messages),
        },
        explanation=_told(ended, right_state, outputs),
    )


def _told(ended: str | None, right_state: bool, outputs: dict[str, bool]) -> str:
    wrong = [] if ended else ["The conversation never ended."]
    wrong += [] if right_state else ["The database is not as it should be."]
    wrong += [f"The user was never told {output!r}." for output, said in outputs.items() if not said]
    return " ".join(wrong) or "The database is right, and everything required was said."


def find_executed_calls(messages: Iterable[Message]) -> list[ToolCall]:
    """Return the agent's executed tool calls in order. Of several calls in one response, only the first is executed."""
    calls = [message["tool_calls"][0] for message in messages if message.get("tool_calls")]
    return [
        (call["function"]["name"], read_object_arguments(call["function"]["arguments"], lenient=True) or {})
        for call in calls
    ]


def texts_to_user(messages: Iterable[Message]) -> list[str]:
    """Return the texts that the agent sent to the user: the texts of its responses without a tool call."""
    return [
        message.get("content") or ""
        for message in messages
        if message["role"] == "assistant" and not message.get("tool_calls")
    ]


def find_ending_side(messages: Sequence[Message]) -> str | None:
    """Return who ended the conversation: `user` or `transfer`. Return None if it never ended."""
    last = messages[-1]
    if last["role"] == "tool" and last["name"] == TRANSFER_TOOL:
        return "transfer"
    answered = any(message["role"] == "assistant" for message in messages)
    return "user" if answered and last["role"] == "user" and STOP_MARK in last["content"] else None


def replay_calls(world: DomainEnvironment, calls: Iterable[ToolCall]) -> Database:
    """Return the database after these calls. The calls start from the database's initial state.

    Calls that only read are skipped.
    """
    database = world.new_database()
    for name, arguments in calls:
        if name in world.domain.write_tools:
            world.domain.call(database, name, arguments)
    return database
