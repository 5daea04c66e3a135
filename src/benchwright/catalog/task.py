"""Wraps a benchmark as a task of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.selection import Selection, count_selected, select_samples
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample, TaskSpec
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import user_source_fingerprint


class BenchmarkTask:
    """A task of the engine: the selected samples of a benchmark, solved and scored by its protocol.

    `options`: the options that the user set. The task's fingerprint includes them, and the code of a user's
    benchmark. Results are reused only between tasks with the same fingerprint.
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
        code = user_source_fingerprint(benchmark)
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
        """Name, version and fingerprint of the task."""
        return self._spec

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The benchmark's scorers."""
        return self.benchmark.scorers

    def samples(self) -> Iterator[Sample]:
        """Return the selected samples.

        Each row is read only when its sample is requested, unless the samples are shuffled.
        """
        return map(self._grouped, select_samples(self.benchmark, self._source, self._selection))

    def size(self) -> int:
        """Return the number of selected samples, after reading and checking them all.

        Raises:
            UserError: If no sample is selected, or the selection names an id, label or value that no sample
                has.
        """
        return count_selected(self.benchmark, self._source, self._selection)

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start whatever the benchmark's solver needs, and yield the solver. On exit, stop what was started."""
        return self.benchmark.open()

    def _grouped(self, sample: Sample) -> Sample:
        cluster = self.benchmark.about.cluster
        if cluster is None or sample.group is not None:
            return sample
        return msgspec.structs.replace(sample, group=sample.labels.get(cluster))
