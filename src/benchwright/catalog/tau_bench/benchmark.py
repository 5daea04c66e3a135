"""Assembly of tau-bench from options, samples, solver and scorer. Figures of tau-bench (pass^k)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.repeat_figures import figures_over_repeats
from benchwright.catalog.tau_bench.checks import checks
from benchwright.catalog.tau_bench.documented_variant import (
    SequenceScorer,
    SimulatedToolsSolver,
    sequence_checks,
)
from benchwright.catalog.tau_bench.environment import DOMAINS, DomainEnvironments
from benchwright.catalog.tau_bench.grading import RewardScorer
from benchwright.catalog.tau_bench.rows import samples
from benchwright.catalog.tau_bench.solver import TauSolver
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample

OWN_USER_DEPARTURE = "the model plays the simulated user itself (set another with --option user_model=…)"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes.

    Raises:
        UserError: If an option has a value that is not one of its choices.
    """
    return TauBench(about, options)


class TauBench:
    """The tau-bench benchmark, and its variant as llm-benchmarker documents it; see `benchmark.Benchmark`.

    The databases are read from the same source as the tasks.
    """

    def __init__(self, about: About, options: Options) -> None:
        self.about = about
        self._documented = about.variant == "documented"
        self._domain = options.choice("domain", ("all", *DOMAINS))
        self._split = options.choice("split", list(about.dataset.splits))
        self._worlds = DomainEnvironments()
        self.departures = tuple(_departures(about, options, self._split))
        self.scorers: Sequence[Scorer] = (
            SequenceScorer(about.metric) if self._documented else RewardScorer(about.metric, self._worlds),
        )

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield one sample per task of the chosen split and domain."""
        return samples(source, self._split, self._domain, self._worlds)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. It needs no server or sandbox to be started."""
        yield SimulatedToolsSolver(self._worlds) if self._documented else TauSolver(self._worlds)

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield scripted conversations that check the grader: a right conversation, and others that must fail."""
        if self._documented:
            return sequence_checks(sample)
        return checks(sample, self._worlds[sample.content["domain"]])

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return pass^k over all tasks and per domain."""
        note = f"not comparable: {'; '.join(self.departures)}" if self.departures else None
        return pass_hat_k_figures(graded, note)


def _departures(about: About, options: Options, split: str) -> Iterator[str]:
    if "user" in about.roles and "user" not in options.roles:
        yield OWN_USER_DEPARTURE
    if split != about.dataset.evaluated_split:
        yield f"the tasks of {split} in place of {about.dataset.evaluated_split}"


def pass_hat_k_figures(graded: Iterable[GradedTrial], note: str | None = None) -> Sequence[Figure]:
    """Return pass^1 to pass^n over all tasks. If there are several domains, return them also for each domain.

    n is the largest number of tries at a task. pass^k is the mean of C(c, k) / C(n, k) over the tasks with at
    least k tries, where c of the n tries at a task succeeded. A try without a score counts as a failure (Yao
    et al. 2024, section 4). `note` is added to the figures.
    """
    tries: dict[str, dict[str, list[bool]]] = {}
    for one in graded:
        of_domain = tries.setdefault(one.labels.get("domain", ""), {})
        of_domain.setdefault(one.sample, []).append(one.value == 1.0)
    everything = [task for of_domain in tries.values() for task in of_domain.values()]
    figures = _figures("", everything, note)
    for domain, of_domain in sorted(tries.items()) if len(tries) > 1 else ():
        figures += _figures(f"{domain} ", list(of_domain.values()), note)
    return figures


def _figures(start: str, tasks: list[list[bool]], note: str | None) -> list[Figure]:
    from benchwright.stats.passk import pass_hat_k

    most = max(map(len, tasks), default=0)
    counts = [(len(task), sum(task)) for task in tasks]
    return figures_over_repeats(counts, range(1, most + 1), pass_hat_k, f"{start}pass^{{}}", note)
