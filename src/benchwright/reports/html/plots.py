"""Plots that reports, leaderboards and the viewer share, each with its title and note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.joint.fronts import Front, Spent
from benchwright.analysis.load.curves import LoadCurve
from benchwright.reports.html.charts.fronts import front
from benchwright.reports.html.charts.loads import LOAD_MEASURES, load_curves, timed

AGAINST: dict[Spent, str] = {"seconds": "speed", "tokens": "tokens", "cost": "cost"}
FRONT_NOTE = "The dashed line joins the models that by their means no other beats in both: the Pareto front."
LOAD_NOTE = (
    "The median with its interval, and fainter the 99th percentile; beneath each point its level of load."
)


class Plot(NamedTuple):
    """A drawing, what is said above it, and a note beneath."""

    title: str
    drawing: Markup
    note: str = ""


def front_plots(found: Sequence[Front], places: Mapping[str, int], names: Mapping[str, str]) -> list[Plot]:
    """Quality against what it takes."""
    return [
        Plot(f"{one.score} against {AGAINST[one.spent]}", front(one, places, names), FRONT_NOTE)
        for one in found
    ]


def load_plots(found: Sequence[LoadCurve]) -> list[Plot]:
    """Latency and time to the first token under rising load, a curve for each measurement."""
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
            plots.append(
                Plot(
                    f"{told} against answers per second",
                    load_curves(known, measure, places, names),
                    LOAD_NOTE,
                )
            )
    return plots
