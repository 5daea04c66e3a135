"""Columns of a leaderboard for trials, time, requests, tokens and cost: which are shown, and their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchwright.analysis.leaderboard.records import BoardRow
from benchwright.formats import counted, duration
from benchwright.reports.comparison.words import ForeignText, Line

UNKNOWN = "unknown"


class UsageColumn(NamedTuple):
    """A column of figures: its heading, the name of its sort order ("" for none), and its text for a row."""

    heading: str
    order: str
    text: Callable[[BoardRow], str]


TRIALS = UsageColumn("trials", "", lambda row: f"{row.trials:,}")
FAILED = UsageColumn("failed", "failed", lambda row: f"{row.failed:,}")
TIME = UsageColumn("time", "time", lambda row: duration(row.seconds))
REQUESTS = UsageColumn("requests", "requests", lambda row: f"{row.requests:,}")
PROMPT = UsageColumn("tokens in", "", lambda row: tokens(row, row.prompt_tokens))
COMPLETION = UsageColumn("tokens out", "", lambda row: tokens(row, row.completion_tokens))
THINKING = UsageColumn("thinking", "", lambda row: thinking_text(row))
COST = UsageColumn("cost", "cost", lambda row: amount(row.cost))
PER_SOLVED = UsageColumn("cost/solved", "cost-per-solved", lambda row: per_solved(row))


def usage_columns(rows: Sequence[BoardRow]) -> list[UsageColumn]:
    """Return the columns of figures for a table of these rows."""
    some = requests_and_cost(rows)
    return [
        *(TRIALS, FAILED, TIME),
        *(one for one in some if one is REQUESTS),
        *(PROMPT, COMPLETION),
        *([THINKING] if any(row.reasoning_tokens for row in rows) else []),
        *(one for one in some if one is not REQUESTS),
    ]


def requests_and_cost(rows: Sequence[BoardRow]) -> list[UsageColumn]:
    """Return the columns of requests (if any row used an agent) and of cost (if so, or if prices are known)."""
    agents, priced = any(row.agent for row in rows), any(row.cost is not None for row in rows)
    costs = [COST, PER_SOLVED] if agents or priced else []
    return [REQUESTS, *costs] if agents else costs


def tokens(row: BoardRow, some: int) -> str:
    """Format a number of tokens, or a dash if the tokens of the row are unknown."""
    return "–" if row.tokens is None else f"{some:,}"


def amount(cost: float | None) -> str:
    """Format a cost in the currency of the prices."""
    return UNKNOWN if cost is None else f"{cost:.4g}"


def thinking_text(row: BoardRow) -> str:
    """Format the number of reasoning tokens, with ~ if some of them are estimated."""
    if row.reasoning_tokens is None:
        return UNKNOWN
    return f"{'~' if row.reasoning_estimated else ''}{row.reasoning_tokens:,}"


def per_solved(row: BoardRow) -> str:
    """Format the cost per trial that passed."""
    return "none solved" if row.solved == 0 else amount(row.cost_per_solved)


def effort_lines(rows: Sequence[BoardRow]) -> Iterator[Line]:
    """Yield notes on the figures: the share of side requests (an agent's titles, summaries), and uncounted
    requests.
    """
    priced = any(row.cost is not None for row in rows)
    for row in rows:
        if row.side_requests:
            cost = f", cost {amount(row.side_cost)}" if priced else ""
            yield Line(
                "note",
                [
                    ForeignText(row.name),
                    f": of which {counted(row.side_requests, 'side request')} (titles, summaries) with "
                    f"{row.side_prompt_tokens:,} tokens in and {row.side_completion_tokens:,} out{cost}.",
                ],
            )
        if row.uncounted:
            yield Line(
                "note",
                [
                    ForeignText(row.name),
                    f": {counted(row.uncounted, 'request')} came without a count of tokens: there were more.",
                ],
            )
    if any(figure is PER_SOLVED for figure in requests_and_cost(rows)):
        yield Line(
            "note", ["cost/solved: all that a row cost, for each trial that passed (--price sets prices)."]
        )
