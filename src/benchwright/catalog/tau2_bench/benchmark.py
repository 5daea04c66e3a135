"""tau2-bench put together, and pass^k."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, Graded, Options
from benchwright.catalog.judging import judge_departures
from benchwright.catalog.tau2_bench.about import (
    DOMAINS,
    EVALUATED,
    OFFICIAL_RETRIEVAL,
    RETRIEVALS,
    SPLITS,
)
from benchwright.catalog.tau2_bench.checks import checks
from benchwright.catalog.tau2_bench.grading import OFFICIAL_JUDGE, JudgedRewardScorer, RewardScorer
from benchwright.catalog.tau2_bench.rows import samples
from benchwright.catalog.tau2_bench.solver import Agent
from benchwright.catalog.tau2_bench.world import Files, Worlds
from benchwright.catalog.tau_bench.benchmark import OWN_USER, reliability
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.errors import UserError
from benchwright.records import Sample
from benchwright.suggest import did_you_mean

JUDGED = ("retail", "banking_knowledge")
"""The domains that have tasks with a judge."""

NO_JUDGE = "no judge (--option judge_model=…): the model judges itself in 40 tasks of retail"


def make(about: About, options: Options) -> Benchmark:
    """The benchmark.

    Raises:
        UserError: an option has a value that is none of its choices.
    """
    return Tau2Bench(about, options)


class Tau2Bench:
    """See `benchmark.Benchmark`. Where the tasks are read from, there are databases and code, too."""

    def __init__(self, about: About, options: Options) -> None:
        self.about = about
        self._domains = chosen_domains(options.text("domain"))
        self._split = options.choice("split", SPLITS)
        self._retrieval = options.choice("retrieval", RETRIEVALS)
        self._files = Files()
        self._user = options.text("user_model") if "user" in options.roles else "the model itself"
        self.departures = tuple(self._departures(options))
        self.scorers: Sequence[Scorer] = (self._scorer(options),)

    def samples(self, source: Source) -> Iterator[Sample]:
        """One sample per task of the chosen domains and split."""
        return samples(source, self._domains, self._split, self._retrieval, self._files)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Each conversation starts a sandbox for itself."""
        yield Agent(Worlds(self._files))

    def checks(self, sample: Sample) -> Iterator[Check]:
        """The right calls, and decoys."""
        return checks(sample)

    def figures(self, graded: Iterable[Graded]) -> Sequence[Figure]:
        """pass^k over all tasks and by domain, with the model that played the user."""
        different = f"; not comparable: {'; '.join(self.departures)}" if self.departures else ""
        return reliability(graded, f"user played by {self._user}{different}")

    def _scorer(self, options: Options) -> Scorer:
        if not set(JUDGED) & set(self._domains):
            return RewardScorer(self.about.metric)
        separate = "judge" in options.roles
        judge = options.text("judge_model") if separate else ""
        return JudgedRewardScorer(self.about.metric, judge, "judge" if separate else None)

    def _departures(self, options: Options) -> Iterator[str]:
        if "user" not in options.roles:
            yield OWN_USER
        if "retail" in self._domains:
            yield from judge_departures(options, OFFICIAL_JUDGE, NO_JUDGE)
        if self._split != SPLITS[0]:
            yield f"the tasks of {self._split} in place of {SPLITS[0]}"
        if "banking_knowledge" in self._domains:
            yield f"documents are found by {self._retrieval} in place of {OFFICIAL_RETRIEVAL}, which needs a service"


def chosen_domains(given: str) -> tuple[str, ...]:
    """The domains named with commas between, in the order of the catalog; those of the published mean without any.

    Raises:
        UserError: one is unknown.
    """
    named = [name.strip() for name in given.split(",") if name.strip()] or list(EVALUATED)
    for name in named:
        if name not in DOMAINS:
            known = ", ".join(DOMAINS)
            raise UserError(
                f"tau2_bench has no domain {name!r}.{did_you_mean(name, DOMAINS)} Choose from: {known}."
            )
    return tuple(domain for domain in DOMAINS if domain in named)
