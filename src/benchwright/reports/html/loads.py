"""Measurements under load as a page by itself, and as the part that the viewer shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright import __version__
from benchwright.analysis.load.against.compare import compare_loads
from benchwright.analysis.load.against.rules import LoadRules
from benchwright.analysis.load.records import LoadReport
from benchwright.analysis.report.loads import load_curves
from benchwright.analysis.report.records import Course, LoadPart
from benchwright.reports.comparison.tables import Block
from benchwright.reports.comparison.words import Cell, Foreign, Line
from benchwright.reports.html.charts.course import course
from benchwright.reports.html.load_plots import load_plots
from benchwright.reports.html.page import report_environment
from benchwright.reports.html.plots import Plot, distribution_plot
from benchwright.reports.html.sheets import GENERATOR, sheet
from benchwright.reports.load.against import against_blocks, note_lines, verdict_lines, warning_lines
from benchwright.reports.load.tables import blocks
from benchwright.reports.load.words import level_text, lines, objectives_text

COURSE_NOTE = "Shaded: the part that counts. The server's own metrics are looked at about each second."
GAPS_NOTE = "Of all answers together. With several tokens in a chunk a gap is no time per token."


class MeasurementSection(NamedTuple):
    """What is shown of one measurement. `runs` has the run of each level by the level's name."""

    title: str
    about: list[Cell]
    told: list[Line]
    blocks: list[Block]
    plots: list[Plot]
    courses: list[Plot]
    runs: list[tuple[str, str]]


class LoadPage(NamedTuple):
    """What is shown of measurements: what all have in common, then one after the other."""

    title: str
    told: list[Line]
    blocks: list[Block]
    plots: list[Plot]
    sections: list[MeasurementSection]


def load_page(parts: Sequence[LoadPart], title: str | None = None) -> LoadPage:
    """Measurements, their curves in one plot, and the first compared with the others."""
    reports = [part.report for part in parts]
    told, tables = list[Line](), list[Block]()
    if len(parts) > 1:
        found = compare_loads(reports, LoadRules())
        told = [*verdict_lines(found), *warning_lines(found), *note_lines(found)]
        tables = list(against_blocks(found))
    return LoadPage(
        title or ", ".join(dict.fromkeys(f"{report.model} under load" for report in reports)),
        told,
        tables,
        load_plots(load_curves(reports)),
        [_section(part) for part in parts],
    )


def render_load_page(parts: Sequence[LoadPart], title: str | None = None) -> str:
    """The page as one file: no script, nothing loaded."""
    return (
        report_environment()
        .get_template("load.html.j2")
        .render(
            page=(page := load_page(parts, title)),
            title=page.title,
            version=__version__,
            sheet=sheet(),
            generator=GENERATOR,
        )
    )


def load_parts(page: LoadPage, href: Callable[[str], str]) -> Markup:
    """What is on the page, for one that has a head of its own; `href` is the address of a run."""
    return Markup(report_environment().get_template("load_parts.html.j2").render(page=page, href=href))


def all_plots(page: LoadPage) -> Iterator[tuple[str, Plot]]:
    """Every plot of a page with a name for its file."""
    for number, plot in enumerate(page.plots, 1):
        yield f"load-{number}", plot
    for place, section in enumerate(page.sections, 1):
        for number, plot in enumerate([*section.plots, *section.courses], 1):
            yield f"measurement-{place}-{number}", plot


def _section(part: LoadPart) -> MeasurementSection:
    report = part.report
    about: list[Cell] = [Foreign(report.prompts), ", at ", Foreign(report.base_url)]
    if report.objectives:
        about += [f"; objectives: {objectives_text(report.objectives)}"]
    levels = [curve.letter for found in part.distributions for curve in found.curves]
    places = {name: place for place, name in enumerate(dict.fromkeys(levels))}
    names = {name: f"at {name}" for name in places}
    notes = ("", GAPS_NOTE)
    return MeasurementSection(
        f"{report.model}, {report.id}",
        about,
        list(lines(report)),
        list(blocks(report)),
        [
            distribution_plot(found, places, names, notes["chunks" in found.title])
            for found in part.distributions
        ],
        [_course_plot(one) for one in part.courses],
        [(_run_name(report, number), one.run) for number, one in enumerate(report.levels)],
    )


def _run_name(report: LoadReport, number: int) -> str:
    one = report.levels[number]
    several = any(other.repeat > 1 for other in report.levels)
    return one.level.name + (f", repeat {one.repeat}" if several else "")


def _course_plot(found: Course) -> Plot:
    return Plot(f"{level_text(found.level)}: its course", course(found), COURSE_NOTE)
