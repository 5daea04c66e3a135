"""Benchmarks put together from plain parts; most of them ask once and grade the answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from benchwright.catalog.benchmark import About, Check, Figure, Graded
from benchwright.catalog.grading import NOTES
from benchwright.data.datasets import Source
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.records import Message, Outcome, Sample, Trial


def no_figures(graded: Iterable[Graded]) -> Sequence[Figure]:
    """For benchmarks whose score says it all."""
    return ()


class PlainBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark put together from plain functions, whose solver needs nothing started; see `benchmark.Benchmark`."""

    about: About
    samples: Callable[[Source], Iterator[Sample]]
    solver: Solver
    scorers: Sequence[Scorer]
    checks: Callable[[Sample], Iterator[Check]]
    figures: Callable[[Iterable[Graded]], Sequence[Figure]] = no_figures
    departures: Sequence[str] = ()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Nothing has to be started."""
        yield self.solver


class AskOnce:
    """Builds the messages from the sample's content, asks, and takes the answer's text.

    The body fields of the protocol (temperature, stop words and the like) come with the target.
    """

    def __init__(self, messages: Callable[[Any], list[Message]]) -> None:
        self.messages = messages

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Asks once."""
        messages = self.messages(trial.sample.content)
        reply = await session.chat(messages)
        return noted_outcome(messages, reply)


def noted_outcome(messages: list[Message], reply: Reply, notes: Mapping[str, Any] | None = None) -> Outcome:
    """The outcome of a conversation that ended with a reply, which is appended to the messages.

    `notes` are what the solver has to say; they join the details of the score.
    """
    status, reason = answer_status(reply)
    artifacts = {NOTES: dict(notes)} if notes else {}
    return Outcome(status, [*messages, reply.message], reply.text, reason, artifacts=artifacts)


def context_length(tokens: int, approximate: bool) -> dict[str, Any]:
    """The note on how long a prompt was; `approximate` where its characters were counted."""
    return {"context_length": tokens} | ({"approximate": True} if approximate else {})


def turn_by_turn(texts: Sequence[str]) -> str:
    """What belongs to each turn of a conversation, as one text; that of a single turn as it is."""
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"Turn {number}: {text}" for number, text in enumerate(texts, 1))


def user(text: str) -> Message:
    """A message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """A message of the model."""
    return {"role": "assistant", "content": text}


def tool_call(name: str, arguments: dict[str, Any]) -> Message:
    """A message of the model that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{name}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}
