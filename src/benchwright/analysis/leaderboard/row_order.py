"""Sort orders of a leaderboard's rows."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace

from benchwright.analysis.leaderboard.records import BoardRow, Leaderboard
from benchwright.errors import UserError
from benchwright.statistic import is_number, numeric_statistics
from benchwright.suggestions import did_you_mean

RANK_ORDER_NAME = "rank"

FIGURE_SORT_KEYS: dict[str, Callable[[BoardRow], float | str]] = {
    "model": lambda row: row.title.lower(),
    "failed": lambda row: row.failed,
    "time": lambda row: math.inf if row.seconds is None else row.seconds,
    "requests": lambda row: row.requests,
    "tokens": lambda row: math.inf if row.total_tokens is None else row.total_tokens,
    "cost": lambda row: math.inf if row.cost is None else row.cost,
    "cost-per-solved": lambda row: math.inf if row.cost_per_solved is None else row.cost_per_solved,
}
"""Mapping from the names of orders to sort keys of rows, for orders by something other than a score.

The row with the lowest value comes first (`model`: in alphabetical order).
"""


def order_names(board: Leaderboard) -> list[str]:
    """Return the names of all orders: by mean rank, by the score of a column, or by another figure."""
    return [RANK_ORDER_NAME, *(column.name for column in board.columns), *FIGURE_SORT_KEYS]


def sort_board(board: Leaderboard, by: str) -> Leaderboard:
    """Return the leaderboard with its rows sorted in the order named `by`.

    If the order is a column, the row with the best score in this column comes first. If it is a name in
    `FIGURE_SORT_KEYS`, the row with the lowest value comes first. In the order by mean rank, the rows stay as
    they are.

    Raises:
        UserError: If there is no such order.
    """
    if by in ("", RANK_ORDER_NAME):
        return board
    names = [column.name for column in board.columns]
    if by in names:
        place = names.index(by)
        sign = 1.0 if board.columns[place].lower_is_better else -1.0
        return replace(board, rows=sorted(board.rows, key=lambda row: _by_cell(row, place, sign)))
    if by in FIGURE_SORT_KEYS:
        return replace(board, rows=sorted(board.rows, key=FIGURE_SORT_KEYS[by]))
    known = order_names(board)
    raise UserError(f"There is no order {by!r}: use {', '.join(known)}.{did_you_mean(by, known)}")


def default_sort_key(row: BoardRow) -> tuple[float, float]:
    """Return the default sort key of a row: its mean rank, then its first mean.

    Rows that have no rank or no mean come last.
    """
    first = next(iter(numeric_statistics(cell.mean for cell in row.cells if cell is not None)), -math.inf)
    return math.inf if row.mean_rank is None else row.mean_rank, -first


def _by_cell(row: BoardRow, place: int, sign: float) -> tuple[float, float]:
    cell = row.cells[place]
    if cell is None or not is_number(cell.mean):
        return math.inf, 0.0
    return sign * cell.mean, 0.0 if cell.rank is None else cell.rank
