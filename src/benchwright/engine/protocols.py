"""The interfaces of the engine.

They are the interfaces that a kind of task implements, and those that the engine provides to a task. Nothing
here has behaviour. A task (an eval over a dataset, a benchmark, a bench pack) implements `Task`, `Solver` and
`Scorer`. The engine gives solvers and scorers a `Session`, through which they act.
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

PREPARATION_LEAD_SECONDS = 1.0
"""Number of seconds before a trial is due at which its solver is called to prepare the trial."""


class ScheduledTurn(Record, frozen=True):
    """A request of a trial that has its own intended start.

    `number`: the request's index in the trial. `due_ns`: its intended start (`perf_counter_ns`); it is not sent
    earlier. `sent_messages`: messages (or their JSON) that are sent instead of the messages passed to `chat`, while the
    journal stores the latter. It is used for messages generated from a seed.
    """

    number: int
    due_ns: int
    sent_messages: list[Message] | msgspec.Raw | None = None


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

        `slot` names another target of the run (`judge`, `user`); the default is the trial's own target. `turn`
        is given if the request has its own intended start. `params` are body fields that override the target's
        settings; None removes a setting.

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

        Return None if the target's server does not count tokens.
        """
        ...

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        """Let an agent that makes its own calls reach the trial's target, while the context is open.

        The agent gets a base URL and a token instead of the API key. `names` are the names of the target in the
        agent's list of models, if they differ from the target's own name. A call beyond a limit is refused with
        HTTP 400 and an error object whose code names the limit; `AgentAccess.failure` then holds the error.
        """
        ...

    def progress(self, text: str) -> None:
        """Display `text` as the present activity of the trial."""
        ...


class TimedSession(Session, Protocol):
    """A trial's session, extended for solvers that send their requests by a schedule."""

    @property
    def actual_start(self) -> int:
        """The trial's start (`perf_counter_ns`). It may still change until the trial's first request has left."""
        ...

    @property
    def intended_start(self) -> int:
        """The trial's intended start (`perf_counter_ns`). If it has none, its actual start."""
        ...

    @property
    def last_start(self) -> int | None:
        """The moment (`perf_counter_ns`) from which no further turn may begin. None if there is no limit."""
        ...


class EmbeddingSession(Session, Protocol):
    """A trial's session, extended for solvers that compare texts by embeddings."""

    async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
        """Return the embedding vectors of texts, in order, from /embeddings of the target in `slot`.

        The call is not recorded.

        Raises:
            ProviderError: If the endpoint failed, after retries.
        """
        ...


class Score(Record, frozen=True):
    """The result of a scorer: a value, or None with the status `unparsed` if no answer was found.

    `span`: the passage of the answer that was scored. `explanation`: the reason for the score, for human
    readers.
    """

    value: float | None
    status: Status = Status.SCORED
    span: str | None = None
    detail: Mapping[str, Any] | None = None
    explanation: str | None = None


class Scorer(Protocol):
    """Turns an outcome into a named score.

    `fingerprint` must change whenever the same answer could get another score. So it must depend on the code,
    the options, the judge and the judge's prompt.
    """

    @property
    def name(self) -> str:
        """The name of the score in summaries."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest of everything that determines how the scorer scores."""
        ...

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Score one outcome. If this raises an exception, this score alone becomes a grader error."""
        ...


@runtime_checkable
class JudgingScorer(Scorer, Protocol):
    """A scorer that lets the run's target `judge` grade answers."""

    @property
    def judge_info(self) -> JudgeInfo:
        """The judge's prompt digest and settings."""
        ...


class Solver(Protocol):
    """Turns a trial into an outcome.

    If the solver raises an exception, the exception determines the trial's status.
    """

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Solve one trial and return its outcome."""
        ...


@runtime_checkable
class PreparingSolver(Solver, Protocol):
    """A solver that can prepare trials in advance, so that they begin exactly when they are due."""

    async def prepare(self, trial: Trial) -> None:
        """Prepare a trial.

        The engine calls this `PREPARATION_LEAD_SECONDS` seconds before the trial is due. An error of the trial must not
        be raised here, but in `solve`.
        """
        ...


class Task(Protocol):
    """A kind of evaluation. It yields samples, solves them, and scores the outcomes."""

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint of the task."""
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers applied to every outcome, each under its own name."""
        ...

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in order. They are read as they are needed."""
        ...

    def size(self) -> int:
        """Return the number of samples, after reading and checking all of them.

        Raises:
            UserError: If a sample is invalid.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start the processes or databases that the solver needs, and yield the solver. End them on exit.

        It is called once per worker process.
        """
        ...


@runtime_checkable
class RecurringTask(Task, Protocol):
    """A task that yields the same samples again and again.

    The content of a sample may be long, so it is encoded only once.
    """

    def encoded_samples(self) -> Iterator[tuple[Sample, SampleContent]]:
        """Yield the samples, each with its encoded content."""
        ...
