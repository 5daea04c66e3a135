"""Comparisons, quality and speed, and measurements under load for a terminal; foreign text cannot steer it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.comparison.names import named
from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.joint.records import JointView
from benchwright.analysis.load.records import LoadComparison, LoadReport
from benchwright.reports.comparison.tables import Block
from benchwright.reports.comparison.whole import all_blocks, all_notes
from benchwright.reports.comparison.words import (
    Cell,
    Foreign,
    Kind,
    Line,
    rulings,
    verdicts,
    warnings,
)
from benchwright.reports.joint import joint_blocks, joint_lines
from benchwright.reports.load.tables import blocks, models_block
from benchwright.reports.load.words import lines, objectives_text, saturation_lines
from benchwright.text import plain

STYLES: dict[Kind, str] = {
    "verdict": "bold",
    "warning": "bold yellow",
    "note": "dim",
    "passed": "green",
    "failed": "bold red",
}


def render_answer(comparison: Comparison, *, simulated: bool = True) -> RenderableType:
    """The verdicts first, then what must be known with them, then the tables, notes and rulings."""
    comparison = named(comparison)
    parts: list[RenderableType] = [render_line(line) for line in verdicts(comparison)]
    parts += [render_line(line) for line in warnings(comparison, simulated=simulated)]
    for block in all_blocks(comparison):
        parts += [Text(""), *render_block(block)]
    told = [*all_notes(comparison), *rulings(comparison)]
    if told:
        parts += [Text(""), *(render_line(line) for line in told)]
    return Group(*parts)


def render_block(block: Block) -> list[RenderableType]:
    """A table, and its note beneath it."""
    return [_table(block), *([Text(block.note, style="dim")] if block.note else [])]


def render_line(line: Line) -> Text:
    """A sentence in the colour of its kind."""
    return Text("".join(_text(cell) for cell in line.cells), style=STYLES[line.kind])


def _text(cell: Cell) -> str:
    return plain(cell.text) if isinstance(cell, Foreign) else cell


def _table(block: Block) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, column in enumerate(block.columns):
        table.add_column(_text(column), justify="left" if position < block.left else "right", overflow="fold")
    for row in block.rows:
        table.add_row(*(Text(_text(cell)) for cell in row))
    return table


def render_joint(views: Sequence[JointView]) -> RenderableType:
    """The tables, with what must be known of them; each after an empty line."""
    parts: list[RenderableType] = []
    for block in joint_blocks(views):
        parts += [Text(""), *render_block(block)]
    parts += [render_line(line) for line in joint_lines(views) if parts]
    return Group(*parts)


def render_load(report: LoadReport) -> RenderableType:
    """What was asked, the tables, and what they come to."""
    title = f"{plain(report.model)} under load: {plain(report.prompts)}"
    parts: list[RenderableType] = [Text(title, style="bold")]
    if report.objectives:
        parts.append(Text(f"Objectives: {objectives_text(report.objectives)}"))
    for block in blocks(report):
        parts += [Text(""), *render_block(block)]
    told = [render_line(line) for line in lines(report)]
    if told:
        parts += [Text(""), *told]
    return Group(*parts)


def render_loads(comparison: LoadComparison) -> RenderableType:
    """The report of each model, then all of them beside each other."""
    reports = [report for report in comparison.reports if report.levels]
    parts: list[RenderableType] = []
    for report in reports:
        parts += [render_load(report), Text("")]
    parts += [Text(f"{len(reports)} models", style="bold"), Text(""), *render_block(models_block(reports))]
    return Group(*parts, *(render_line(line) for line in saturation_lines(reports)))
