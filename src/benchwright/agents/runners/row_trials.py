"""Executes runs of rows in memory, as a plan of the engine.

Each run borrows a runner from the pool of its model, so that no two runs use the same client at once. Nothing
is kept: the journal is in a temporary directory, and the results are returned to the caller.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, NamedTuple, Protocol, TypeVar

from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.datasets import DatasetRow
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.embedded_run import run_embedded
from benchwright.engine.error_boundary import ends_the_run
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Scorer, Session
from benchwright.engine.worker import ScoredWork
from benchwright.records import Outcome, Sample, Status, Target, TaskSpec, Trial


class Runner(Protocol):
    """An object that executes one run at a time, with its own client."""

    @property
    def llm_client(self) -> object:
        """The client with which the runner sends requests to the model."""
        ...


RunnerType = TypeVar("RunnerType", bound=Runner)


class RowTrial(NamedTuple, Generic[RunnerType]):
    """One run of one row with one model.

    `model_tag`: the key of the run's model in the pools (see `RunnerPools`); None if there is only one model.
    """

    row: DatasetRow
    row_index: int
    run_index: int
    model_tag: str | None
    runner: RunnerType


class RunOutcome(Protocol):
    """The fields of a run's result that this module uses."""

    success: bool
    error: str | None


OutcomeType = TypeVar("OutcomeType", bound=RunOutcome)

RunnerPools = Mapping[str, Sequence[RunnerType]]
"""Mapping from each model to its runners, in the order of the models. Each concurrent run needs a runner."""


class RowResults(NamedTuple, Generic[OutcomeType]):
    """The results, ordered by row, model and run. `stop_reason`: why some runs were not made; None if all were made."""

    results: list[OutcomeType]
    duration_ms: float
    stop_reason: str | None


async def run_rows(
    rows: Sequence[DatasetRow],
    pools: RunnerPools[RunnerType],
    attempt: Callable[[RowTrial[RunnerType]], Awaitable[OutcomeType]],
    failed: Callable[[RowTrial[RunnerType], BaseException], OutcomeType],
    *,
    n_runs: int = 1,
    start_index: int = 0,
    on_progress: Callable[[int, int, OutcomeType], None] | None = None,
) -> RowResults[OutcomeType]:
    """Run every row `n_runs` times with every model, and return the results.

    Row indexes begin at `start_index`. `failed`: a function that returns the result of an attempt that raised
    an error. `on_progress(current, total, result)` is called after each attempt. After a systemic provider
    error, no further attempts begin.

    Raises:
        UserError: If a client's settings are unusable.
    """
    task = _Rows(rows, start_index, pools, attempt, failed)
    plan = Plan(task, len(rows), [Target(slot, slot, "") for slot in pools], repeats=n_runs)
    concurrency = min(map(len, pools.values()))

    def tell(done: int, total: int, result: ScoredWork) -> None:
        if on_progress is not None:
            on_progress(done, total, task.results[_Place.of(result.trial)])

    with TemporaryDirectory(prefix="benchwright-") as directory:
        ended = await run_embedded(plan, task.connections(), concurrency, Path(directory), tell)
    order = list(pools)
    places = sorted(
        task.results, key=lambda place: (place.row_index, order.index(place.slot), place.run_index)
    )
    return RowResults(
        [task.results[place] for place in places],
        ended.seconds * 1000,
        ended.stop_reason if len(places) < plan.trial_count else None,
    )


class _Place(NamedTuple):
    row_index: int
    slot: str
    run_index: int

    @classmethod
    def of(cls, trial: Trial) -> _Place:
        return cls(trial.sample.row_index, trial.target.slot, trial.repeat)


class _Rows(Generic[RunnerType, OutcomeType]):
    """The engine task of the runs. It is also its own solver."""

    spec = TaskSpec("rows", "1", "rows in memory")
    scorers: Sequence[Scorer] = ()

    def __init__(
        self,
        rows: Sequence[DatasetRow],
        start_index: int,
        pools: RunnerPools[RunnerType],
        attempt: Callable[[RowTrial[RunnerType]], Awaitable[OutcomeType]],
        failed: Callable[[RowTrial[RunnerType], BaseException], OutcomeType],
    ) -> None:
        self.results: dict[_Place, OutcomeType] = {}
        self._rows = rows
        self._start_index = start_index
        self._idle = {
            slot: {f"{slot}-{number}": runner for number, runner in enumerate(runners)}
            for slot, runners in pools.items()
        }
        self._attempt = attempt
        self._failed = failed

    def connections(self) -> Mapping[str, ModelClient]:
        """Return the connections of the clients by slot (the id of the model in sessions)."""
        return {
            name: runner.llm_client.get_connection()
            for runners in self._idle.values()
            for name, runner in runners.items()
            if isinstance(runner.llm_client, ExternalLLMClient)
        }

    def samples(self) -> Iterator[Sample]:
        for index in range(self._start_index, self._start_index + len(self._rows)):
            yield Sample(str(index), index)

    def size(self) -> int:
        return len(self._rows)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[_Rows[RunnerType, OutcomeType]]:
        yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        place = _Place.of(trial)
        idle = self._idle[place.slot]
        name, runner = idle.popitem()
        row = self._rows[place.row_index - self._start_index]
        tag = place.slot if len(self._idle) > 1 else None
        row_run = RowTrial(row, place.row_index, place.run_index, tag, runner)
        client = runner.llm_client
        try:
            with (
                client.use_session(session, name) if isinstance(client, ExternalLLMClient) else nullcontext()
            ):
                result = await self._attempt(row_run)
        except BaseException as error:
            if not ends_the_run(error):
                self.results[place] = self._failed(row_run, error)
            raise
        finally:
            idle[name] = runner
        self.results[place] = result
        return Outcome(Status.ANSWERED if result.success else Status.EXECUTION_ERROR, reason=result.error)
