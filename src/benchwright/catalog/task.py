"""A benchmark as a task of the engine: which of its samples are tried, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import islice

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.errors import UserError
from benchwright.records import Record, Sample, TaskSpec
from benchwright.runs.keys import fingerprint
from benchwright.suggest import did_you_mean


class Selection(Record, frozen=True):
    """Which samples: those whose labels are as in `where`, shuffled by the seed `shuffle`, `limit` at most."""

    limit: int | None = None
    where: Mapping[str, str] = {}
    shuffle: int | None = None


class BenchmarkTask:
    """The task: the selected samples of a benchmark, asked and graded as it says.

    `options` are those that were given; they are part of what makes two conversations the same.
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
        self._spec = TaskSpec(
            name=about.full_name,
            version=about.version,
            fingerprint=fingerprint(
                "benchmark", about.full_name, about.version, sorted((options or {}).items())
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
        selection = self._selection
        samples: Iterator[Sample] = map(
            self._grouped, filter(self._wanted, self.benchmark.samples(self._source))
        )
        if selection.shuffle is not None:
            import random

            shuffled = list(samples)
            random.Random(selection.shuffle).shuffle(shuffled)
            samples = iter(shuffled)
        return islice(samples, selection.limit)

    def size(self) -> int:
        """The number of selected samples; reads and checks them.

        Raises:
            UserError: no sample is as `where` says.
        """
        size = sum(1 for _ in self.samples())
        if not size:
            raise UserError(self._why_none())
        return size

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Starts what the benchmark needs."""
        return self.benchmark.open()

    def _wanted(self, sample: Sample) -> bool:
        where = self._selection.where
        return not where or all(sample.labels.get(name) == value for name, value in where.items())

    def _grouped(self, sample: Sample) -> Sample:
        cluster = self.benchmark.about.cluster
        if cluster is None or sample.group is not None:
            return sample
        return msgspec.structs.replace(sample, group=sample.labels.get(cluster))

    def _why_none(self) -> str:
        name = self.benchmark.about.full_name
        values: dict[str, set[str]] = {}
        for sample in self.benchmark.samples(self._source):
            for label, value in sample.labels.items():
                values.setdefault(label, set()).add(value)
        if not values:
            return f"{name} has no samples in {self._source.root}."
        for label, wanted in self._selection.where.items():
            if label not in values:
                return f"The samples of {name} have no {label!r}; they have: {', '.join(sorted(values))}."
            if wanted not in values[label]:
                return f"No sample of {name} has {label}={wanted}.{did_you_mean(wanted, values[label])}"
        return f"No sample of {name} matches all --where filters."
