"""The list of runs: its columns, and its table for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from benchwright.analysis.run_figures import ListedTarget
from benchwright.analysis.run_list import RunRow
from benchwright.errors import UserError
from benchwright.formats import format_duration, format_interval, number_text
from benchwright.suggestions import did_you_mean
from benchwright.text import one_line

if TYPE_CHECKING:
    from rich.table import Table

SHORT_ID_LENGTH = 15
"""Number of characters at the beginning of a run id that hold the start time (UTC)."""

MAX_MODELS = 3
"""Maximum number of models of a run that are listed, one line each."""

MAX_NOTE_LENGTH = 60
COLUMN_GAP = 2


class ListColumn(NamedTuple):
    """A column: its heading, alignment, and its text for a run (one line, or one for each model).

    `min_width`: the column's minimum width in characters. It is None if the column must keep its full width.
    """

    heading: str
    text: Callable[[RunRow], str]
    is_right_aligned: bool = False
    min_width: int | None = None


def score_text(target: ListedTarget) -> str:
    """Return the first score of a target with its interval.

    Return `no score` if nothing was scored, and a dash if no scorer applies to the target.
    """
    if not target.scores:
        return "–"
    score = target.scores[0]
    ends = format_interval(score.low, score.high)
    return number_text(score.mean_scored) if ends == "–" else f"{number_text(score.mean_scored)} {ends}"


def models_text(row: RunRow) -> str:
    """Return the models of a run, one per line."""
    return _lines([one_line(model) for model in row.models])


def scores_text(row: RunRow) -> str:
    """Return the first score of each model, one per line."""
    return _lines([score_text(target) for target in row.targets])


def _lines(texts: Sequence[str]) -> str:
    more = len(texts) - MAX_MODELS
    return "\n".join([*texts[:MAX_MODELS], *([f"and {more} more"] if more > 0 else [])])


def trials_text(row: RunRow) -> str:
    """Return the number of finished trials. If the planned number differs, it follows.

    Return "?" if the number is unknown.
    """
    if row.done is None:
        return "?"
    return f"{row.done:,}" if row.planned in (None, row.done) else f"{row.done:,} of {row.planned:,}"


def started_text(row: RunRow) -> str:
    """Return the start time of a run, in UTC."""
    return datetime.fromtimestamp(row.created_at / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def time_text(row: RunRow) -> str:
    """Return the working time of a run. Return a dash if the time is unknown."""
    return "–" if row.seconds is None else format_duration(row.seconds)


def _tokens(row: RunRow) -> str:
    return f"{row.prompt_tokens + row.completion_tokens:,}"


def failed_text(row: RunRow) -> str:
    """Return the number of failed trials. Return "" if no trial failed."""
    return f"{row.failed:,}" if row.failed else ""


LIST_COLUMNS: Mapping[str, ListColumn] = {
    "run": ListColumn("Run", lambda row: row.id, min_width=SHORT_ID_LENGTH),
    "id": ListColumn("Id", lambda row: row.id),
    "name": ListColumn("Name", lambda row: one_line(row.label), min_width=11),
    "dataset": ListColumn("Dataset", lambda row: one_line(row.dataset), min_width=11),
    "model": ListColumn("Model", models_text, min_width=11),
    "score": ListColumn("Score [95 %]", scores_text),
    "failed": ListColumn("Failed", failed_text, is_right_aligned=True),
    "trials": ListColumn("Trials", trials_text, is_right_aligned=True),
    "state": ListColumn("State", lambda row: row.state),
    "time": ListColumn("Time", time_text, is_right_aligned=True),
    "tags": ListColumn("Tags", lambda row: ", ".join(map(one_line, row.tags)), min_width=8),
    "note": ListColumn("Note", lambda row: one_line(row.note, MAX_NOTE_LENGTH), min_width=20),
    "agent": ListColumn("Agent", lambda row: one_line(row.agent), min_width=11),
    "kind": ListColumn("Kind", lambda row: row.kind),
    "suite": ListColumn("Suite", lambda row: one_line(row.suite), min_width=8),
    "started": ListColumn("Started (UTC)", started_text),
    "tokens": ListColumn("Tokens", _tokens, is_right_aligned=True),
}
"""All columns of the list of runs, by the names that `--columns` accepts."""

REQUIRED_COLUMNS = ("run", "name", "model", "score", "trials")
OPTIONAL_COLUMNS = ("failed", "tags", "dataset", "agent", "time", "state", "note", "kind")
"""Optional columns, the most important first.

An optional column is shown if it is informative and there is room.
"""

PAGE_COLUMNS = ("name", "model", "score", "failed", "trials", "state", "time", "kind", "tags", "note", "run")
"""Columns that a viewer page shows by default. A column is left out if it is not informative."""

IMPORTANT_COLUMNS = ("failed", "tags")
"""Optional columns that are so important that other columns may become narrow to make room for them."""


def parse_columns(text: str) -> list[str]:
    """Return the names of the columns in a comma-separated list.

    Raises:
        UserError: If a name is not a column.
    """
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in LIST_COLUMNS:
            raise UserError(
                f"There is no column {name!r}.{did_you_mean(name, LIST_COLUMNS)} Columns: {', '.join(LIST_COLUMNS)}."
            )
    return names


def fitting_columns(rows: Sequence[RunRow], room: int) -> list[str]:
    """Return the default columns that fit into `room` characters, in the order of `LIST_COLUMNS`."""
    chosen = list(REQUIRED_COLUMNS)
    for name in OPTIONAL_COLUMNS:
        wider = [*chosen, name]
        narrow = _narrowest if name in IMPORTANT_COLUMNS else _fair
        if _tells(name, rows) and sum(narrow(one, rows) + COLUMN_GAP for one in wider) - COLUMN_GAP <= room:
            chosen = wider
    return [name for name in LIST_COLUMNS if name in chosen]


def listed_columns(rows: Sequence[RunRow]) -> list[str]:
    """Return the columns that a page shows by default, as far as they are informative for these runs."""
    return [
        name for name in PAGE_COLUMNS if name not in OPTIONAL_COLUMNS or name == "state" or _tells(name, rows)
    ]


def _tells(name: str, rows: Sequence[RunRow]) -> bool:
    if name == "dataset":
        return any(row.is_named for row in rows)
    texts = {LIST_COLUMNS[name].text(row) for row in rows}
    return bool(texts - {""}) and (name not in ("kind", "state") or len(texts) > 1 or "finished" not in texts)


def _widest(name: str, rows: Sequence[RunRow]) -> int:
    column = LIST_COLUMNS[name]
    lines = [column.heading, *(line for row in rows for line in column.text(row).split("\n"))]
    return SHORT_ID_LENGTH if name == "run" else max(map(len, lines))


def _narrowest(name: str, rows: Sequence[RunRow]) -> int:
    least, widest = LIST_COLUMNS[name].min_width, _widest(name, rows)
    return widest if least is None else min(least, widest)


def _fair(name: str, rows: Sequence[RunRow]) -> int:
    least = LIST_COLUMNS[name].min_width
    return _narrowest(name, rows) if least is None else min(2 * least, _widest(name, rows))


def short_ids(names: Sequence[str]) -> dict[str, str]:
    """Map each run id to a short part of it that still identifies the run.

    `names` must contain the ids of all runs.

    If no other run began in the same second, the short part is the start time. Otherwise it is the end of the id, if
    that end is unique. If the end is not unique, it is the whole id.
    """
    different = set(names)
    starts, ends = (Counter(map(part, different)) for part in (_start, _end))
    return {
        name: _start(name) if starts[_start(name)] == 1 else _end(name) if ends[_end(name)] == 1 else name
        for name in names
    }


def _start(name: str) -> str:
    return name[:SHORT_ID_LENGTH]


def _end(name: str) -> str:
    return name.rpartition("-")[2]


def render_run_list(
    rows: Sequence[RunRow], columns: Sequence[str], short: Mapping[str, str], room: int
) -> Table:
    """Render the rows as a table at most `room` characters wide. `short`: mapping from id to short id."""
    from rich.table import Table

    from benchwright.reports.fitted_table import wrap_text

    table = Table(box=None, pad_edge=False, padding=(0, COLUMN_GAP, 0, 0))
    widths = _widths(rows, columns, room)
    for name in columns:
        column = LIST_COLUMNS[name]
        table.add_column(
            column.heading,
            justify="right" if column.is_right_aligned else "left",
            overflow="ellipsis" if name == "note" else "fold",
            no_wrap=name == "note" or column.min_width is None,
            width=widths.get(name),
        )
    for row in rows:
        cells = [_cell(name, row, short).split("\n") for name in columns]
        for lines in zip_longest(*cells, fillvalue=""):  # a model and its score share a line
            table.add_row(
                *(
                    wrap_text(line, widths.get(name, len(line)))
                    for name, line in zip(columns, lines, strict=True)
                )
            )
    return table


def _cell(name: str, row: RunRow, short: Mapping[str, str]) -> str:
    return short.get(row.id, row.id) if name == "run" else LIST_COLUMNS[name].text(row)


def _widths(rows: Sequence[RunRow], columns: Sequence[str], room: int) -> dict[str, int]:
    """Return the widths of the flexible columns. They share the room that the other columns leave.

    The narrowest column is widened first.
    """
    least = {name: _narrowest(name, rows) for name in columns}
    most = {name: _widest(name, rows) for name in columns}
    left = room - sum(least.values()) - COLUMN_GAP * (len(columns) - 1)
    while left > 0 and (growing := [name for name in columns if least[name] < most[name]]):
        least[min(growing, key=least.__getitem__)] += 1
        left -= 1
    return {name: width for name, width in least.items() if LIST_COLUMNS[name].min_width is not None}
