"""Plots of measurements under load that reports, leaderboards and the viewer share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchwright.analysis.load.curves import LoadCurve
from benchwright.formats import milliseconds
from benchwright.reports.comparison.tables import Block
from benchwright.reports.comparison.words import Cell, Foreign
from benchwright.reports.html.charts.loads import (
    LOAD_MEASURES,
    LoadMeasure,
    aimed,
    goodput_curves,
    load_curves,
    timed,
)
from benchwright.reports.html.charts.scales import amount_label, share_label
from benchwright.reports.html.plots import Plot

CURVE_NOTE = (
    "The median with its interval, and fainter the 90th and 99th percentiles; beneath each point its level."
)
GOODPUT_NOTE = (
    "The share of requests that met all objectives, failed ones counted as not met, with its interval."
)


def load_plots(found: Sequence[LoadCurve]) -> list[Plot]:
    """Latency, time to the first token and goodput under rising load, a curve for each measurement."""
    models = [curve.model for curve in found]
    names = {
        curve.letter: curve.model if models.count(curve.model) == 1 else f"{curve.model} ({curve.id[-4:]})"
        for curve in found
    }
    places = {curve.letter: place for place, curve in enumerate(found)}
    plots = []
    for measure, told in LOAD_MEASURES.items():
        known = [curve for curve in found if timed(curve, measure)]
        if known:
            title = f"{told} against answers per second"
            drawing = load_curves(known, measure, places, names)
            plots.append(Plot(title, drawing, CURVE_NOTE, _curve_figures(title, known, measure, names)))
    for is_open in (False, True):
        of_kind = [curve for curve in found if aimed(curve) and aimed(curve)[0].level.open == is_open]
        if of_kind:
            title = "Goodput against " + ("the rate of requests" if is_open else "requests in flight")
            drawing = goodput_curves(of_kind, places, names)
            plots.append(Plot(title, drawing, GOODPUT_NOTE, _goodput_figures(title, of_kind, names)))
    return plots


def _curve_figures(
    title: str, found: Sequence[LoadCurve], measure: LoadMeasure, names: Mapping[str, str]
) -> Block:
    rows: list[list[Cell]] = [
        [
            Foreign(names[curve.letter]),
            point.level.name,
            amount_label(point.achieved),
            *(milliseconds(one.value) for one in (spread.p50, spread.p90, spread.p99)),
        ]
        for curve in found
        for point, spread in timed(curve, measure)
    ]
    return Block(title, ["model", "level", "answers/s", "p50, ms", "p90, ms", "p99, ms"], rows)


def _goodput_figures(title: str, found: Sequence[LoadCurve], names: Mapping[str, str]) -> Block:
    rows: list[list[Cell]] = [
        [
            Foreign(names[curve.letter]),
            point.level.name,
            share_label(good.share),
            f"[{share_label(good.low)}, {share_label(good.high)}]",
            "–" if good.rate is None else amount_label(good.rate.value),
        ]
        for curve in found
        for point in aimed(curve)
        if (good := point.goodput) is not None
    ]
    return Block(title, ["model", "level", "met", "95 % interval", "goodput/s"], rows)
