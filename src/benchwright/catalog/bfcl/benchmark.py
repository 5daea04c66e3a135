"""BFCL put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, Graded, Options
from benchwright.catalog.bfcl.categories import CATEGORIES, wanted_categories
from benchwright.catalog.bfcl.checks import checks
from benchwright.catalog.bfcl.execution import Executor
from benchwright.catalog.bfcl.figures import figures
from benchwright.catalog.bfcl.grading import BfclScorer
from benchwright.catalog.bfcl.multi_turn import Converse
from benchwright.catalog.bfcl.rows import Executables, samples
from benchwright.catalog.bfcl.solver import AskCalls, Mode
from benchwright.catalog.bfcl.source_calls import parser_of
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.records import Outcome, Sample, Trial


def make(about: About, options: Options) -> Benchmark:
    """The variant that `about` describes."""
    wanted = wanted_categories(options.text("categories"))
    if about.variant == "documented":
        from benchwright.catalog.bfcl.documented import DocumentedBfcl

        return DocumentedBfcl(about, wanted)
    mode: Mode = "prompt" if options.choice("mode", ("tools", "prompt")) == "prompt" else "tools"
    return Bfcl(about, wanted, mode)


class Bfcl:
    """BFCL by the official rules; see `benchmark.Benchmark`."""

    def __init__(self, about: About, wanted: frozenset[str], mode: Mode) -> None:
        self.about = about
        self.departures: Sequence[str] = ()
        self._wanted = wanted
        self._mode = mode
        self._executables = Executables()
        self._executor = Executor(self._executables)
        self.scorers: Sequence[Scorer] = (BfclScorer(about.metric, mode, self._executor),)

    def samples(self, source: Source) -> Iterator[Sample]:
        """The tasks of the wanted categories.

        Raises:
            UserError: answers in Java or JavaScript text cannot be parsed here; says what to install.
            DatasetError: as `rows.samples`.
        """
        for sample in samples(source, self._wanted, self._executables):
            language = CATEGORIES[sample.content["category"]].language
            if self._mode == "prompt" and language != "python":
                parser_of(language)
            yield sample

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Each multi-turn conversation starts a sandbox for itself; the one for judging them is ended here."""
        try:
            yield BfclSolver(self._mode, self._executor)
        finally:
            await self._executor.close()

    def checks(self, sample: Sample) -> Iterator[Check]:
        """The gold answer to a sample, and decoys."""
        return checks(self._mode, sample)

    def figures(self, graded: Iterable[Graded]) -> Sequence[Figure]:
        """Categories, groups, and the weighted mean of what is there."""
        return figures(graded)


class BfclSolver:
    """Asks once, or in turns, as the task is."""

    def __init__(self, mode: Mode, executor: Executor) -> None:
        self._once = AskCalls(mode)
        self._in_turns = Converse(mode, executor)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Runs one trial."""
        if CATEGORIES[trial.sample.content["category"]].kind == "multi_turn":
            return await self._in_turns.converse(trial, session)
        return await self._once.ask(trial, session)
