"""The estimated cost of runs, as sentences and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from benchwright.analysis.cost import Cost, total_cost
from benchwright.formats import count_with_noun, format_duration
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.terminal import render_blocks


class PartCost(NamedTuple):
    """The estimated cost of one part of a suite, and its number of trials."""

    trials: int
    cost: Cost


def render_costs(title: Line, each: Mapping[str, PartCost], left_out: int) -> RenderableType:
    """Render a table with a row for each part of a suite, and with a total over the parts whose cost is known.

    Below the table is the basis of each estimate. `left_out`: number of parts that cannot be run as configured.
    """
    if not each:
        return render_blocks([title], [])
    known = [one for one in each.values() if one.cost.requests is not None]
    parts = len(each) + left_out
    whole = "all of it" if len(known) == parts else f"{len(known):,} of {parts:,} parts"
    total = PartCost(sum(one.trials for one in known), total_cost([one.cost for one in known]))
    rows: list[list[CellText]] = [[ExternalText(name), *_cells(one)] for name, one in each.items()]
    columns = ["Part", "trials", "requests", "tokens in", "tokens out", "time", "cost"]
    table = _without_unknown(columns, [*rows, *([[whole, *_cells(total)]] if known else [])])
    bases: dict[str, list[str]] = {}
    for name, one in each.items():
        bases.setdefault(one.cost.basis, []).append(name)
    told = [Line("note", [ExternalText(", ".join(names)), f": {basis}."]) for basis, names in bases.items()]
    return Group(render_blocks([title], [table]), Text(""), render_blocks(told, []))


def _cells(priced: PartCost) -> list[CellText]:
    cost = priced.cost
    most = "≤ " if cost.most else ""
    return [
        f"{priced.trials:,}",
        "unknown" if cost.requests is None else f"{cost.requests:,}",
        "unknown" if cost.prompt_tokens is None else f"{cost.prompt_tokens:,}",
        "unknown" if cost.completion_tokens is None else f"{most}{cost.completion_tokens:,}",
        "–" if cost.minutes is None else f"{most}{format_duration(cost.minutes * 60)}",
        "–" if cost.money is None else f"{most}{cost.money:.4g}",
    ]


def _without_unknown(columns: list[str], rows: list[list[CellText]]) -> TableBlock:
    """Build a table from these rows.

    The column of times is left out if no speed is known. The column of costs is left out if no prices are known.
    """
    kept = [place for place in range(len(columns)) if any(row[place] != "–" for row in rows)]
    return TableBlock(
        "", [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]
    )


def cost_text(cost: Cost) -> str:
    """Format requests, tokens, time and money in one line. Time or money is left out if it is unknown."""
    most = "at most " if cost.most else ""
    if cost.requests is cost.prompt_tokens is cost.completion_tokens is None:
        return "unknown"
    parts = [
        _counted(cost.requests, "request"),
        _counted(cost.prompt_tokens, "prompt token"),
        f"{most if cost.completion_tokens is not None else ''}{_counted(cost.completion_tokens, 'completion token')}",
    ]
    if cost.minutes is not None:
        parts.append(f"{most}{format_duration(cost.minutes * 60)}")
    if cost.money is not None:
        parts.append(f"cost {most}{cost.money:.4g}")
    return ", ".join(parts)


def cost_lines(cost: Cost) -> list[str]:
    """Return two lines: the estimated cost, and the basis of the estimate."""
    return [f"estimate: {cost_text(cost)}", f"  ({cost.basis})"]


def _counted(count: int | None, noun: str) -> str:
    return f"unknown {noun}s" if count is None else count_with_noun(count, noun)
