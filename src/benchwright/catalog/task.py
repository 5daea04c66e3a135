"""A benchmark as a task of the engine: which of its samples are tried, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.selection import Selection, count_selected, selected
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample, TaskSpec
from benchwright.runs.keys import fingerprint
from benchwright.runs.sources import users_source


class BenchmarkTask:
    """The task: the selected samples of a benchmark, asked and graded as it says.

    `options` are those that were given; they are part of what makes two conversations the same. So is the code of a
    benchmark that a user wrote.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        source: Source,
        selection: Selection = Selection(),  # noqa: B008  # frozen
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.benchmark = benchmark
        self._source = source
        self._selection = selection
        about = benchmark.about
        code = users_source(benchmark)
        self._spec = TaskSpec(
            name=about.full_name,
            version=about.version,
            fingerprint=fingerprint(
                "benchmark",
                about.full_name,
                about.version,
                sorted((options or {}).items()),
                *([] if code is None else [code]),
            ),
            group_by=about.cluster,
        )

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint."""
        return self._spec

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The benchmark's scorers."""
        return self.benchmark.scorers

    def samples(self) -> Iterator[Sample]:
        """The selected samples; read as they are needed, unless they are shuffled."""
        return map(self._grouped, selected(self.benchmark, self._source, self._selection))

    def size(self) -> int:
        """The number of selected samples; reads and checks them.

        Raises:
            UserError: there are none, or the selection names what no sample has.
        """
        return count_selected(self.benchmark, self._source, self._selection)

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Starts what the benchmark needs."""
        return self.benchmark.open()

    def _grouped(self, sample: Sample) -> Sample:
        cluster = self.benchmark.about.cluster
        if cluster is None or sample.group is not None:
            return sample
        return msgspec.structs.replace(sample, group=sample.labels.get(cluster))
