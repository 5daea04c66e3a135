"""Load measurements as a page of their own, or as part of a viewer page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup
from msgspec.structs import replace

from benchwright import __version__
from benchwright.analysis.comparison.side_naming import side_letter
from benchwright.analysis.load.comparison.records import LoadComparisonResult
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.load.records import LoadReport
from benchwright.analysis.report.provenance import host_and_port
from benchwright.reports.comparison.sentences import Line
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.html.load_plots import load_sections
from benchwright.reports.html.page import report_environment
from benchwright.reports.html.page_style import GENERATOR_TAG, report_style
from benchwright.reports.html.plots import PlotSection
from benchwright.reports.load.load_comparison import load_comparison_blocks, note_lines, verdict_lines
from benchwright.reports.load.sentences import load_lines, objectives_text
from benchwright.reports.load.tables import load_blocks


class LoadPart(NamedTuple):
    """One load measurement: its title, its facts (prompts, server, id, objectives), its sentences and its tables."""

    title: str
    facts: list[tuple[str, str]]
    lines: list[Line]
    tables: list[TableBlock]


def render_loads_page(
    loads: Sequence[DetailedLoad], compared: LoadComparisonResult | None, title: str, made_at: str
) -> str:
    """Render load measurements as a whole page, without scripts or external resources."""
    return (
        report_environment()
        .get_template("load_report.html.j2")
        .render(
            title=title,
            made_at=made_at,
            version=__version__,
            sheet=report_style(),
            generator=GENERATOR_TAG,
            verdict="verdict",
            **_values(loads, compared, load_sections(loads)),
        )
    )


def loads_part(loads: Sequence[DetailedLoad], compared: LoadComparisonResult | None) -> Markup:
    """Render the content of the page without its head and foot, for the viewer."""
    values = _values(loads, compared, load_sections(loads))
    return Markup(
        report_environment().get_template("load_parts.html.j2").render(verdict="banner verdict", **values)
    )


def _values(
    loads: Sequence[DetailedLoad], compared: LoadComparisonResult | None, sections: Sequence[PlotSection]
) -> dict[str, object]:
    if compared is not None:
        compared = replace(
            compared, sides=[replace(side, base_url=host_and_port(side.base_url)) for side in compared.sides]
        )
    several = len(loads) > 1
    return {
        "parts_of": list(_parts([load.report for load in loads])),
        "sections": sections,
        "several": several,
        "against": [] if compared is None else list(verdict_lines(compared)),
        "against_tables": [] if compared is None else list(load_comparison_blocks(compared)),
        "against_notes": [] if compared is None else list(note_lines(compared)),
    }


def _parts(reports: Sequence[LoadReport]) -> Iterator[LoadPart]:
    for place, report in enumerate(reports):
        title = f"{side_letter(place)}: {report.model}" if len(reports) > 1 else report.model
        yield LoadPart(title, list(_facts(report)), list(load_lines(report)), list(load_blocks(report)))


def _facts(report: LoadReport) -> Iterator[tuple[str, str]]:
    yield "Sent", report.prompts
    yield "Server", host_and_port(report.base_url)
    yield "Measurement", report.id
    if report.objectives:
        yield "Objectives", objectives_text(report.objectives)
