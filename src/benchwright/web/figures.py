"""Charts of one target of a run: the first score by label and group and against time, the times of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from benchwright.analysis.report.means import BIN, MOST_BINS, MOST_DOTS
from benchwright.analysis.report.records import LatencyBin, Mark, Row, ScoreByLatency
from benchwright.analysis.report.times import distributions
from benchwright.analysis.scores import mean_of, values_of
from benchwright.analysis.summary import RunSummary, TargetSummary, summarise
from benchwright.reports.html.charts.means import means
from benchwright.reports.html.charts.times import distribution, score_by_latency
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

LETTER = "A"
MOST_BARS = 30
MOST_LABELS = 6
FEWEST = 20
"""Trials, or requests, that a plot of times needs to say anything."""


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


class TargetFigures(NamedTuple):
    """What is shown of one target: its summary, `score` (the first one, "" without any), charts."""

    target: TargetSummary
    score: str
    breakdowns: list[Breakdown]
    times: list[Chart]


class RunFigures(NamedTuple):
    """What is shown of a run, as far as its table was read."""

    summary: RunSummary
    targets: list[TargetFigures]


def figures_of(manifest: Manifest, table: RunTable) -> RunFigures:
    """The summary as `show` has it, and charts; the table must not grow meanwhile."""
    summary = summarise(manifest, table)
    return RunFigures(summary, [_target_figures(manifest, table, target) for target in summary.targets])


def _target_figures(manifest: Manifest, table: RunTable, target: TargetSummary) -> TargetFigures:
    score = next(iter(table.scores), "")
    rows = table.counted(target.slot)
    found = list(_breakdowns(manifest, table, score, rows)) if score else []
    return TargetFigures(target, score, found, list(_time_charts(manifest, table, score, target.slot, rows)))


def mark(manifest: Manifest, table: RunTable, score: str, rows: Rows) -> Mark:
    """The mean of a score over some trials and its interval, by the rule of the summary."""
    found = values_of(manifest, table, score, rows)
    result = mean_of(found)
    if result is None:
        return Mark(LETTER, 0, found.trials)
    low, high = result.interval or (None, None)
    return Mark(LETTER, len(found.values), found.trials, result.mean, low, high)


def _breakdowns(manifest: Manifest, table: RunTable, score: str, rows: Rows) -> Iterator[Breakdown]:
    """By each label that has several values, and by group."""
    import numpy as np

    shown = 0
    for label, names, codes in _labels(table, rows):
        used = np.unique(codes[codes >= 0]).tolist()
        if len(used) < 2 or shown == MOST_LABELS:
            continue
        shown += 1
        lines = [
            Row(names[code], [mark(manifest, table, score, rows[codes == code])]) for code in used[:MOST_BARS]
        ]
        drawing = means(f"{score} by {label}", score, lines, {LETTER: 0})
        yield Breakdown(label, drawing, lines, max(0, len(used) - MOST_BARS))


def _labels(table: RunTable, rows: Rows) -> Iterator[tuple[str, list[str], NDArray[Any]]]:
    """(label, its values in the order of the alphabet, the place of each trial's among them, -1 for none).

    The group is left out where it says the same as a label.
    """
    import numpy as np

    labels = table.labels.numbers()[rows]
    seen: list[tuple[list[str], NDArray[Any]]] = []
    for name in dict.fromkeys(name for named in table.label_sets for name in named):
        values = sorted({named[name] for named in table.label_sets if name in named})
        place = {value: number for number, value in enumerate(values)}
        codes = np.array([place.get(named.get(name, ""), -1) for named in table.label_sets])[labels]
        seen.append((values, codes))
        yield name, values, codes
    groups = sorted(table.groups.names)
    place = {group: number for number, group in enumerate(groups)}
    codes = np.array([-1, *(place[group] for group in table.groups.names)])[table.group.numbers()[rows]]
    if not any(groups == values and np.array_equal(codes, other) for values, other in seen):
        yield "group", groups, codes


def _time_charts(manifest: Manifest, table: RunTable, score: str, slot: str, rows: Rows) -> Iterator[Chart]:
    """How the times of requests are distributed, and the first score against the time that the model took."""
    import numpy as np

    requests = table.requests.get(slot)
    if requests is not None and requests.timed >= FEWEST:
        times = {name: requests.times(name).astype(np.float64) for name in ("ttft", "latency")}
        for found in distributions({LETTER: times}):
            yield Chart(found.title, distribution(found, {LETTER: 0}))
    if not score:
        return
    against = _score_by_latency(manifest, table, score, rows)
    if against.n >= FEWEST and len({value for _, value in against.dots}) > 1:
        yield Chart(f"{score} against latency", score_by_latency(against, 0))


def _score_by_latency(manifest: Manifest, table: RunTable, score: str, rows: Rows) -> ScoreByLatency:
    import numpy as np

    assert table.effort is not None
    latency = np.array(table.effort.latency, np.float64)
    timed = rows[~np.isnan(latency[rows])]
    found = values_of(manifest, table, score, timed)
    order = np.argsort(latency[found.rows], kind="stable")
    n = len(order)
    dots = [
        (float(latency[found.rows[place]]), float(found.values[place]))
        for place in order[np.unique(np.linspace(0, max(0, n - 1), min(n, MOST_DOTS)).astype(int))]
    ]
    bins = []
    for part in np.array_split(found.rows[order], max(1, min(MOST_BINS, n // BIN))):
        if part.size:
            ends = float(latency[part[0]]), float(latency[part[-1]])
            bins.append(LatencyBin(*ends, mark(manifest, table, score, part)))
    return ScoreByLatency(LETTER, score, n, dots, bins, manifest.repeats > 1)
