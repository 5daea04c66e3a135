"""Mean scores of subsets of the trials: by label value, by prompt length, and by latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.report.columns import TrialColumns
from benchwright.analysis.report.records import Breakdown, ChartMean, ChartRow, LatencyBin, ScoreByLatency
from benchwright.analysis.scores import mean_of, mean_with_interval, score_values_of
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import numeric_statistics

MAX_CHART_ROWS = 40
MAX_CHART_DOTS = 500
MAX_BINS = 8
MIN_TRIALS_PER_BIN = 15
"""`MAX_BINS`: maximum number of latency bins.

`MIN_TRIALS_PER_BIN`: minimum number of trials in a latency bin.
"""

PROMPT_LENGTH_LABEL = "tokens of the prompt"


class TaskRun(NamedTuple):
    """One target of a run on a task, with its trials as columns.

    `label_names`: names of the labels by which means are broken down.
    """

    letter: str
    task: str
    manifest: Manifest
    table: RunTable
    columns: TrialColumns
    label_names: Sequence[str]


def chart_mean(run: TaskRun, score: str, places: NDArray[Any]) -> ChartMean:
    """Return the mean of a score over the trials at `places`, with its interval.

    If all these trials are of one cluster (such as a passage), they count as independent, and the mean is about
    this cluster alone.
    """
    found = score_values_of(run.manifest, run.table, score, run.columns.rows[places])
    if found.groups is not None and np.unique(found.groups).size == 1:
        found = found._replace(groups=None)
    return ChartMean(run.letter, len(found.values), found.trial_count, *mean_with_interval(mean_of(found)))


def mean_breakdowns(runs: Sequence[TaskRun]) -> list[Breakdown]:
    """Return a breakdown for each task, label and score. It has a row per label value, with the mean of each run."""
    tasks: dict[str, list[TaskRun]] = {}
    for run in runs:
        tasks.setdefault(run.task, []).append(run)
    return [found for task, same in tasks.items() for found in _of_task(task, same)]


def _of_task(task: str, runs: Sequence[TaskRun]) -> Iterator[Breakdown]:
    labels = dict.fromkeys(label for run in runs for label in run.label_names)
    scores = dict.fromkeys(score for run in runs for score in run.columns.scores)
    for label in [*labels, PROMPT_LENGTH_LABEL]:
        parts = [dict(_parts(run, label)) for run in runs]
        names = dict.fromkeys(sorted({name for part in parts for name in part}, key=_order))
        if len(names) < 2:
            continue
        kept = sorted(names, key=lambda name: -_count(parts, name))[:MAX_CHART_ROWS]
        for score in scores:
            rows = [ChartRow(name, list(_marks(runs, parts, name, score))) for name in names if name in kept]
            if numeric_statistics(chart_mean.mean for row in rows for chart_mean in row.marks):
                yield Breakdown(task, label, score, rows, len(names) - len(kept))


def _order(name: str) -> tuple[float, str]:
    """Return the sort key of a label value. Numbers (also with thousands separators) come before names."""
    digits = name.split("–")[0].replace(",", "")
    return (float(digits), name) if digits.isdecimal() else (float("inf"), name)


def _count(parts: Sequence[Mapping[str, NDArray[Any]]], name: str) -> int:
    return max(part[name].size for part in parts if name in part)


def _parts(run: TaskRun, label: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield each value of a label with the places of its trials."""
    if label == PROMPT_LENGTH_LABEL:
        yield from _by_length(run.columns.prompt_tokens)
        return
    found = run.columns.labels.get(label)
    if found is None:
        return
    order = np.argsort(found.codes, kind="stable")
    edges = np.searchsorted(found.codes[order], range(len(found.values) + 1))
    for code, value in enumerate(found.values):
        yield value, order[edges[code] : edges[code + 1]]


def _by_length(prompt: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield (name of a bin of prompt length, places of its trials).

    The bins are powers of two, so that they are the same for every run.
    """
    known = np.flatnonzero(prompt > 0)
    powers = np.floor(np.log2(prompt[known])).astype(int) if known.size else np.empty(0, int)
    for power in np.unique(powers).tolist():
        yield f"{2**power:,}–{2 ** (power + 1) - 1:,}", known[powers == power]


def _marks(
    runs: Sequence[TaskRun], parts: Sequence[Mapping[str, NDArray[Any]]], name: str, score: str
) -> Iterator[ChartMean]:
    for run, part in zip(runs, parts, strict=True):
        if name in part and score in run.columns.scores:
            yield chart_mean(run, score, part[name])


def scores_by_latency(run: TaskRun) -> Iterator[ScoreByLatency]:
    """Yield, for each score, its relation to the model's time, over the trials that have a score and a time."""
    for score, values in run.columns.scores.items():
        places = np.flatnonzero(~np.isnan(values) & ~np.isnan(run.columns.latency))
        if not places.size:
            continue
        some = places[_evenly(places.size, MAX_CHART_DOTS)]
        dots = [(float(run.columns.latency[one]), float(values[one])) for one in some]
        yield ScoreByLatency(run.letter, score, int(places.size), dots, list(_bins(run, score, places)))


def _bins(run: TaskRun, score: str, places: NDArray[Any]) -> Iterator[LatencyBin]:
    """Yield latency bins with about the same number of trials each, the fastest first."""
    count = min(MAX_BINS, places.size // MIN_TRIALS_PER_BIN)
    if count < 2:
        return
    ordered = places[np.argsort(run.columns.latency[places], kind="stable")]
    for part in np.array_split(ordered, count):
        latency = run.columns.latency[part]
        yield LatencyBin(float(latency[0]), float(latency[-1]), chart_mean(run, score, part))


def _evenly(n: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` evenly spread indices below n."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
