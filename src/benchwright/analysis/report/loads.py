"""What is drawn of a measurement under load: how times are spread at each level, and what went on in its course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from benchwright.analysis.comparison.names import letter_of
from benchwright.analysis.load.curves import LoadCurve, LoadPoint
from benchwright.analysis.load.looks import read_looks
from benchwright.analysis.load.records import LevelResult, LoadReport
from benchwright.analysis.load.requests import Requests, read_requests
from benchwright.analysis.report.records import Course, Curve, Distribution, LoadPart, Quantile, ServerMoment
from benchwright.analysis.report.times import curve
from benchwright.endpoint.watching import Look
from benchwright.home import runs_directory
from benchwright.runs.manifest import MANIFEST
from benchwright.runs.table import read_table
from benchwright.stats.arrays import Vector
from benchwright.stats.histogram import bounds, quantile

MOST_SLICES, FEWEST_SLICES, PER_SLICE = 120, 12, 5
"""Parts of equal length into which the course of a level is divided, and how many requests there are for each."""

LEAST_GAP = 1e-4
"""Seconds below which gaps are drawn together: chunks that came in one piece."""

MOST_MOMENTS = 600
"""Looks at the server's metrics that are drawn of a level."""

GAPS = "Gaps between chunks"
TTFT = "Time to first token"


def load_part(report: LoadReport) -> LoadPart:
    """What is drawn of a measurement; of levels whose runs are gone only what the report itself says.

    Of a level that was measured several times it is the first.

    Raises:
        JournalError: a run cannot be read.
    """
    ttft, gaps, courses = list[Curve](), list[Curve](), list[Course]()
    for level in report.levels:
        directory = runs_directory() / level.run
        if level.repeat > 1 or not (directory / MANIFEST).is_file():
            continue
        requests = read_requests(read_table(directory, effort=True))
        known = requests.ttft[np.isfinite(requests.ttft) & requests.ok]
        ttft += [curve(level.level.name, known)] if known.size else []
        gaps += _gaps(level, requests)
        courses += _course(level, requests, read_looks(directory))
    found = [Distribution(title, curves) for title, curves in ((TTFT, ttft), (GAPS, gaps)) if curves]
    return LoadPart(report, found, courses)


def load_curves(reports: Sequence[LoadReport]) -> list[LoadCurve]:
    """The levels of measurements, with the figures of their reports; without a steady rate they are left out.

    Of a level that was measured several times it is the first.
    """
    return [
        LoadCurve(
            letter_of(place),
            report.id,
            report.model,
            report.task,
            [
                LoadPoint(one.level, one.run, one.achieved.value, one.ttft, one.latency, one.goodput)
                for one in report.levels
                if one.achieved is not None and one.repeat == 1
            ],
        )
        for place, report in enumerate(reports)
    ]


def _gaps(level: LevelResult, requests: Requests) -> Iterator[Curve]:
    """The times between chunks with tokens, of all answers of the level together."""
    pooled = Counter[int]()
    for gaps, ok in zip(requests.gaps, requests.ok.tolist(), strict=True):
        pooled.update(gaps if ok else {})
    if not pooled:
        return
    total = pooled.total()
    ordered = sorted(pooled.items())
    shares = accumulate(count for _, count in ordered)
    points = {
        max(LEAST_GAP, bounds(one)[1] / 1e9): share / total
        for (one, _), share in zip(ordered, shares, strict=True)
    }
    quantiles = [Quantile(q, quantile(pooled, q) / 1e9) for q in (0.5, 0.95, 0.99)]
    yield Curve(level.level.name, total, list(points.items()), quantiles)


def _course(level: LevelResult, requests: Requests, looks: Sequence[Look]) -> Iterator[Course]:
    end = float(requests.end.max()) if requests.end.size else 0.0
    if end <= 0:
        return
    slices = min(MOST_SLICES, max(FEWEST_SLICES, requests.end.size // PER_SLICE))
    edges, step = np.linspace(0.0, end, slices + 1), end / slices
    counted = level.begin, level.begin + level.seconds
    yield Course(
        level=level.level,
        run=level.run,
        step=step,
        in_flight=(np.diff(request_seconds(requests, edges)) / step).tolist(),
        answers=(np.histogram(requests.end[requests.ok], edges)[0] / step).tolist(),
        latency=list(_medians(requests, edges)),
        window=counted if level.counted else None,
        server=list(_moments(looks, requests.began_at)),
    )


def request_seconds(requests: Requests, moments: Vector) -> Vector:
    """How many seconds all requests together had been under way until each moment."""

    def since(events: Vector) -> Vector:
        ordered = np.sort(events)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        before = np.searchsorted(ordered, moments)
        return np.asarray(before * moments - sums[before])

    return since(requests.start) - since(requests.end)


def _medians(requests: Requests, edges: Vector) -> Iterator[float | None]:
    """The median latency of the answered requests whose intended start is in each slice."""
    intended, latency = requests.intended[requests.ok], requests.latency[requests.ok]
    for part in np.split(latency, np.searchsorted(intended, edges[1:-1])):
        yield float(np.median(part)) if part.size else None


def _moments(looks: Sequence[Look], began_at: int) -> Iterator[ServerMoment]:
    for look in looks[:: len(looks) // MOST_MOMENTS + 1]:
        at = (look.at - began_at) / 1e9
        if at >= 0:
            yield ServerMoment(at, look.running, look.waiting, look.cache)
