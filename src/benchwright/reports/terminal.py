"""Renders comparisons, quality and speed, and load measurements for a terminal. Text from outside is made safe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.analysis.load.comparison.records import LoadComparison, LoadComparisonResult
from benchwright.analysis.load.records import LoadReport
from benchwright.analysis.quality_and_speed.records import JointView
from benchwright.reports.comparison.brief_form import brief_blocks, brief_lines
from benchwright.reports.comparison.by_task import printed_verdict_lines
from benchwright.reports.comparison.complete_form import all_notes, detail_blocks
from benchwright.reports.comparison.sentences import (
    Line,
    LineKind,
    comparison_warnings,
    gate_lines,
)
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.fitted_table import FittedTable, cell_text
from benchwright.reports.load.load_comparison import (
    load_comparison_blocks,
    load_gate_lines,
    note_lines,
    verdict_lines,
    warning_lines,
)
from benchwright.reports.load.sentences import load_lines, objectives_text, saturation_lines
from benchwright.reports.load.tables import load_blocks, models_block
from benchwright.reports.quality_and_speed import quality_and_speed_blocks, quality_and_speed_lines
from benchwright.text import make_safe

DETAILS_HINT = Line("note", ["Changed answers, differences by label, quality and speed together: --details."])

LINE_STYLES: dict[LineKind, str] = {
    "verdict": "bold",
    "warning": "bold yellow",
    "note": "dim",
    "passed": "green",
    "failed": "bold red",
}


def render_comparison_answer(
    comparison: Comparison, *, alone: bool = True, details: bool = False
) -> RenderableType:
    """Render the verdicts, warnings, tables, notes and gate results of a comparison.

    `details`: False for a result that fits on one screen. `alone`: False if the documented table is printed above. That
    table already reports simulated runs and missing scores.
    """
    comparison = with_side_names(comparison)
    details = details or not comparison.pairs
    tables = [*brief_blocks(comparison), *(detail_blocks(comparison) if details else ())]
    more = [] if details else [DETAILS_HINT]
    parts: list[RenderableType] = [render_line(line) for line in printed_verdict_lines(comparison)]
    parts += [render_line(line) for line in comparison_warnings(comparison, simulated=alone, no_scores=alone)]
    for block in tables:
        parts += [Text(""), *render_block(block)]
    notes = all_notes(comparison) if details else brief_lines(comparison)
    told = [*notes, *gate_lines(comparison), *more]
    if told:
        parts += [Text(""), *(render_line(line) for line in told)]
    return Group(*parts)


def render_blocks(told: Sequence[Line], tables: Sequence[TableBlock]) -> RenderableType:
    """Render sentences, and below them tables."""
    parts: list[RenderableType] = [render_line(line) for line in told]
    for block in tables:
        parts += [Text(""), *render_block(block)]
    return Group(*parts)


def render_block(block: TableBlock) -> list[RenderableType]:
    """Render a table with its note below."""
    return [FittedTable(block), *([Text(block.note, style="dim")] if block.note else [])]


def render_line(line: Line) -> Text:
    """Render a sentence in the style of its kind (verdict, warning, note, …)."""
    return Text("".join(cell_text(cell) for cell in line.cells), style=LINE_STYLES[line.kind])


def render_quality_and_speed(views: Sequence[JointView]) -> RenderableType:
    """Render the tables of quality and speed with their notes."""
    parts: list[RenderableType] = []
    for block in quality_and_speed_blocks(views):
        parts += [Text(""), *render_block(block)]
    parts += [render_line(line) for line in quality_and_speed_lines(views) if parts]
    return Group(*parts)


def render_load(report: LoadReport) -> RenderableType:
    """Render a load measurement: model and prompts, objectives, tables, and verdicts."""
    title = f"{make_safe(report.model)} under load: {make_safe(report.prompts)}"
    parts: list[RenderableType] = [Text(title, style="bold")]
    if report.objectives:
        parts.append(Text(f"Objectives: {objectives_text(report.objectives)}"))
    for block in load_blocks(report):
        parts += [Text(""), *render_block(block)]
    told = [render_line(line) for line in load_lines(report)]
    if told:
        parts += [Text(""), *told]
    return Group(*parts)


def render_load_comparison(found: LoadComparisonResult) -> RenderableType:
    """Render a comparison of load measurements: verdicts, figures by level, and gate results."""
    tables = load_comparison_blocks(found)
    told = [*verdict_lines(found), *warning_lines(found)]
    after = [render_line(line) for line in (*note_lines(found), *load_gate_lines(found))]
    return Group(render_blocks(told, list(tables)), *([Text("")] if after else []), *after)


def render_loads(comparison: LoadComparison) -> RenderableType:
    """Render the report of each model. If there are several models, a table of all models follows.

    The comparison with other measurements comes last.
    """
    reports = [report for report in comparison.reports if report.levels]
    parts: list[RenderableType] = []
    for report in reports:
        parts += [render_load(report), Text("")]
    if len(reports) > 1:
        parts += [
            *(Text(f"{len(reports)} models", style="bold"), Text("")),
            *render_block(models_block(reports)),
            *(render_line(line) for line in saturation_lines(reports)),
            Text(""),
        ]
    if comparison.compared is not None:
        parts.append(render_load_comparison(comparison.compared))
    return Group(*parts)
