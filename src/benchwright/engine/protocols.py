"""The seams of the engine: what a kind of task implements, and what it is given.

Nothing here has behaviour. A task (an eval over a dataset, a benchmark, a bench pack) implements `Task`,
`Solver` and `Scorer`; the engine gives solvers and scorers a `Session` to act with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

import msgspec

from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.relayed import RelayedCalls
from benchwright.records import Message, Outcome, Record, Sample, Status, Target, TaskSpec, Trial
from benchwright.runs.keys import SampleContent
from benchwright.runs.manifest import JudgeInfo

PREPARED_BEFORE = 1.0
"""Seconds before a trial is due at which a solver may prepare it."""


class Turn(Record, frozen=True):
    """What a solver tells of a request that is one of several it sends at moments of their own.

    `number` is its place among them, `due` its intended start (`perf_counter_ns`), before which it is not sent. `sent`
    is sent in place of the messages, which the journal holds: messages that are made from a seed, or their JSON.
    """

    number: int
    due: int
    sent: list[Message] | msgspec.Raw | None = None


class Session(Protocol):
    """What a solver or scorer acts with. Every call is metered, recorded and held to the trial's limits."""

    @property
    def target(self) -> Target:
        """The target of the trial."""
        ...

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        role: str = "model",
        slot: str | None = None,
        turn: Turn | None = None,
        **params: Any,
    ) -> Reply:
        """Asks /chat/completions and returns the answer.

        `slot` names another target of the run (`judge`, `user`); by default the trial's own is asked.
        `turn` is for requests that have intended starts of their own.
        `params` are body fields that override the target's settings; None leaves a setting out.

        Raises:
            ProviderError: the endpoint failed, after retries.
            LimitReached: the trial's turns, tokens or seconds are used up.
        """
        ...

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        """Asks /completions; otherwise like `chat`."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """The number of tokens of a text for the trial's target, None where its server does not count."""
        ...

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[RelayedCalls]:
        """Lets an agent that makes its calls on its own ask the trial's target, while the context lasts.

        The agent gets a base URL and a token instead of the key; `names` are what the list of models there calls the
        target, if not by its own name. A call beyond a limit is refused with HTTP
        400 and an error object whose code names the limit; `failure` tells of it.
        """
        ...

    def progress(self, text: str) -> None:
        """Shows what the trial is doing."""
        ...


class TimedSession(Session, Protocol):
    """The session of a trial that the engine runs, as a solver sees it that keeps to moments."""

    @property
    def origin(self) -> int:
        """The trial's start (`perf_counter_ns`), known once its first request has left."""
        ...

    @property
    def intended(self) -> int:
        """The trial's intended start (`perf_counter_ns`): when it began, where it has none."""
        ...

    @property
    def last_start(self) -> int | None:
        """The moment (`perf_counter_ns`) from which no further turn may begin; None without a limit."""
        ...


class EmbeddingSession(Session, Protocol):
    """The session of a trial that the engine runs, as a solver sees it that compares texts by their embeddings."""

    async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
        """The vectors of texts, in their order, from /embeddings of another target of the run; not recorded.

        Raises:
            ProviderError: the endpoint failed, after retries.
        """
        ...


class Score(Record, frozen=True):
    """What a scorer returns: a value, or `unparsed` with None.

    `span` is the part of the answer that it took, `explanation` why it scored so, for a person to read.
    """

    value: float | None
    status: Status = Status.SCORED
    span: str | None = None
    detail: Mapping[str, Any] | None = None
    explanation: str | None = None


class Scorer(Protocol):
    """Turns an outcome into a named score.

    `fingerprint` changes whenever the same answer could get another score: code, options, judge and prompt.
    """

    @property
    def name(self) -> str:
        """The name of the score in summaries."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identity of the scoring rule."""
        ...

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Scores one outcome. Whatever it raises becomes a grader error of this one score."""
        ...


@runtime_checkable
class JudgingScorer(Scorer, Protocol):
    """A scorer that has the run's target `judge` say what an answer is worth."""

    @property
    def judging(self) -> JudgeInfo:
        """How the judge is asked."""
        ...


class Solver(Protocol):
    """Turns a trial into an outcome. Whatever it raises becomes the trial's status."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Runs one trial."""
        ...


@runtime_checkable
class PreparingSolver(Solver, Protocol):
    """A solver that makes ready what takes time, so that trials can begin when they are due."""

    async def prepare(self, trial: Trial) -> None:
        """Is called `PREPARED_BEFORE` seconds before a trial is due; must raise nothing that is of the trial."""
        ...


class Task(Protocol):
    """Yields samples, solves them, scores the outcomes."""

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint."""
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers applied to every outcome, each under its own name."""
        ...

    def samples(self) -> Iterator[Sample]:
        """The samples in order, read as they are needed."""
        ...

    def size(self) -> int:
        """The number of samples; reads and checks them all.

        Raises:
            UserError: a sample is not as it should be.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Starts what the solver needs (processes, databases) and ends it; once per worker."""
        ...


@runtime_checkable
class RecurringTask(Task, Protocol):
    """A task of which samples come again: what they ask is encoded once, as it may be long."""

    def contents(self) -> Iterator[tuple[Sample, SampleContent]]:
        """The samples, each with its content."""
        ...
