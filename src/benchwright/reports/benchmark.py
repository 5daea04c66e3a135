"""The result of a benchmark run as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.benchmark_file import BenchmarkTotals
from benchwright.analysis.summary_records import TargetSummary
from benchwright.catalog.benchmark import Figure
from benchwright.catalog.breakdowns import Breakdown
from benchwright.formats import figure_text, number_text
from benchwright.statistic import is_number
from benchwright.text import make_safe

MAX_VALUES_PER_LABEL = 20
"""Maximum number of values that are shown of one label of the samples (such as subject).

The result file contains all values.
"""


def render_benchmark(
    about: Mapping[str, Any], totals: BenchmarkTotals, figures: Sequence[Figure], target: TargetSummary
) -> RenderableType:
    """Render the results of a model: accuracy and score, departures from the protocol, other figures, and breakdowns.

    The caller must have printed the summary of the run above.
    """
    parts: list[RenderableType] = [_head(about, totals, target)]
    if about["departures"]:
        parts.append(render_departures(about["departures"]))
    if figures:
        parts += [Text(""), render_figures(figures)]
    for label in about["breakdowns"] if totals.no_score is None else ():
        entries = [entry for entry in totals.breakdowns if entry.label == label]
        if len(entries) > 1:
            parts += [Text(""), _breakdown(label, entries)]
    return Group(*parts)


def render_departures(departures: Sequence[str]) -> RenderableType:
    """Render the differences from the published protocol as a list."""
    listed = Table.grid(padding=(0, 1))
    for text in departures:
        listed.add_row("-", Text(make_safe(text)), style="yellow")
    return Group(Text("Not comparable to published scores:", style="yellow"), listed)


def _head(about: Mapping[str, Any], totals: BenchmarkTotals, target: TargetSummary) -> RenderableType:
    score = target.scores[0]
    protocol = Text(f"Protocol: {make_safe(about['protocol'])}", style="dim")
    if not is_number(totals.accuracy) or not is_number(score.mean):
        told = totals.no_score.brief if totals.no_score is not None else number_text(None)
        return Group(Text(f"{make_safe(about['title'])}: {told}", style="bold"), protocol)
    shares = [f"{totals.correct:,} of {totals.n:,} correct"]
    for name in ("truncated", "cut_off_in_thinking", "unparsed", "errors"):
        count = getattr(totals, name)
        if count:
            shares.append(f"{count:,} {name.replace('_', ' ')} ({count / totals.n:.1%})")
    lines = [
        Text(
            f"{make_safe(about['title'])}: accuracy {totals.accuracy:.4f}  ({', '.join(shares)})",
            style="bold",
        )
    ]
    if abs(score.mean - totals.accuracy) > 1e-12:
        lines.append(Text(f"{make_safe(about['metric'])}: {score.mean:.4f}", style="bold"))
    return Group(*lines, protocol)


def render_figures(figures: Sequence[Figure]) -> RenderableType:
    """Render the figures that a benchmark computes from a run besides its scores."""
    table = _table("Figure", "value", "")
    for figure in figures:
        table.add_row(
            make_safe(figure.name), figure_text(figure.value), Text(make_safe(figure.note or ""), style="dim")
        )
    return table


def _breakdown(label: str, entries: Sequence[Breakdown]) -> RenderableType:
    failed = any(entry.n_scored < entry.n for entry in entries)
    columns = ["n", "scored", "mean of these"] if failed else ["n"]
    table = _table(f"By {make_safe(label)}", "mean", *columns)
    for entry in entries[:MAX_VALUES_PER_LABEL]:
        scored = [f"{entry.n_scored:,}", number_text(entry.mean_scored, ".4f") if entry.n_scored else "–"]
        table.add_row(
            make_safe(entry.value),
            number_text(entry.mean, ".4f"),
            f"{entry.n:,}",
            *(scored if failed else []),
        )
    if len(entries) > MAX_VALUES_PER_LABEL:
        table.add_row(
            f"… {len(entries) - MAX_VALUES_PER_LABEL:,} more in the result file", "", *("" for _ in columns)
        )
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
