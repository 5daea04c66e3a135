"""Offers benchmarks of the catalog through the documented interface. Their graders are the official ones."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark, BenchmarkSample, SampleResult

if TYPE_CHECKING:
    from benchwright.catalog.asking import AskOnce
    from benchwright.catalog.benchmark import About, Benchmark
    from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
    from benchwright.data.datasets import Source
    from benchwright.records import Sample


class _FromCatalog:
    """A class attribute whose value is looked up in the catalog's metadata each time it is read."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, instance: object, owner: type[CatalogBenchmark]) -> Any:
        from benchwright.catalog.registry import find_about

        return getattr(find_about(owner.name), self._field)


class CatalogBenchmark(BaseBenchmark):
    """A benchmark of the catalog, or one of its variants, with the documented interface.

    `BenchmarkRunner` runs it exactly as the catalog does. It can also be run by hand. For single-prompt
    samples, send their `messages`, and grade the response with `evaluate`. For all other samples, use
    `multi_turn`.
    """

    description: ClassVar[str] = cast("str", _FromCatalog("description"))
    tier: ClassVar[int] = cast("int", _FromCatalog("tier"))

    def __init__(self, variant: str | None = None) -> None:
        self.variant = variant
        self._data_dir = Path("data")

    @cached_property
    def about(self) -> About:
        """The catalog's metadata.

        Raises:
            UserError: If there is no such variant.
        """
        from benchwright.catalog.registry import find_about

        return find_about(self.name if self.variant is None else f"{self.name}:{self.variant}")

    @cached_property
    def benchmark(self) -> Benchmark:
        """The catalog's benchmark object.

        It searches for further data in the directory with which `source` was last called.
        """
        from benchwright.catalog.benchmark import Options
        from benchwright.catalog.registry import make_benchmark

        return make_benchmark(self.about, Options(data_dir=self._data_dir))

    @property
    def _asker(self) -> AskOnce | None:
        """The benchmark's solver if it sends a single prompt. None for any other solver."""
        from benchwright.catalog.asking import AskOnce

        solver = getattr(self.benchmark, "solver", None)
        return solver if isinstance(solver, AskOnce) else None

    def source(self, data_dir: str | Path) -> Source:
        """Return the data source, found in the same way as for the catalog.

        Raises:
            DatasetNotFound: If the data are not found. The message states how to get them.
        """
        from benchwright.data.datasets import find_dataset

        self._data_dir = Path(data_dir)
        return find_dataset(self.about.dataset, data_dir)

    async def load_dataset(
        self, data_dir: str | Path, max_samples: int | None = None
    ) -> list[BenchmarkSample]:
        """Return the samples. The metadata of each contain `content`, which grading needs, and `labels`."""
        from itertools import islice

        source = self.source(data_dir)
        samples = islice(self.benchmark.samples(source), max_samples)
        return [self._documented(sample) for sample in samples]

    def get_request_kwargs(self, sample: BenchmarkSample) -> dict[str, Any]:
        """Return the protocol's token limit and further body fields."""
        own = {} if self.about.max_tokens is None else {"max_tokens": self.about.max_tokens}
        return {**own, **self.about.params}

    async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
        """Grade an answer by the catalog's grader, and return the result.

        Raises:
            NotImplementedError: If grading takes more than one response. Use `multi_turn` in this case.
        """
        if self._asker is None:
            raise NotImplementedError(f"{self.about.full_name} is graded by multi_turn()")
        from benchwright.catalog.llm_benchmarker_api.engine_runs import (
            FixedAnswerSolver,
            SampleTask,
            run_sample,
        )

        return await run_sample(
            SampleTask(self.benchmark, [self._sample(sample)], FixedAnswerSolver(response)), {}
        )

    async def multi_turn(
        self, sample: BenchmarkSample, client: InstrumentedClient, config: BenchmarkConfig
    ) -> SampleResult:
        """Hold the conversation as the catalog's solver does, over the client's connection, and grade it.

        If the benchmark has a simulated user, the client's model plays the user, too.
        """
        from benchwright.catalog.llm_benchmarker_api.engine_runs import SampleTask, run_sample

        connection = client.connection(stream=config.run.streaming)
        task = SampleTask(self.benchmark, [self._sample(sample)])
        return await run_sample(task, {"primary": connection, "user": connection}, config, self.about)

    def _documented(self, sample: Sample) -> BenchmarkSample:
        asker = self._asker
        return BenchmarkSample(
            sample.id,
            [] if asker is None else asker.messages(sample.content),
            {"content": sample.content, "labels": sample.labels},
        )

    def _sample(self, sample: BenchmarkSample) -> Sample:
        from benchwright.records import Sample

        return Sample(sample.id, sample.metadata["content"], labels=sample.metadata["labels"])
