"""Chart of the rates at each load: answers per second, and answers per second that meet the objectives (goodput)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.records import LevelResult, LoadReport
from benchwright.reports.html.charts.loads import LEFT, MAX_NAME_LENGTH
from benchwright.reports.html.charts.scales import Scale, amount_label, time_scale
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    element,
    left_axis,
    left_axis_title,
    legend,
    line,
    marker,
    render_drawing,
)
from benchwright.reports.html.text import one_line

RIGHT, TOP, HEIGHT = 24, 26, 220

RatePoints = Sequence[tuple[float, FigureEstimate]]
"""Type: pairs (load, rate at this load), by rising load. The load is a concurrency or a request rate."""


def answer_rates(report: LoadReport) -> RatePoints:
    """Return the answers per second at each level that has a steady rate.

    Replayed traces are left out, because they have no load.
    """
    return [(one.level.numeric_load, one.achieved) for one in _levels(report) if one.achieved is not None]


def goodput_rates(report: LoadReport) -> RatePoints:
    """Return the goodput of each level for which it is known."""
    found = [(one.level.numeric_load, one.goodput) for one in _levels(report)]
    return [(height, one.rate) for height, one in found if one is not None and one.rate is not None]


def _levels(report: LoadReport) -> list[LevelResult]:
    return [one for one in report.levels if one.level.numeric_load > 0]


def load_rates_chart(
    found: Mapping[str, LoadReport], places: Mapping[str, int], names: Mapping[str, str], *, open_loop: bool
) -> Markup:
    """Draw rates against the load, with intervals: goodput if there are objectives, and the rate of all answers.

    If there is goodput, the curve of all answers is fainter. `open_loop`: True if the load is a request rate. A dashed
    line then shows the rate of a server that answers all requests.
    """
    entries = list(_entries(found, places, names))
    named, room = legend(entries, LEFT, 0)
    top = TOP + room
    bottom = top + HEIGHT
    everything = [one for report in found.values() for one in (*answer_rates(report), *goodput_rates(report))]
    x = time_scale((height for height, _ in everything), LEFT, DRAWING_WIDTH - RIGHT)
    highest = max((one.high or one.value for _, one in everything), default=1.0)
    y = Scale(0.0, max(highest, 1e-9) * 1.08, bottom, top)
    load = "requests offered per second" if open_loop else "requests in flight"
    parts = [
        *named,
        left_axis_title("Per second", room),
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, amount_label),
        *bottom_axis(x, top, bottom, amount_label, load + (", logarithmic" if x.is_logarithmic else "")),
    ]
    if open_loop:
        parts.append(_all_that_is_offered(x, y))
    for letter, report in found.items():
        within = goodput_rates(report)
        parts += _line(answer_rates(report), x, y, places[letter], " tail" if within else "")
        parts += _line(within, x, y, places[letter], "")
    description = "; ".join(f"{names[letter]}: {_described(report)}" for letter, report in found.items())
    return render_drawing("Answers per second against load", description, bottom + 42, parts)


def _entries(
    found: Mapping[str, LoadReport], places: Mapping[str, int], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the entries of the legend, as (name, CSS classes).

    For a single measurement with goodput, the entries are goodput and all answers. Without goodput, there are none. For
    several measurements, the entries are the names of the measurements.
    """
    for letter, report in found.items():
        colour = colour_class(places[letter])
        if len(found) > 1:
            yield one_line(names[letter], MAX_NAME_LENGTH), colour
        elif goodput_rates(report):
            yield from (("goodput/s", colour), ("all answers/s", f"tail {colour}"))


def _all_that_is_offered(x: Scale, y: Scale) -> Markup:
    """Draw the line on which the rate of answers equals the rate of requests."""
    low, high = x.low, min(x.high, y.high)
    steps = 40 if x.is_logarithmic else 1
    path = "L".join(
        f"{x.coordinate(at):.1f} {y.coordinate(at):.1f}"
        for at in (low + (high - low) * n / steps for n in range(steps + 1))
    )
    return element("path", d=f"M{path}", class_="front")


def _line(rates: RatePoints, x: Scale, y: Scale, place: int, faint: str) -> Iterator[Markup]:
    if rates:
        path = "L".join(f"{x.coordinate(height):.1f} {y.coordinate(one.value):.1f}" for height, one in rates)
        yield element("path", d=f"M{path}", class_=f"curve{faint} {colour_class(place)}")
    for height, one in rates:
        at = x.coordinate(height)
        if one.low is not None and one.high is not None:
            yield line(at, y.coordinate(one.low), at, y.coordinate(one.high), f"whisker{faint}")
        yield marker(at, y.coordinate(one.value), place, class_=f"point{faint}")


def _described(report: LoadReport) -> str:
    within = {height: f", of them {amount_label(one.value)} in time" for height, one in goodput_rates(report)}
    return ", ".join(
        f"{amount_label(height)}: {amount_label(one.value)}/s{within.get(height, '')}"
        for height, one in answer_rates(report)
    )
