"""Charts of one run, made from the columns of its trials: means by label, times, scores against times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from benchwright.analysis.report.records import (
    Curve,
    Distribution,
    LatencyBin,
    Mark,
    Quantile,
    Row,
    ScoreByLatency,
)
from benchwright.records import FAILED
from benchwright.reports.html.charts.means import means
from benchwright.reports.html.charts.times import distribution, score_by_latency
from benchwright.web.trial_index import STATUSES, TrialIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

MOST_BARS = 30
MOST_LABELS = 6
CURVE_POINTS = 200
DOTS = 1200
BINS = 8
FEWEST = 20
"""Trials that a plot of times needs to say anything."""


class Chart(NamedTuple):
    """A drawing, and what is said above it."""

    title: str
    drawing: Markup


class Breakdown(NamedTuple):
    """Means of the first score by the values of a label, as bars and as figures."""

    label: str
    drawing: Markup
    rows: list[Row]
    left_out: int


class TargetTrials:
    """The columns of one target, copied with the index's lock held; what is made of them needs no lock."""

    def __init__(self, index: TrialIndex, target: str) -> None:
        import numpy as np

        own = np.frombuffer(bytes(index.target), np.uint8) == (
            index.targets.index(target) if target in index.targets else 255
        )
        status = np.frombuffer(bytes(index.status), np.uint8)
        failed = np.isin(status, [STATUSES.index(one) for one in FAILED])
        self.score = index.scorers[0] if index.scorers else ""
        self.samples = list(index.samples)
        self.numbers = np.flatnonzero(own)
        self.answered = own & ~failed
        self.latency = np.array(index.latency, np.float64)
        self.ttft = np.array(index.ttft, np.float64)
        self.value = np.array(index.values[self.score]) if self.score else np.full(len(status), math.nan)
        self.labels = dict(_labels(index))


def _labels(index: TrialIndex) -> Iterator[tuple[str, tuple[list[str], Numbers]]]:
    """By label, its values and the number of every trial's among them, -1 of one that has none."""
    import numpy as np

    of_trial = np.array(index.labels, np.int64)
    names = dict.fromkeys(name for named in index.label_sets for name in named)
    codes_seen = []
    for name in names:
        values = sorted({named[name] for named in index.label_sets if name in named})
        place = {value: number for number, value in enumerate(values)}
        codes = np.array([place.get(named.get(name, ""), -1) for named in index.label_sets])[of_trial]
        codes_seen.append((values, codes))
        yield name, (values, codes)
    group = np.array(index.group, np.int64)
    values = sorted(index.groups)
    place_of = np.array([*(values.index(name) for name in index.groups), -1])
    if values and not any(
        values == known and (place_of[group] == codes).all() for known, codes in codes_seen
    ):
        yield "group", (values, place_of[group])


def breakdowns(trials: TargetTrials, *, repeated: bool) -> list[Breakdown]:
    """The means of the first score by group and by each label that has several values."""
    found = []
    for label, (names, codes) in trials.labels.items():
        own = codes[trials.numbers]
        used = sorted({int(code) for code in own.tolist() if code >= 0})
        if len(used) < 2 or not trials.score:
            continue
        rows = [_row(trials, names[code], trials.numbers[own == code], repeated) for code in used[:MOST_BARS]]
        drawing = means(f"{trials.score} by {label}", trials.score, rows, {"A": 0})
        found.append(Breakdown(label, drawing, rows, max(0, len(used) - MOST_BARS)))
    return found[:MOST_LABELS]


def _row(trials: TargetTrials, name: str, own: Numbers, repeated: bool) -> Row:
    import numpy as np

    scored = own[~np.isnan(trials.value[own])]
    mean, low, high = _estimate(trials, scored, repeated)
    return Row(name, [Mark("A", len(scored), len(own), mean, low, high)])


def _estimate(
    trials: TargetTrials, numbers: Numbers, repeated: bool
) -> tuple[float | None, float | None, float | None]:
    """(mean, low, high) as in a summary: the repeats of one sample are not taken for several samples."""
    import numpy as np

    from benchwright.stats.repeats import estimate

    values = trials.value[numbers]
    if not len(values) or not np.isfinite(values).all():
        return None, None, None
    samples = None
    if repeated:
        codes: dict[str, int] = {}
        named = (trials.samples[number] for number in numbers.tolist())
        samples = np.array([codes.setdefault(name, len(codes)) for name in named], np.uint64)
    found = estimate(values, samples, None)
    low, high = found.interval or (None, None)
    return found.mean, low, high


def time_charts(trials: TargetTrials, *, repeated: bool) -> list[Chart]:
    """How times are distributed, and the first score against them."""
    import numpy as np

    if np.count_nonzero(trials.answered) < FEWEST:
        return []
    charts = []
    for title, column in (("Time to first token", trials.ttft), ("Duration of a trial", trials.latency)):
        times = np.sort(column[trials.answered & ~np.isnan(column)])
        if len(times) >= FEWEST:
            found = Distribution(title, [_curve(times)])
            charts.append(Chart(title, distribution(found, {"A": 0})))
    scored = np.flatnonzero(trials.answered & ~np.isnan(trials.value))
    if len(scored) >= FEWEST and len(set(trials.value[scored].tolist())) > 1:
        by_latency = _score_by_latency(trials, scored, repeated)
        charts.append(Chart(f"{trials.score} against duration", score_by_latency(by_latency, 0)))
    return charts


def _curve(times: Numbers) -> Curve:
    import numpy as np

    n = len(times)
    ranks = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).astype(int))
    points = [(float(times[rank]), float((rank + 1) / n)) for rank in ranks]
    quantiles = [Quantile(q, float(np.quantile(times, q))) for q in (0.5, 0.95, 0.99)]
    return Curve("A", n, points, quantiles)


def _score_by_latency(trials: TargetTrials, scored: Numbers, repeated: bool) -> ScoreByLatency:
    import numpy as np

    times, values = trials.latency[scored], trials.value[scored]
    order = np.argsort(times, kind="stable")
    step = max(1, len(order) // DOTS)
    dots = [(float(times[place]), float(values[place])) for place in order[::step]]
    bins = []
    for part in np.array_split(order, min(BINS, len(order) // 10 or 1)):
        mean, low, high = _estimate(trials, scored[part], repeated)
        if mean is not None:
            mark = Mark("A", len(part), len(part), mean, low, high)
            bins.append(LatencyBin(float(times[part[0]]), float(times[part[-1]]), mark))
    return ScoreByLatency("A", trials.score, len(scored), dots, bins)
