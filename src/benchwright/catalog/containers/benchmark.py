"""A benchmark in containers, put together from plain parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.asking import no_figures
from benchwright.catalog.benchmark import About, Check, Figure, Graded
from benchwright.catalog.containers.opened import Containers, containers
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample


class ContainerBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """See `benchmark.Benchmark`; `solver` is made when the engine is connected, `at_once` bounds containers."""

    about: About
    samples: Callable[[Source], Iterator[Sample]]
    solver: Callable[[Containers], Solver]
    scorers: Sequence[Scorer]
    checks: Callable[[Sample], Iterator[Check]]
    at_once: int
    figures: Callable[[Iterable[Graded]], Sequence[Figure]] = no_figures
    departures: Sequence[str] = ()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Connects to the engine."""
        async with containers(self.at_once) as opened:
            yield self.solver(opened)
