"""Benchmarks built from plain functions. Most of them send one request per sample and grade the response."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from benchwright.catalog.benchmark import About, Check, Figure, GradedTrial
from benchwright.catalog.grading import NOTES_ARTIFACT
from benchwright.data.datasets import Source
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.records import Message, Outcome, Sample, Trial


def no_figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return no figures, for benchmarks that report only a score."""
    return ()


class PlainBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A `benchmark.Benchmark` made of plain functions. Its solver needs no server or sandbox."""

    about: About
    samples: Callable[[Source], Iterator[Sample]]
    solver: Solver
    scorers: Sequence[Scorer]
    checks: Callable[[Sample], Iterator[Check]]
    figures: Callable[[Iterable[GradedTrial]], Sequence[Figure]] = no_figures
    departures: Sequence[str] = ()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. No server or sandbox has to be started."""
        yield self.solver


class AskOnce:
    """A solver that sends one request per trial, with messages built from the sample's content.

    The answer is the text of the response. The session adds the protocol's request parameters, such as
    temperature and stop words.
    """

    def __init__(self, messages: Callable[[Any], list[Message]]) -> None:
        self.messages = messages

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send one request and return its outcome."""
        messages = self.messages(trial.sample.content)
        reply = await session.chat(messages)
        return outcome_with_notes(messages, reply)


def outcome_with_notes(
    messages: list[Message], reply: Reply, notes: Mapping[str, Any] | None = None
) -> Outcome:
    """Return the outcome of a conversation that ended with `reply`. Append the reply's message to `messages`.

    `notes`: facts that the solver adds to the score's details.
    """
    status, reason = answer_status(reply)
    artifacts = {NOTES_ARTIFACT: dict(notes)} if notes else {}
    return Outcome(status, [*messages, reply.message], reply.text, reason, artifacts=artifacts)


def context_length_detail(tokens: int, approximate: bool) -> dict[str, Any]:
    """Return a score detail that states the length of a prompt in tokens.

    `approximate`: True if the length was estimated from the number of characters.
    """
    return {"context_length": tokens} | ({"approximate": True} if approximate else {})


def join_turns(texts: Sequence[str]) -> str:
    """Join one text per turn of a conversation into one text, in which each turn has its number.

    A single text is returned unchanged.
    """
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"Turn {number}: {text}" for number, text in enumerate(texts, 1))


def user(text: str) -> Message:
    """Build a user message."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """Build a message of the model."""
    return {"role": "assistant", "content": text}


def tool_call(name: str, arguments: dict[str, Any]) -> Message:
    """Build a message of the model with one tool call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{name}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def system(text: str) -> Message:
    """Build a system message."""
    return {"role": "system", "content": text}
