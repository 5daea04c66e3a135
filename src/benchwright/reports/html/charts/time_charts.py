"""Charts of times: their distribution, scores against latency, and a waterfall of trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchwright.analysis.report.records import (
    ChartMean,
    DistributionChart,
    DistributionCurve,
    LatencyBin,
    ScoreByLatency,
    TimedTrial,
)
from benchwright.formats import count_with_noun
from benchwright.reports.html.charts.scales import Scale, score_label, score_scale, time_label, time_scale
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    element,
    left_axis,
    line,
    rectangle,
    render_drawing,
    text,
)
from benchwright.reports.html.text import one_line
from benchwright.statistic import is_number

LEFT, RIGHT, TOP, HEIGHT = 52, 16, 10, 230
ROW_HEIGHT = 15
NAME_COLUMN_WIDTH = 130
MIN_LABELLED_WIDTH = 30
"""Minimum width, in units, of the line of a bin of trials, above which the bin's mean score is written as a number.

Shorter lines have no number.
"""

SCORE_JITTER_SHARE = 0.05
"""Share of the chart's height over which points with equal scores are spread, so that they do not hide each other."""

GOLDEN_RATIO_CONJUGATE = 0.6180339887498949
"""The golden ratio conjugate.

The fractional parts of its multiples fill the interval from 0 to 1 evenly, and so spread points.
"""


def distribution_chart(
    found: DistributionChart, places: Mapping[str, int], names: Mapping[str, str]
) -> Markup:
    """Draw the share of requests that took no longer than each time, with a curve for each run.

    A letter (A, B, …) identifies each run. `places`: mapping from letter to the index of the run's colour. `names`:
    mapping from letter to the run's name.
    """
    bottom = TOP + HEIGHT
    x = time_scale((time for curve in found.curves for time, _ in curve.points), LEFT, DRAWING_WIDTH - RIGHT)
    y = Scale(0, 1, bottom, TOP)
    title = f"{found.title}, logarithmic" if x.is_logarithmic else found.title
    parts = [
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, lambda share: f"{share * 100:.0f} %"),
        *bottom_axis(x, TOP, bottom, time_label, title),
    ]
    for number, curve in enumerate(found.curves):
        parts.append(_curve(curve, x, y, places[curve.letter]))
        if len(found.curves) > 1:
            parts.append(_name(names[curve.letter], curve, x, y, 0.35 + number % 5 * 0.1))
    description = "; ".join(
        f"{names[curve.letter]}: "
        + ", ".join(f"p{one.q * 100:g} {time_label(one.value)}" for one in curve.quantiles)
        for curve in found.curves
    )
    return render_drawing(f"Distribution of {found.title.lower()}", description, bottom + 42, parts)


def _curve(curve: DistributionCurve, x: Scale, y: Scale, place: int) -> Markup:
    steps = [f"M{x.coordinate(curve.points[0][0]):.1f} {y.coordinate(0):.1f}"]
    steps += [f"H{x.coordinate(time):.1f}V{y.coordinate(share):.1f}" for time, share in curve.points]
    return element("path", d="".join(steps), class_=f"curve {colour_class(place)}")


def _name(name: str, curve: DistributionCurve, x: Scale, y: Scale, share: float) -> Markup:
    """Draw the run's name beside its curve, at the height of the share `share`."""
    time = next(time for time, reached in curve.points if reached >= share)
    return text(x.coordinate(time) + 7, y.coordinate(share) + 4, name, class_="t halo")


def score_by_latency_chart(found: ScoreByLatency, place: int) -> Markup:
    """Draw trials as points. Draw the mean scores of equally sized bins of trials as steps, with intervals."""
    bottom = TOP + HEIGHT
    ends = [time for time, _ in found.dots] + [end for one in found.bins for end in (one.low, one.high)]
    x = time_scale(ends, LEFT, DRAWING_WIDTH - RIGHT)
    y = score_scale((value for _, value in found.dots), bottom - 14, TOP + 14)
    title = "time the model took for a trial" + (", logarithmic" if x.is_logarithmic else "")
    parts = [
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, score_label),
        *bottom_axis(x, TOP, bottom, time_label, title),
        *_dots(found.dots, x, y, place),
    ]
    for one in found.bins:
        parts += _bin(one, x, y, place)
    description = "; ".join(
        f"{time_label(one.low)} to {time_label(one.high)}: {_mean(one.mark)} of {one.mark.n}"
        for one in found.bins
    )
    return render_drawing(f"{found.score} against latency", description, bottom + 42, parts)


def _mean(mark: ChartMean) -> str:
    return f"mean {mark.mean:.3f}" if is_number(mark.mean) else "no score"


def _dots(dots: Sequence[tuple[float, float]], x: Scale, y: Scale, place: int) -> Iterator[Markup]:
    room = SCORE_JITTER_SHARE * HEIGHT
    for number, (time, value) in enumerate(dots):
        apart = (number * GOLDEN_RATIO_CONJUGATE % 1 - 0.5) * 2 * room
        yield element(
            "circle",
            cx=x.coordinate(time),
            cy=y.coordinate(value) + apart,
            r=1.8,
            class_=f"dot {colour_class(place)}",
        )


def _bin(one: LatencyBin, x: Scale, y: Scale, place: int) -> Iterator[Markup]:
    mark = one.mark
    assert is_number(mark.mean)  # a bin contains only scored trials
    low, high = x.coordinate(one.low), x.coordinate(one.high)
    level = y.coordinate(mark.mean)
    if is_number(mark.low) and is_number(mark.high):
        yield rectangle(
            low, y.coordinate(mark.high), high - low, y.coordinate(mark.low) - y.coordinate(mark.high), "band"
        )
    yield line(low, level, max(high, low + 2), level, f"step {colour_class(place)}")
    if high - low > MIN_LABELLED_WIDTH:
        yield text((low + high) / 2, level - 6, f"{mark.mean:.2f}", anchor="middle", class_="t halo")


def waterfall_chart(title: str, trials: Sequence[TimedTrial]) -> Markup:
    """Draw a bar for each trial, from the trial's start.

    The segments of a bar are waiting, connecting, time to first token, generation, and the rest.
    """
    end = max((trial.length for trial in trials), default=1.0) or 1.0
    x = Scale(0.0, end, NAME_COLUMN_WIDTH, DRAWING_WIDTH - RIGHT - 44)
    bottom = TOP + ROW_HEIGHT * len(trials)
    parts = bottom_axis(x, TOP, bottom, time_label, "time since the trial started")
    for number, trial in enumerate(trials):
        parts += _trial(trial, TOP + number * ROW_HEIGHT, x)
    return render_drawing(
        title,
        f"{count_with_noun(len(trials), 'trial')}; the times are in the table below.",
        bottom + 42,
        parts,
    )


def _trial(trial: TimedTrial, top: float, x: Scale) -> Iterator[Markup]:
    name = one_line(trial.sample, 13) + (f" · {trial.repeat}" if trial.repeat else "")
    yield text(NAME_COLUMN_WIDTH - 8, top + 11, name, anchor="end", class_="t label")
    yield rectangle(x.coordinate(0), top + 6.5, x.coordinate(trial.length) - x.coordinate(0), 2, "span")
    for segment in trial.segments:
        left, right = x.coordinate(segment.start), x.coordinate(segment.start + segment.length)
        yield rectangle(left, top + 3, right - left, ROW_HEIGHT - 6, f"seg {segment.kind.replace(' ', '-')}")
    yield text(x.coordinate(trial.length) + 5, top + 11, time_label(trial.length), class_="t number")
