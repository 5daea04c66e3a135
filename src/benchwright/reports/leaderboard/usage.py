"""Columns of a leaderboard for trials, time, requests, tokens and cost: their texts, and which of them are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchwright.analysis.leaderboard.records import BoardRow
from benchwright.formats import count_with_noun, format_duration
from benchwright.reports.comparison.sentences import ExternalText, Line

UNKNOWN_TEXT = "unknown"


class UsageColumn(NamedTuple):
    """A column of figures. It holds the heading, the name of the sort order ("" for none), and the text for a row."""

    heading: str
    order: str
    text: Callable[[BoardRow], str]


TRIALS_COLUMN = UsageColumn("trials", "", lambda row: f"{row.trials:,}")
FAILED_COLUMN = UsageColumn("failed", "failed", lambda row: f"{row.failed:,}")
TIME_COLUMN = UsageColumn("time", "time", lambda row: format_duration(row.seconds))
REQUESTS_COLUMN = UsageColumn("requests", "requests", lambda row: f"{row.requests:,}")
PROMPT_COLUMN = UsageColumn("tokens in", "", lambda row: tokens_text(row, row.prompt_tokens))
COMPLETION_COLUMN = UsageColumn("tokens out", "", lambda row: tokens_text(row, row.completion_tokens))
THINKING_COLUMN = UsageColumn("thinking", "", lambda row: thinking_text(row))
COST_COLUMN = UsageColumn("cost", "cost", lambda row: cost_text(row.cost))
COST_PER_SOLVED_COLUMN = UsageColumn("cost/solved", "cost-per-solved", lambda row: cost_per_solved_text(row))


def usage_columns(rows: Sequence[BoardRow]) -> list[UsageColumn]:
    """Return the columns of usage figures for a table of these rows."""
    some = request_and_cost_columns(rows)
    return [
        *(TRIALS_COLUMN, FAILED_COLUMN, TIME_COLUMN),
        *(one for one in some if one is REQUESTS_COLUMN),
        *(PROMPT_COLUMN, COMPLETION_COLUMN),
        *([THINKING_COLUMN] if any(row.reasoning_tokens for row in rows) else []),
        *(one for one in some if one is not REQUESTS_COLUMN),
    ]


def request_and_cost_columns(rows: Sequence[BoardRow]) -> list[UsageColumn]:
    """Return the columns of requests and of cost, as far as they are shown.

    The column of requests is shown if any row used an agent. The column of cost is shown in that case, and also if
    prices are known.
    """
    agents, priced = any(row.agent for row in rows), any(row.cost is not None for row in rows)
    costs = [COST_COLUMN, COST_PER_SOLVED_COLUMN] if agents or priced else []
    return [REQUESTS_COLUMN, *costs] if agents else costs


def tokens_text(row: BoardRow, some: int) -> str:
    """Format a number of tokens. Return a dash if the tokens of the row are unknown."""
    return "–" if row.total_tokens is None else f"{some:,}"


def cost_text(cost: float | None) -> str:
    """Format a cost in the currency of the prices."""
    return UNKNOWN_TEXT if cost is None else f"{cost:.4g}"


def thinking_text(row: BoardRow) -> str:
    """Format the number of reasoning tokens. A ~ marks it if some of the tokens are estimated."""
    if row.reasoning_tokens is None:
        return UNKNOWN_TEXT
    return f"{'~' if row.reasoning_estimated else ''}{row.reasoning_tokens:,}"


def cost_per_solved_text(row: BoardRow) -> str:
    """Format the cost of each trial that passed: the total cost divided by the number of these trials."""
    return "none solved" if row.solved == 0 else cost_text(row.cost_per_solved)


def usage_notes(rows: Sequence[BoardRow]) -> Iterator[Line]:
    """Yield notes on the usage figures.

    They are on side requests (an agent's titles and summaries), and on uncounted requests.
    """
    priced = any(row.cost is not None for row in rows)
    for row in rows:
        if row.side_requests:
            cost = f", cost {cost_text(row.side_cost)}" if priced else ""
            yield Line(
                "note",
                [
                    ExternalText(row.name),
                    f": of which {count_with_noun(row.side_requests, 'side request')} (titles, summaries) with "
                    f"{row.side_prompt_tokens:,} tokens in and {row.side_completion_tokens:,} out{cost}.",
                ],
            )
        if row.uncounted:
            yield Line(
                "note",
                [
                    ExternalText(row.name),
                    f": {count_with_noun(row.uncounted, 'request')} came without a count of tokens: there were more.",
                ],
            )
    if any(figure is COST_PER_SOLVED_COLUMN for figure in request_and_cost_columns(rows)):
        yield Line(
            "note", ["cost/solved: all that a row cost, for each trial that passed (--price sets prices)."]
        )
