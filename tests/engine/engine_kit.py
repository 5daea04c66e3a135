"""What the tests of the engine share: a task made of plain functions, and running a plan of it to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.journals import read_lines

from benchwright.endpoint.client import EndpointClient
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Score, Scorer, Session
from benchwright.engine.run import RunListener, RunResult, run
from benchwright.engine.stop_rules import StopRule
from benchwright.errors import ProviderError
from benchwright.records import (
    JournalLine,
    Outcome,
    Record,
    RunEvent,
    Sample,
    ScoreRecord,
    Target,
    TaskSpec,
    Trial,
    TrialLimits,
    TrialRecord,
)
from benchwright.runs.journal import Journal
from benchwright.runs.table import RunTable

TARGET = Target("primary", "model", "http://127.0.0.1:9/v1")

Solve = Callable[[Trial, Session], Awaitable[Outcome]]


async def answer(trial: Trial, session: Session) -> Outcome:
    """The plainest solver: answers with the sample's content and asks nobody."""
    return Outcome(answer=str(trial.sample.content))


def samples(count: int) -> list[Sample]:
    """Samples whose content is their number."""
    return [Sample(str(number), number) for number in range(count)]


class FunctionScorer:
    """A scorer made of a function from sample and outcome to a Score."""

    def __init__(
        self, function: Callable[[Sample, Outcome], Score], name: str = "score", fingerprint: str = "1"
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._function = function

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        return self._function(sample, outcome)


def always(value: float, name: str = "score", fingerprint: str = "1") -> FunctionScorer:
    """A scorer that gives every outcome the same value."""
    return FunctionScorer(lambda sample, outcome: Score(value), name, fingerprint)


class FunctionTask:
    """A task made of samples, one function that solves them, and scorers."""

    def __init__(
        self,
        rows: Iterable[Sample],
        solve: Solve = answer,
        scorers: Sequence[Scorer] = (),
        fingerprint: str = "solver 1",
    ) -> None:
        self._rows = rows
        self._solve = solve
        self.scorers = scorers
        self.spec = TaskSpec("test", "1", fingerprint)

    def samples(self) -> Iterator[Sample]:
        return iter(self._rows)

    def size(self) -> int:
        return sum(1 for _ in self._rows)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[FunctionTask]:
        yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        return await self._solve(trial, session)


def plan_of(
    rows: Sequence[Sample] | int,
    solve: Solve = answer,
    scorers: Sequence[Scorer] = (),
    *,
    fingerprint: str = "solver 1",
    targets: Sequence[Target] = (TARGET,),
    repeats: int = 1,
    limits: TrialLimits | None = None,
) -> Plan:
    """A plan over these samples, or over so many of them."""
    rows = samples(rows) if isinstance(rows, int) else rows
    task = FunctionTask(rows, solve, scorers, fingerprint)
    return Plan(task, len(rows), targets, repeats=repeats, limits=limits or TrialLimits())


async def run_plan(
    plan: Plan,
    directory: Path,
    *,
    concurrency: int = 4,
    rules: Sequence[StopRule] = (),
    listeners: Sequence[RunListener] = (),
    clients: Mapping[str, EndpointClient] | None = None,
) -> RunResult:
    """One session of a run, journalled in `directory`."""
    journal = Journal(directory)
    try:
        return await run(plan, LocalExecutor(clients or {}, concurrency), journal, rules, listeners)
    finally:
        journal.close()


class Journalled(Record, frozen=True):
    """The lines of a journal, by kind, in the order of writing."""

    trials: list[TrialRecord]
    scores: list[ScoreRecord]
    events: list[RunEvent]

    @property
    def trial(self) -> TrialRecord:
        """The only trial."""
        (trial,) = self.trials
        return trial

    @property
    def score(self) -> ScoreRecord:
        """The only score."""
        (score,) = self.scores
        return score


def journalled(directory: Path) -> Journalled:
    """Reads what a run's journal holds."""
    lines = list(read_lines(directory))
    return Journalled(
        [line for line in lines if isinstance(line, TrialRecord)],
        [line for line in lines if isinstance(line, ScoreRecord)],
        [line for line in lines if isinstance(line, RunEvent)],
    )


def table_of(lines: Iterable[JournalLine], *scorers: str) -> RunTable:
    """The table of a journal with these lines."""
    table = RunTable(Path("nowhere"), scorers)
    for offset, line in enumerate(lines, 1):
        table.add_record(line, offset)
    return table


def table_in(directory: Path, *scorers: str) -> RunTable:
    """The table of the journal in a directory."""
    table = RunTable(directory, scorers)
    table.read_journal()
    return table


class Asked:
    """A solver that counts how often each sample was asked; `failing` ones meet a provider error."""

    def __init__(self, failing: Callable[[Trial], bool] = lambda trial: False) -> None:
        self.samples: list[str] = []
        self.failing = failing

    async def __call__(self, trial: Trial, session: Session) -> Outcome:
        self.samples.append(trial.sample.id)
        if self.failing(trial):
            raise ProviderError("the endpoint answered HTTP 500", http_status=500)
        return await answer(trial, session)
