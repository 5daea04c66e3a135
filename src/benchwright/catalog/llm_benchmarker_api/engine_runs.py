"""Runs documented benchmarks on the engine, with a temporary journal. Results are only in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchwright.catalog.benchmark import About, Benchmark
from benchwright.catalog.llm_benchmarker_api.base import SampleResult
from benchwright.catalog.llm_benchmarker_api.metrics import RequestMetrics
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.embedded_run import run_embedded
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Scorer, Session, Solver, Task
from benchwright.engine.worker import ScoredWork
from benchwright.records import Outcome, Record, RequestRecord, Sample, Target, TaskSpec, Trial
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig

ProgressCallback = Callable[[int, int], None]


class EngineRun(Record, frozen=True):
    """The result of a run: the samples' results in order, the model's requests, and the duration in seconds.

    `stop_reason`: the reason why the run ended early; None if it did not.
    """

    results: list[SampleResult]
    requests: list[RequestRecord]
    seconds: float
    stop_reason: str | None


class SampleTask:
    """A task of samples that are already in memory.

    `solver`: replaces the benchmark's own solver; None to use the benchmark's own.
    """

    def __init__(self, benchmark: Benchmark, samples: Sequence[Sample], solver: Solver | None = None) -> None:
        about = benchmark.about
        self.spec = TaskSpec(about.full_name, about.version, "samples in memory", group_by=about.cluster)
        self.scorers: Sequence[Scorer] = benchmark.scorers[:1]
        self._benchmark = benchmark
        self._samples = samples
        self._solver = solver

    def samples(self) -> Iterator[Sample]:
        """Return the samples."""
        return iter(self._samples)

    def size(self) -> int:
        """Return the number of samples."""
        return len(self._samples)

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start whatever the solver needs, and yield the solver. On exit, stop what was started."""
        return self._benchmark.open() if self._solver is None else _as_it_is(self._solver)


@asynccontextmanager
async def _as_it_is(solver: Solver) -> AsyncIterator[Solver]:
    yield solver


class FixedAnswerSolver:
    """A solver that returns a given answer without sending a request."""

    def __init__(self, response: str) -> None:
        self._response = response

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Return the answer."""
        return Outcome(messages=[{"role": "assistant", "content": self._response}], answer=self._response)


async def run_task(
    task: Task,
    targets: Sequence[Target],
    clients: Mapping[str, ModelClient],
    concurrency: int = 1,
    on_progress: ProgressCallback | None = None,
) -> EngineRun:
    """Run a task on the first target, and return the result.

    Solvers and scorers can send requests to the other targets, by the names of their slots. After a systemic
    error of the provider, trials that have not begun are not run, but every sample still has a result.

    Raises:
        UserError: If a sample cannot be read, or a scorer needs a target that is missing.
    """
    plan = Plan(task, task.size(), targets[:1], helper_targets=targets[1:])

    def tell(done: int, total: int, result: ScoredWork) -> None:
        if on_progress is not None:
            on_progress(done, total)

    with TemporaryDirectory(prefix="benchwright-") as directory:
        ended = await run_embedded(plan, clients, concurrency, Path(directory), tell)
        return _collected(task, Path(directory), ended.seconds, ended.stop_reason)


async def run_sample(
    task: SampleTask,
    clients: Mapping[str, ModelClient],
    config: BenchmarkConfig | None = None,
    about: About | None = None,
) -> SampleResult:
    """Run a task of one sample, and return the sample's result. If the sample failed, the details state why."""
    target = Target("primary", "", "")
    if config is not None:
        from benchwright.catalog.llm_benchmarker_api.targets import find_documented_target

        target = find_documented_target(config, about)
    user = Target("user", target.model, target.base_url, {"temperature": 0.0})
    (result,) = (await run_task(task, [target, user], clients)).results
    return result


def _collected(task: Task, directory: Path, seconds: float, stop_reason: str | None) -> EngineRun:
    scorer = task.scorers[0].name
    requests: list[RequestRecord] = []
    results: list[SampleResult] = []
    table = RunTable(directory, [scorer], effort=True)
    table.read_journal()
    for trial in table.read_trials(table.rows_in_start_order(table.counted_rows())):
        own = [request for request in trial.record.requests if request.role == "model"]
        requests += own
        results.append(_result(trial, scorer, own))
    if stop_reason is not None:
        known = {result.id for result in results}
        results += [
            SampleResult(sample.id, correct=False, score=0.0, details={"error": f"not tried: {stop_reason}"})
            for sample in task.samples()
            if sample.id not in known
        ]
    return EngineRun(results, requests, seconds, stop_reason)


def _result(trial: ScoredTrial, scorer: str, requests: Sequence[RequestRecord]) -> SampleResult:
    record, score = trial.record, trial.scores.get(scorer)
    detail = dict(score.detail or {}) if score is not None else {"error": record.reason or str(record.status)}
    return SampleResult(
        id=record.sample,
        correct=bool(detail.pop("correct", False)),
        score=0.0 if score is None or score.value is None else score.value,
        predicted=None if score is None else score.span,
        expected=detail.pop("expected", None),
        details=detail,
        metrics=RequestMetrics.of(requests[-1]) if requests else None,
    )
