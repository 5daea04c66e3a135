"""Data for plots of a load measurement: distributions of times, and the timeline of each level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.measurement_windows import FoundWindow
from benchwright.analysis.load.records import LoadReport
from benchwright.analysis.load.requests import LevelRequests
from benchwright.analysis.load.timeline import LevelTimeline, timeline_of
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.records import Record
from benchwright.stats import histogram
from benchwright.stats.percentiles import cumulative_points

MAX_POINTS = 160

DistributionPoints = list[tuple[float, float]]
"""Points of a cumulative distribution: (seconds, share of the values that are not larger). Both numbers rise."""


class LevelDetail(Record, frozen=True):
    """Data of a level's plots: the distribution of its TTFT, the distribution of the gaps between chunks, and
    its timeline.

    The distributions cover the same requests as the figures of the level's `LevelResult`. They are empty if
    nothing is known.
    """

    run: str
    ttft: DistributionPoints = []
    gaps: DistributionPoints = []
    course: LevelTimeline | None = None


class DetailedLoad(Record, frozen=True):
    """A measurement with the data of its plots.

    `details` is empty if the measurement was read from a file of `load -o`, because the data are read from
    journals.
    """

    report: LoadReport
    details: list[LevelDetail] = []


def level_detail_of(
    run: str,
    requests: LevelRequests,
    found: FoundWindow | None,
    figures: WindowFigures | None,
    looks: Sequence[ServerMetrics],
) -> LevelDetail:
    """Return the detail of a level. `figures` are the figures of its window."""
    ttft = np.empty(0) if figures is None else figures.known_values("ttft")
    gaps = None if figures is None else figures.pooled_chunk_gaps
    return LevelDetail(
        run=run,
        ttft=cumulative_points(ttft, MAX_POINTS) if ttft.size else [],
        gaps=[(ns / 1e9, share) for ns, share in histogram.cumulative_points(gaps)] if gaps else [],
        course=timeline_of(requests, found, looks),
    )
