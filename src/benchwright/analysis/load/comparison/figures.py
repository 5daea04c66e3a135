"""The figures by which load measurements are compared at each level.

Their intervals include the variance between repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchwright.analysis.load.figure_records import FigureEstimate, TimeDistribution
from benchwright.analysis.load.records import LevelResult, LoadLevel, LoadReport
from benchwright.stats.distributions import normal_quantile
from benchwright.stats.intervals import critical_t


class ComparedFigure(NamedTuple):
    """A compared figure: its readable name, and the function `read_estimate` that returns its value for a level.

    `read_estimate` returns None if a level does not have the figure. `higher_is_better`: True for rates, False for
    times.
    """

    readable_name: str
    higher_is_better: bool
    read_estimate: Callable[[LevelResult], FigureEstimate | None]

    @property
    def is_time(self) -> bool:
        """True for a time. Times are invalid if the client was too busy."""
        return not self.higher_is_better


def _quantile(spread: str, name: str) -> Callable[[LevelResult], FigureEstimate | None]:
    def read(result: LevelResult) -> FigureEstimate | None:
        found: TimeDistribution | None = getattr(result, spread)
        return None if found is None else getattr(found, name)

    return read


COMPARED_FIGURES: Mapping[str, ComparedFigure] = {
    "achieved": ComparedFigure("answers/s", True, lambda result: result.achieved),
    "output_tokens": ComparedFigure("tokens/s", True, lambda result: result.output_tokens),
    "goodput": ComparedFigure(
        "goodput/s", True, lambda result: result.goodput.rate if result.goodput else None
    ),
    "ttft_p50": ComparedFigure("TTFT p50", False, _quantile("ttft", "p50")),
    "ttft_p99": ComparedFigure("TTFT p99", False, _quantile("ttft", "p99")),
    "latency_p50": ComparedFigure("latency p50", False, _quantile("latency", "p50")),
    "latency_p99": ComparedFigure("latency p99", False, _quantile("latency", "p99")),
    "itl_p50": ComparedFigure("per token", False, _quantile("itl", "p50")),
}
"""Mapping from the names that rules use to the compared figures."""


class LevelFigures(NamedTuple):
    """The results of one level, which was measured once or more (`results`).

    `figures`: mapping from the name of each measure in `COMPARED_FIGURES` to its estimate.
    """

    level: LoadLevel
    results: Sequence[LevelResult]
    figures: Mapping[str, FigureEstimate]


def level_figures(report: LoadReport) -> dict[str, LevelFigures]:
    """Return the results and compared figures of each level, as a mapping from the level's name.

    If a level was measured several times, a figure is the geometric mean over its measurements. Its t
    interval follows from the variance between the measurements of a level, pooled over all levels. A level
    with R measurements contributes R - 1 degrees of freedom. The variance is at least the one that the
    intervals of the single measurements imply.
    """
    groups: dict[str, list[LevelResult]] = {}
    for result in report.levels:
        if result.answered_requests:
            groups.setdefault(result.level.name, []).append(result)
    found: dict[str, dict[str, FigureEstimate]] = {name: {} for name in groups}
    for name, measure in COMPARED_FIGURES.items():
        known = {
            level: [one for run in runs if (one := measure.read_estimate(run)) is not None and one.value > 0]
            for level, runs in groups.items()
        }
        for level, estimate in _pooled(known).items():
            found[level][name] = estimate
    return {name: LevelFigures(runs[0].level, runs, found[name]) for name, runs in groups.items()}


def _pooled(known: Mapping[str, Sequence[FigureEstimate]]) -> dict[str, FigureEstimate]:
    """Combine the estimates of each level's runs into one estimate per level."""
    repeated = [np.log([one.value for one in runs]) for runs in known.values() if len(runs) > 1]
    df = sum(logs.size - 1 for logs in repeated)
    between = sum(float(logs.var(ddof=1)) * (logs.size - 1) for logs in repeated) / df if df else 0.0
    found = {}
    for level, runs in known.items():
        if len(runs) == 1:
            found[level] = runs[0]
        elif runs:
            variance = max(between, _within(runs)) / len(runs)
            middle = float(np.log([one.value for one in runs]).mean())
            half = critical_t(0.95, df) * math.sqrt(variance)
            found[level] = FigureEstimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half))
    return found


def _within(runs: Sequence[FigureEstimate]) -> float:
    """Return the mean variance of the logarithm that the intervals of single runs imply.

    It is 0 if no interval is known.
    """
    z = normal_quantile(0.975)
    halves = [
        math.log(one.high / one.low) / 2
        for one in runs
        if one.low is not None and one.high is not None and one.low > 0
    ]
    return float(np.mean([(half / z) ** 2 for half in halves])) if halves else 0.0
