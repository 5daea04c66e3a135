"""What a benchmark's run came to, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.benchmark_file import Totals
from benchwright.analysis.summary import TargetSummary
from benchwright.catalog.benchmark import Figure
from benchwright.catalog.breakdowns import Breakdown
from benchwright.formats import figure_text, number
from benchwright.reports.summary import failure_lines, flag_lines, judging_lines, thinking_texts
from benchwright.text import plain

MOST_VALUES = 20
"""Values of one label that are shown; the file has them all."""


def render_benchmark(
    about: Mapping[str, Any], totals: Totals, figures: Sequence[Figure], target: TargetSummary
) -> RenderableType:
    """Accuracy and score of a model with what stands beside them, departures, further figures, breakdowns."""
    parts: list[RenderableType] = [_head(about, totals, target)]
    if about["departures"]:
        parts.append(render_departures(about["departures"]))
    if figures:
        parts += [Text(""), render_figures(figures)]
    for label in about["breakdowns"]:
        entries = [entry for entry in totals.breakdowns if entry.label == label]
        if len(entries) > 1:
            parts += [Text(""), _breakdown(label, entries)]
    return Group(*parts)


def render_departures(departures: Sequence[str]) -> RenderableType:
    """In what a run differs from the published protocol, one below the other."""
    listed = Table.grid(padding=(0, 1))
    for text in departures:
        listed.add_row("-", Text(plain(text)), style="yellow")
    return Group(Text("Not comparable to published scores:", style="yellow"), listed)


def _head(about: Mapping[str, Any], totals: Totals, target: TargetSummary) -> RenderableType:
    score = target.scores[0]
    shares = [f"{totals.correct:,} of {totals.n:,} correct"]
    for name in ("truncated", "cut_off_in_thinking", "unparsed", "errors"):
        count = getattr(totals, name)
        if count:
            shares.append(f"{count:,} {name.replace('_', ' ')} ({count / totals.n:.1%})")
    lines = [
        Text(f"{plain(about['title'])}: accuracy {totals.accuracy:.4f}  ({', '.join(shares)})", style="bold")
    ]
    if abs(score.mean - totals.accuracy) > 1e-12:
        lines.append(Text(f"{plain(about['metric'])}: {score.mean:.4f}", style="bold"))
    lines += [*failure_lines(target), *thinking_texts(target), *flag_lines(target), *judging_lines(target)]
    lines.append(Text(f"Protocol: {plain(about['protocol'])}", style="dim"))
    return Group(*lines)


def render_figures(figures: Sequence[Figure]) -> RenderableType:
    """What a benchmark makes of a run besides its scores."""
    table = _table("Figure", "value", "")
    for figure in figures:
        table.add_row(
            plain(figure.name), figure_text(figure.value), Text(plain(figure.note or ""), style="dim")
        )
    return table


def _breakdown(label: str, entries: Sequence[Breakdown]) -> RenderableType:
    table = _table(f"By {plain(label)}", "mean", "n")
    for entry in entries[:MOST_VALUES]:
        table.add_row(plain(entry.value), number(entry.mean, ".4f"), f"{entry.n:,}")
    if len(entries) > MOST_VALUES:
        table.add_row(f"… {len(entries) - MOST_VALUES:,} more in the result file", "", "")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        table.add_column(
            column,
            justify="left" if position in (0, 2) and column in (columns[0], "") else "right",
            overflow="fold",
        )
    return table
