"""`BenchmarkRunner`: runs a benchmark with a model on the engine."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from benchwright.catalog.llm_benchmarker_api.adapter import AdaptedBenchmark, about_of
from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark, BenchmarkResult
from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
from benchwright.catalog.llm_benchmarker_api.dataset_loading import load_failure
from benchwright.catalog.llm_benchmarker_api.engine_runs import (
    EngineRun,
    ProgressCallback,
    SampleTask,
    run_task,
)
from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark
from benchwright.catalog.llm_benchmarker_api.metrics import aggregate_metrics
from benchwright.catalog.llm_benchmarker_api.registry import get_benchmark
from benchwright.catalog.llm_benchmarker_api.targets import create_client, find_documented_target
from benchwright.catalog.selection import Selection
from benchwright.catalog.task import BenchmarkTask
from benchwright.endpoint.access import Access
from benchwright.endpoint.providers import find_access
from benchwright.endpoint.server_info import read_metrics
from benchwright.engine.protocols import Task
from benchwright.errors import ProviderError
from benchwright.records import Target

logger = logging.getLogger(__name__)


class BenchmarkRunner:
    """Runs benchmarks with the model and the settings of a configuration.

    `config.run.concurrency`: the number of samples in flight at the same time. Nothing is kept on disk. For
    runs that can be interrupted and resumed, use `benchwright run`.
    """

    def __init__(self, config: BenchmarkConfig) -> None:
        self.config = config

    async def run(
        self, benchmark: BaseBenchmark | str, on_progress: ProgressCallback | None = None
    ) -> BenchmarkResult:
        """Run one benchmark, given as an object or by name, and return its result.

        `on_progress(done, total)` is called after each sample. A failed sample counts as incorrect, and its
        details state why. A systemic error of the provider stops the run early. Samples that were not tried
        by then count as failed, too.

        Raises:
            UserError: If there is no such benchmark, its data are missing or invalid, or the endpoint's
                address or key is invalid.
        """
        if isinstance(benchmark, str):
            benchmark = get_benchmark(benchmark)
        task = await self._task(benchmark)
        targets = self._targets(benchmark)
        access = find_access(Access(self.config.vllm.api_key), targets[0], logger.warning)
        client = create_client(targets[0], access, self.config)
        before = await self._scrape()
        try:
            ran = await run_task(
                task,
                targets,
                {target.slot: client for target in targets},
                self.config.run.concurrency,
                on_progress,
            )
        finally:
            client.close()
        result = _benchmark_result(benchmark.name, ran)
        after = await self._scrape()
        if before is not None and after is not None:
            from benchwright.endpoint.prometheus import counter_growth

            result.prometheus_metrics, result.prometheus_delta = after, counter_growth(before, after)
        return result

    async def _task(self, benchmark: BaseBenchmark) -> Task:
        run = self.config.run
        if isinstance(benchmark, CatalogBenchmark):
            source = benchmark.source(run.data_dir)
            return BenchmarkTask(benchmark.benchmark, source, Selection(run.max_samples))
        adapted = AdaptedBenchmark(benchmark, about_of(type(benchmark), "python"), config=self.config)
        try:
            loaded = await benchmark.load_dataset(run.data_dir, run.max_samples)
        except Exception as failure:  # a user's method may raise anything
            raise load_failure(benchmark.name, failure) from failure
        adapted.set_samples(loaded)
        return SampleTask(adapted, list(adapted.engine_samples())[: run.max_samples])

    def _targets(self, benchmark: BaseBenchmark) -> Sequence[Target]:
        """Return the model as a target. If a simulated user is needed, the same model is added in that role."""
        about = benchmark.about if isinstance(benchmark, CatalogBenchmark) else None
        target = find_documented_target(self.config, about)
        if about is None or "user" not in about.roles:
            return [target]
        return [target, Target("user", target.model, target.base_url, {"temperature": 0.0})]

    async def _scrape(self) -> str | None:
        run = self.config.run
        if not run.scrape_prometheus:
            return None
        url = run.prometheus_url
        if "prometheus_url" not in run.model_fields_set:
            url = self.config.vllm.base_url.rstrip("/").removesuffix("/v1") + "/metrics"
        try:
            return await read_metrics(url)
        except ProviderError as error:
            logger.warning("The server's metrics cannot be read: %s", error)
            return None


def _benchmark_result(name: str, ran: EngineRun) -> BenchmarkResult:
    results = ran.results
    n = len(results)
    return BenchmarkResult(
        name=name,
        num_samples=n,
        accuracy=sum(result.correct for result in results) / n if n else 0.0,
        score=sum(result.score or 0.0 for result in results) / n if n else None,
        aggregated_metrics=aggregate_metrics(ran.requests, ran.seconds),
        sample_results=results,
    )
