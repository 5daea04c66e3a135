"""A benchmark in containers, and the containers of its run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.asking import no_figures
from benchwright.catalog.benchmark import About, Check, Figure, Graded
from benchwright.data.datasets import Source
from benchwright.engine.current import current_run
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample
from benchwright.sandbox.docker import DockerSandboxes, Engine, connected, remove_leftovers


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


class Containers:
    """The engine of a run, and the sandboxes that are started on it."""

    def __init__(self, engine: Engine, run_id: str, at_once: int) -> None:
        self.engine = engine
        self.run_id = run_id
        self.sandboxes = DockerSandboxes(engine, run_id, at_once=at_once)


@asynccontextmanager
async def containers(at_once: int) -> AsyncIterator[Containers]:
    """Connects to the engine, and removes what dead processes of this user left there.

    Raises:
        EngineUnavailable: there is no engine that can be used; says how to get one.
    """
    async with connected() as engine:
        await remove_leftovers(engine)
        yield Containers(engine, current_run(), at_once)
