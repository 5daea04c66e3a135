"""A leaderboard as Markdown, LaTeX and CSV, with text from outside escaped for each format."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from benchwright.analysis.leaderboard.records import BoardColumn, Leaderboard
from benchwright.analysis.leaderboard.records import LeaderboardCell as BoardCell
from benchwright.reports.comparison.markdown import block_lines, line_text
from benchwright.reports.comparison.sentences import unescaped_line
from benchwright.reports.leaderboard.cell_texts import interval_text, leaderboard_notes, mean_text, rank_text
from benchwright.reports.leaderboard.tables import whole_table
from benchwright.statistic import Statistic, is_number
from benchwright.text import escape_formula, make_safe


def render_markdown(board: Leaderboard) -> str:
    """Render the leaderboard as one table, with its notes below."""
    table = "\n".join(block_lines(whole_table(board), folded=False))
    return "\n\n".join([table, *(line_text(line) for line in leaderboard_notes(board))]) + "\n"


LATEX_ESCAPES = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\textquotedbl{}",
    "–": "--",
    "…": "\\dots{}",
    "→": "$\\rightarrow$",
}


def escape_latex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(LATEX_ESCAPES.get(character, character) for character in make_safe(text))


def render_latex(board: Leaderboard) -> str:
    """Render a `tabular` with booktabs rules.

    In each column, the best value is bold, and values tied with the best one are underlined. Ranks are superscripts.
    """
    head = " & ".join(["Model", *(escape_latex(column.name) for column in board.columns), "Failed"])
    parts = [
        "% Needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}.",
        *(f"% {make_safe(unescaped_line(line))}" for line in leaderboard_notes(board)),
        "% Here the best is bold, what is tied with it underlined, and the rank raised.",
        f"\\begin{{tabular}}{{l{'l' * len(board.columns)}r}}",
        "\\toprule",
        f"{head} \\\\",
        "\\midrule",
    ]
    for row in board.rows:
        cells = [_latex_cell(cell, column) for cell, column in zip(row.cells, board.columns, strict=True)]
        parts.append(" & ".join([escape_latex(row.title), *cells, f"{row.failed:,}"]) + " \\\\")
    return "\n".join([*parts, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _latex_cell(cell: BoardCell | None, column: BoardColumn) -> str:
    if cell is None or not is_number(cell.mean):
        return "--" if cell is None else escape_latex(mean_text(cell, column))
    mean = mean_text(cell, column)
    commands = {"best": f"\\textbf{{{mean}}}", "tied": f"\\underline{{{mean}}}"}
    shown = commands.get(cell.standing, mean)
    rank = "" if cell.rank is None else f"$^{{{rank_text(cell)}}}$"
    interval = interval_text(cell, column)
    return f"{shown}{rank}" + (f" {{\\footnotesize {interval}}}" if interval else "")


def _number(value: Statistic) -> float | None:
    """Return the value of a statistic for a CSV cell.

    If the statistic is not a number, return None, which is written as an empty cell.
    """
    return value if is_number(value) else None


CSV_FIGURES: dict[str, Callable[[BoardCell], str | float | int | None]] = {
    "": lambda cell: _number(cell.mean),
    " low": lambda cell: _number(cell.low),
    " high": lambda cell: _number(cell.high),
    " rank": lambda cell: cell.rank,
    " standing": lambda cell: cell.standing,
    " scored": lambda cell: cell.n_scored,
    " trials": lambda cell: cell.n,
}
"""CSV columns of one column of the leaderboard: suffix of the CSV column's name -> function that returns its value."""

USAGE_FIELDS = (
    *("trials", "failed", "solved", "seconds", "requests", "prompt_tokens", "completion_tokens", "uncounted"),
    *(
        "side_requests",
        "side_prompt_tokens",
        "side_completion_tokens",
        "cost",
        "side_cost",
        "cost_per_solved",
    ),
    *("reasoning_tokens", "reasoning_estimated"),
)
"""Names of the fields of `BoardRow` that are figures other than scores. The CSV columns have the same names."""


def render_csv(board: Leaderboard) -> str:
    """Render a CSV line for each row of the leaderboard. Numbers have full precision."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([escape_formula(value) for value in row] for row in _csv_rows(board))
    return file.getvalue()


def _csv_rows(board: Leaderboard) -> Iterator[list[str | float | int | None]]:
    yield [
        *("model", "detail", "agent", "runs"),
        *(f"{column.name}{figure}" for column in board.columns for figure in CSV_FIGURES),
        *USAGE_FIELDS,
    ]
    for row in board.rows:
        yield [
            *(row.model, row.detail, row.agent, " ".join(row.runs)),
            *(None if cell is None else value(cell) for cell in row.cells for value in CSV_FIGURES.values()),
            *(getattr(row, name) for name in USAGE_FIELDS),
        ]
