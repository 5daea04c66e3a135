"""The interfaces of the engine: those that a kind of task implements, and those that the engine provides to
it.

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
from benchwright.engine.agent_requests import AgentAccess
from benchwright.records import Message, Outcome, Record, Sample, Status, Target, TaskSpec, Trial
from benchwright.runs.keys import SampleContent
from benchwright.runs.manifest import JudgeInfo

PREPARE_SECONDS = 1.0
"""Seconds before a trial is due at which its solver may prepare it."""


class ScheduledTurn(Record, frozen=True):
    """A request with an intended start of its own, one of several in a trial.

    `number`: its index in the trial. `due`: its intended start (`perf_counter_ns`); it is not sent earlier.
    `sent`: messages (or their JSON) to send instead of the messages that are passed to `chat` and stored in
    the journal; used for messages generated from a seed.
    """

    number: int
    due: int
    sent: list[Message] | msgspec.Raw | None = None


class Session(Protocol):
    """The interface through which a solver or scorer acts.

    Every call is metered, recorded and subject to the trial's limits.
    """

    @property
    def target(self) -> Target:
        """The target (a model and its endpoint) that the trial evaluates."""
        ...

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        role: str = "model",
        slot: str | None = None,
        turn: ScheduledTurn | None = None,
        **params: Any,
    ) -> Reply:
        """Send a request to /chat/completions and return the response.

        `slot` names another target of the run (`judge`, `user`); the default is the trial's own target.
        `turn` is for requests that have an intended start. `params` are body fields that override the
        target's settings; None removes a setting.

        Raises:
            ProviderError: If the endpoint failed, after retries.
            LimitReached: If the trial's turns, tokens or seconds are used up.
        """
        ...

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        """Send a prompt to /completions and return the response.

        Parameters and errors are those of `chat`.
        """
        ...

    async def count_tokens(self, text: str) -> int | None:
        """Return the number of tokens of a text for the trial's target.

        None if its server does not count tokens.
        """
        ...

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        """Let an agent that makes its own calls reach the trial's target, while the context is open.

        The agent gets a base URL and a token instead of the API key. `names` are the target's names in the
        agent's list of models, if they differ from the target's own name. A call beyond a limit is refused
        with HTTP 400 and an error object whose code names the limit; `AgentAccess.failure` then holds the
        error.
        """
        ...

    def progress(self, text: str) -> None:
        """Display `text` as what the trial is doing at the moment."""
        ...


class TimedSession(Session, Protocol):
    """A trial's session, extended for solvers that send their requests by a schedule."""

    @property
    def actual_start(self) -> int:
        """The trial's start (`perf_counter_ns`), final once its first request has left."""
        ...

    @property
    def intended_start(self) -> int:
        """The trial's intended start (`perf_counter_ns`), or its actual start if it has none."""
        ...

    @property
    def last_start(self) -> int | None:
        """The moment (`perf_counter_ns`) from which no further turn may begin. None if there is no limit."""
        ...


class EmbeddingSession(Session, Protocol):
    """A trial's session, extended for solvers that compare texts by embeddings."""

    async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
        """Return the embedding vectors of texts, in order, from /embeddings of another target.

        The call is not recorded.

        Raises:
            ProviderError: If the endpoint failed, after retries.
        """
        ...


class Score(Record, frozen=True):
    """The result of a scorer: a value, or None with the status `unparsed` if no answer was found.

    `span`: the part of the answer that was scored. `explanation`: the reason for the score, for human
    readers.
    """

    value: float | None
    status: Status = Status.SCORED
    span: str | None = None
    detail: Mapping[str, Any] | None = None
    explanation: str | None = None


class Scorer(Protocol):
    """Turns an outcome into a named score.

    `fingerprint` must change whenever the same answer could get another score, that is, with the code, the
    options, the judge or its prompt.
    """

    @property
    def name(self) -> str:
        """The name of the score in summaries."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest that identifies the rule by which the scorer scores."""
        ...

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Score one outcome. Any exception becomes a grader error of this score only."""
        ...


@runtime_checkable
class JudgingScorer(Scorer, Protocol):
    """A scorer that lets the run's target `judge` grade answers."""

    @property
    def judging(self) -> JudgeInfo:
        """The judge's prompt digest and settings."""
        ...


class Solver(Protocol):
    """Turns a trial into an outcome. Any exception becomes the trial's status."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Solve one trial and return its outcome."""
        ...


@runtime_checkable
class PreparingSolver(Solver, Protocol):
    """A solver that can prepare trials in advance, so that they begin exactly when they are due."""

    async def prepare(self, trial: Trial) -> None:
        """Prepare a trial.

        The engine calls this `PREPARE_SECONDS` seconds before the trial is due. Errors of the trial must not
        be raised here, but in `solve`.
        """
        ...


class Task(Protocol):
    """A kind of evaluation: yields samples, solves them, and scores the outcomes."""

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint of the task."""
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers applied to every outcome, each under its own name."""
        ...

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in order, read as they are needed."""
        ...

    def size(self) -> int:
        """Return the number of samples, after reading and checking them all.

        Raises:
            UserError: If a sample is invalid.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start the processes or databases that the solver needs; end them on exit.

        Called once per worker process.
        """
        ...


@runtime_checkable
class RecurringTask(Task, Protocol):
    """A task whose samples recur. Their content, which may be long, is encoded only once."""

    def encoded_samples(self) -> Iterator[tuple[Sample, SampleContent]]:
        """Yield the samples, each with its encoded content."""
        ...
