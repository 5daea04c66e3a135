"""A measurement under load for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from benchwright.analysis.load.records import LoadReport
from benchwright.reports.comparison.terminal import render_block, render_line
from benchwright.reports.load.tables import blocks
from benchwright.reports.load.words import lines, objectives_text
from benchwright.text import plain


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
