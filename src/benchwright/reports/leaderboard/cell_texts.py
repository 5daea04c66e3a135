"""The texts of a leaderboard, for every output format: texts of cells, and notes on the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.leaderboard.records import BoardColumn, Leaderboard, LeaderboardCell
from benchwright.formats import count_with_noun, number_text
from benchwright.reports.comparison.sentences import ExternalText, Line, no_score_lines
from benchwright.reports.comparison.tables import TEST_NAMES
from benchwright.reports.leaderboard.usage import usage_notes
from benchwright.statistic import NoScore, is_number

RANK_MARKS = {"best": "*", "tied": "~", "behind": " ", "alone": " "}
RANK_LEGEND = (
    "Rank, mean, 95 % interval. * best, ~ no worse as far as the data can tell; a rank is 1 + how many others are "
    "better by a test."
)


def value_text(value: float, column: BoardColumn) -> str:
    """Format a mean, or an end of its interval. The total of a pack has up to six significant digits."""
    if column.total:
        return f"{value:g}"
    return f"{value:.3f}" if column.unit else f"{value:.4g}"


def mean_text(cell: LeaderboardCell, column: BoardColumn) -> str:
    """Return the mean as text. If there is no mean, return `no score` or a dash.

    If cells of a pack's run are missing, “(incomplete)” is appended to its total.
    """
    if not is_number(cell.mean):
        return number_text(cell.mean)
    incomplete = column.total and cell.n_scored < cell.n
    return value_text(cell.mean, column) + (" (incomplete)" if incomplete else "")


def interval_text(cell: LeaderboardCell, column: BoardColumn) -> str:
    """Return the interval as text, or "" if there is no interval."""
    if not is_number(cell.low) or not is_number(cell.high):
        return ""
    return f"[{value_text(cell.low, column)}, {value_text(cell.high, column)}]"


def rank_text(cell: LeaderboardCell) -> str:
    """Return the rank as text, or "" if there is no rank."""
    return "" if cell.rank is None else str(cell.rank)


def cell_text(cell: LeaderboardCell | None, column: BoardColumn) -> str:
    """Format a cell as plain text: rank with its mark, mean and interval, such as `1* 0.833 [0.757, 0.889]`.

    Return a dash if there is no cell.
    """
    if cell is None:
        return "–"
    rank = f"{rank_text(cell)}{RANK_MARKS[cell.standing]} " if cell.rank is not None else ""
    return f"{rank}{mean_text(cell, column)} {interval_text(cell, column)}".rstrip()


def leaderboard_notes(board: Leaderboard) -> Iterator[Line]:
    """Yield the warnings and notes on a leaderboard."""
    if board.simulated:
        yield Line("warning", ["SIMULATED: some of these answers are not from a model."])
    if any(cell.rank is not None for row in board.rows for cell in row.cells if cell is not None):
        yield Line("note", [RANK_LEGEND])
    for told, names in _by_method(board.columns).items():
        yield Line("note", [*_listed(names), f": {told}."])
    if board.tests > 1:
        yield Line(
            "note", [f"The p-values of all {board.tests:,} tests are corrected together (Holm), at 5 %."]
        )
    yield from usage_notes(board.rows)
    yield from no_score_lines(_no_scores(board))
    if totals := [column for column in board.columns if column.total]:
        yield _of_packs(totals)
    for column in board.columns:
        if column.apart:
            yield Line(
                "note",
                [ExternalText(column.name), " is a column of its own: ", ExternalText(column.apart), "."],
            )
    yield from (Line("note", [f"{note[:1].upper()}{note[1:]}."]) for note in board.notes)


def _no_scores(board: Leaderboard) -> Iterator[tuple[str, NoScore]]:
    """Yield (row and column, reason) for each cell of the leaderboard without a score."""
    for row in board.rows:
        for column, cell in zip(board.columns, row.cells, strict=True):
            if cell is not None and cell.no_score is not None:
                yield f"{row.name}, {column.name}", cell.no_score


def _by_method(columns: Sequence[BoardColumn]) -> dict[str, list[str]]:
    """Group the names of the columns by the statistical method that compares them."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.pairs:
            found.setdefault(_method(column), []).append(column.name)
    return found


def _method(column: BoardColumn) -> str:
    tests = ", ".join(TEST_NAMES.get(test, test) for test in column.tests)
    if column.total:
        how = "compared by the totals of single repeats"
    elif column.paired == column.pairs:
        how = "compared sample by sample"
    elif not column.paired:
        how = "compared without pairing, as there are no samples in common"
    else:
        how = (
            f"{column.paired:,} of {count_with_noun(column.pairs, 'pair')} compared sample by "
            "sample, the others not paired"
        )
    return f"{how} ({tests})"


def _of_packs(columns: Sequence[BoardColumn]) -> Line:
    names = [f"{column.name} ({column.scale})" if column.scale else column.name for column in columns]
    told = ": the pack's own total; the interval is that of the mean over repeats, where there are several."
    return Line("note", [*_listed(names), told])


def _listed(names: Sequence[str]) -> list[str | ExternalText]:
    parts: list[str | ExternalText] = []
    for name in names:
        parts += [", ", ExternalText(name)] if parts else [ExternalText(name)]
    return parts
