"""Builds the BFCL benchmarks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.bfcl.categories import (
    CATEGORIES,
    MEMORY_CLASSES,
    VECTOR_MEMORY_CATEGORY,
    parse_categories,
)
from benchwright.catalog.bfcl.checks import checks
from benchwright.catalog.bfcl.encoder import EmbeddingModel, find_model
from benchwright.catalog.bfcl.execution import Executor
from benchwright.catalog.bfcl.figures import figures
from benchwright.catalog.bfcl.grading import BfclScorer
from benchwright.catalog.bfcl.memory import Memories, MemorySolver
from benchwright.catalog.bfcl.memory_rows import Conversations, memory_samples
from benchwright.catalog.bfcl.multi_turn import MultiTurnSolver
from benchwright.catalog.bfcl.rows import ClassSources, samples
from benchwright.catalog.bfcl.solver import CallMode, SingleTurnSolver
from benchwright.catalog.bfcl.source_calls import create_parser
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.records import Outcome, Sample, Trial, TrialRecord
from benchwright.runs.journal import TrialBody


def make(about: About, options: Options) -> Benchmark:
    """Build the variant of BFCL that `about` describes.

    Raises:
        UserError: If the category memory_vector is selected, but its libraries or model are missing. The
            message states how to get them.
    """
    wanted = parse_categories(options.text("categories"))
    if about.variant == "documented":
        from benchwright.catalog.bfcl.documented_variant import DocumentedBfcl

        return DocumentedBfcl(about, wanted)
    mode: CallMode = "prompt" if options.choice("mode", ("tools", "prompt")) == "prompt" else "tools"
    if mode == "prompt":
        needs = tuple(need for need in about.needs if need != "tools")
        about = msgspec.structs.replace(about, needs=needs)
    return Bfcl(
        about, wanted, mode, find_model(options.data_dir) if VECTOR_MEMORY_CATEGORY in wanted else None
    )


class Bfcl:
    """BFCL by the official rules. Implements `benchmark.Benchmark`."""

    def __init__(
        self, about: About, wanted: frozenset[str], mode: CallMode, model: EmbeddingModel | None
    ) -> None:
        self.about = about
        self.departures: Sequence[str] = model.departures if model else ()
        self._wanted = wanted
        self._mode = mode
        self._executables = ClassSources()
        self._executor = Executor(self._executables, model.directory if model else None)
        self._model_digest = model.digest if model else None
        self._conversations = Conversations()
        self._memories = Memories()
        self.scorers: Sequence[Scorer] = (BfclScorer(about.metric, mode, self._executor),)

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield the tasks of the selected categories.

        Raises:
            UserError: If answers in Java or JavaScript cannot be parsed, because a library is missing. The
                message names it.
            DatasetError: If data are missing, or a row is invalid.
        """
        for sample in samples(source, self._wanted, self._executables):
            language = CATEGORIES[sample.content["category"]].language
            if self._mode == "prompt" and language != "python":
                create_parser(language)
            yield sample
        if with_memory := [name for name in MEMORY_CLASSES if name in self._wanted]:
            yield from memory_samples(
                source, with_memory, self._executables, self._conversations, self._model_digest
            )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. On exit, stop the sandbox that judges conversations, and the one that embeds texts.

        Each multi-turn conversation starts a sandbox of its own.

        Raises:
            UserError: If the category memory_vector is selected, and its model cannot be loaded.
        """
        with_memory = MemorySolver(self._mode, self._executor, self._conversations, self._memories)
        try:
            await self._executor.load_model()
            yield BfclSolver(self._mode, self._executor, with_memory)
        finally:
            await self._executor.close()

    @property
    def is_stateful(self) -> bool:
        """True if questions depend on the memory that earlier trials of the run have filled."""
        return not self._wanted.isdisjoint(MEMORY_CLASSES)

    def restore_state(self, trials: Iterable[TrialRecord], read: Callable[[TrialRecord], TrialBody]) -> None:
        """Load the memories that the earlier trials of a resumed run have filled."""
        self._memories.restore_memories(self._conversations, trials, read)

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield the gold answer to a sample, and decoys (wrong answers)."""
        return checks(self._mode, sample)

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return the scores of categories and leaderboard groups, and their weighted mean."""
        return figures(graded)


class BfclSolver:
    """A solver that sends one request, or holds a conversation of several turns if the task has several."""

    def __init__(self, mode: CallMode, executor: Executor, with_memory: MemorySolver) -> None:
        self._once = SingleTurnSolver(mode)
        self._in_turns = MultiTurnSolver(mode, executor)
        self._with_memory = with_memory

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run one trial, and return its outcome."""
        kind = CATEGORIES[trial.sample.content["category"]].check_kind
        if kind == "multi_turn":
            return await self._in_turns.converse(trial, session)
        if kind == "memory":
            return await self._with_memory.ask(trial, session)
        return await self._once.ask(trial, session)
