"""The variant tau_bench of llm-benchmarker: tool results are simulated, and tool names are graded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.catalog.asking import assistant, system, user
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.tau_bench.environment import DomainEnvironments
from benchwright.engine.protocols import Score, Session
from benchwright.engine.tool_loop import run_tool_loop
from benchwright.records import Message, Outcome, Sample, Trial
from benchwright.runs.keys import fingerprint

MAX_TURNS = 20


class SimulatedToolbox:
    """A toolbox in which every call succeeds without doing anything."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        self.tools = tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Return the result that llm-benchmarker documents for every call."""
        return json.dumps({"status": "success", "result": f"Executed {name}"})


class SimulatedToolsSolver:
    """Solver that sends the whole task at once and lets the model call simulated tools until it answers."""

    def __init__(self, worlds: DomainEnvironments) -> None:
        self._worlds = worlds

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Let the model call tools for at most 20 turns, and return the outcome."""
        content = trial.sample.content
        world = self._worlds[content["domain"]]
        messages = [system(world.policy_text), user(content["instruction"])]
        return await run_tool_loop(session, messages, SimulatedToolbox(world.tool_schemas), MAX_TURNS)


class SequenceScorer:
    """Scorer that compares the names of the called tools, in order, with those of the task's actions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("tau_bench sequence", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the names of the called tools are those of the task's actions, in order; else 0."""
        return verdict_score(grade_sequence(sample.content, outcome.messages))


def grade_sequence(content: dict[str, Any], messages: Iterable[Message]) -> Verdict:
    """Return 1 if the called tools have the same names in the same order as the task's actions, else 0."""
    called = [call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()]
    expected = _expected(content)
    return Verdict(
        float(called == expected),
        predicted=", ".join(called),
        expected=", ".join(expected),
        details={"domain": content["domain"], "actions": called},
    )


def sequence_checks(sample: Sample) -> Iterator[Check]:
    """Yield checks of the grader: the right sequence of calls, and sequences with one call more or less."""
    names = _expected(sample.content)
    if len(names) < MAX_TURNS:
        yield Check(GOLD, _replies(names))
    else:
        yield Check(GOLD, [_calls(names), assistant("Done.")])
    yield Check("a call too many", [_calls([*names, "think"]), assistant("Done.")], passes=False)
    if names:
        yield Check("the last call left out", _replies(names[:-1]), passes=False)


def _expected(content: dict[str, Any]) -> list[str]:
    return [action["name"] for action in content["actions"]]


def _replies(names: list[str]) -> list[Message]:
    return [*(_calls([name]) for name in names), assistant("Done.")]


def _calls(names: list[str]) -> Message:
    calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for number, name in enumerate(names)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}
