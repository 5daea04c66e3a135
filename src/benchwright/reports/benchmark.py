"""What a benchmark's run came to, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.benchmark_file import Totals
from benchwright.analysis.summary import RunSummary
from benchwright.catalog.benchmark import Figure
from benchwright.catalog.breakdowns import Breakdown
from benchwright.formats import number
from benchwright.reports.summary import failure_lines, flag_lines, judging_lines, thinking_texts
from benchwright.text import plain

MOST_VALUES = 20
"""Values of one label that are shown; the file has them all."""


def render_benchmark(
    about: Mapping[str, Any], totals: Totals, figures: Sequence[Figure], summary: RunSummary
) -> RenderableType:
    """Accuracy and score with what stands beside them, further figures, breakdowns, departures."""
    parts: list[RenderableType] = [_head(about, totals, summary)]
    parts += [
        Text(f"Not comparable to published scores: {plain(text)}.", style="yellow")
        for text in about["departures"]
    ]
    if figures:
        parts += [Text(""), _figures(figures)]
    for label in about["breakdowns"]:
        entries = [entry for entry in totals.breakdowns if entry.label == label]
        if len(entries) > 1:
            parts += [Text(""), _breakdown(label, entries)]
    return Group(*parts)


def _head(about: Mapping[str, Any], totals: Totals, summary: RunSummary) -> RenderableType:
    score = summary.targets[0].scores[0]
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
    target = summary.targets[0]
    lines += [*failure_lines(target), *thinking_texts(target), *flag_lines(target), *judging_lines(target)]
    lines.append(Text(f"Protocol: {plain(about['protocol'])}", style="dim"))
    return Group(*lines)


def _figures(figures: Sequence[Figure]) -> RenderableType:
    table = _table("Figure", "value", "")
    for figure in figures:
        table.add_row(
            plain(figure.name), number(figure.value, ".4f"), Text(plain(figure.note or ""), style="dim")
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
