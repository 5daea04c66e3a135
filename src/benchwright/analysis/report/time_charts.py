"""Distributions of request times for charts, and the trials of a waterfall chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from benchwright.analysis.report.columns import TrialColumns
from benchwright.analysis.report.records import (
    DistributionChart,
    DistributionCurve,
    Quantile,
    TimedTrial,
    TrialSegment,
)
from benchwright.records import RequestRecord
from benchwright.runs.attempts import ScoredTrial
from benchwright.stats.arrays import Vector
from benchwright.stats.percentiles import cumulative_points, percentile, percentile_interval

CHART_TITLES = {"ttft": "Time to first token", "latency": "Latency of a request"}
QUANTILES = (0.5, 0.95, 0.99)
MAX_CURVE_POINTS = 200
MAX_EVENLY_SPREAD_TRIALS = 40
MAX_SLOWEST_TRIALS = 20


def time_distributions(times: Mapping[str, Mapping[str, Vector]]) -> list[DistributionChart]:
    """Return the distributions of `ttft` and `latency`.

    `times`: {letter of the run: {kind of time: seconds}}.
    """
    found = []
    for metric, title in CHART_TITLES.items():
        curves = [
            _curve(letter, of_run[metric])
            for letter, of_run in times.items()
            if metric in of_run and of_run[metric].size
        ]
        if curves:
            found.append(DistributionChart(title, curves))
    return found


def _curve(letter: str, seconds: Vector) -> DistributionCurve:
    quantiles = [_quantile(seconds, q) for q in QUANTILES]
    return DistributionCurve(
        letter, int(seconds.size), cumulative_points(seconds, MAX_CURVE_POINTS), quantiles
    )


def _quantile(seconds: Vector, q: float) -> Quantile:
    low, high = (end if math.isfinite(end) else None for end in percentile_interval(seconds, q))
    return Quantile(q, percentile(seconds, q), low, high)


def evenly_spread_trials(columns: TrialColumns) -> list[int]:
    """Return the places of trials that are spread evenly over the run. They are in order of start."""
    timed = np.flatnonzero(~np.isnan(columns.latency))
    if not timed.size:
        return []
    some = np.unique(
        np.linspace(0, timed.size - 1, min(timed.size, MAX_EVENLY_SPREAD_TRIALS)).round().astype(int)
    )
    chosen: list[int] = timed[some].tolist()
    return chosen


def slowest_trials(columns: TrialColumns) -> list[int]:
    """Return the places of the slowest trials. The slowest comes first.

    Return an empty list if `evenly_spread_trials` already shows all trials.
    """
    timed = np.flatnonzero(~np.isnan(columns.latency))
    if timed.size <= MAX_EVENLY_SPREAD_TRIALS:
        return []
    order = np.argsort(-columns.duration_ns[timed], kind="stable")[:MAX_SLOWEST_TRIALS]
    chosen: list[int] = timed[order].tolist()
    return chosen


def timed_trial(trial: ScoredTrial, first: int) -> TimedTrial:
    """Return a trial with its periods for a waterfall. `first`: the start of the run's first trial, in ns."""
    record = trial.record
    own = [request for request in record.requests if request.role == "model"]
    return TimedTrial(
        sample=record.sample,
        repeat=record.repeat,
        start_seconds=(record.started_at - first) / 1e9,
        length=max([record.duration, *(request.started + request.total for request in own)]) / 1e9,
        segments=[segment for request in own for segment in _segments(request)],
    )


def _segments(request: RequestRecord) -> Iterator[TrialSegment]:
    began = request.started / 1e9
    connect, waited = request.connect / 1e9, request.waited / 1e9
    if waited > 0.001:
        yield TrialSegment("waited", max(0.0, began - connect - waited), waited)
    if connect:
        yield TrialSegment("connect", max(0.0, began - connect), connect)
    if request.ttft is None:
        yield TrialSegment("answer", began, request.total / 1e9)
        return
    yield TrialSegment("first token", began, request.ttft / 1e9)
    yield TrialSegment("generation", began + request.ttft / 1e9, (request.total - request.ttft) / 1e9)
