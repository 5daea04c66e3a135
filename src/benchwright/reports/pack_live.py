"""The matrix of scenarios by models of a running pack, for a terminal.

It is cut to the terminal's size, around the running cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.formats import count_with_noun
from benchwright.packs.results import CellState
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.reports.pack import cell_sign, cell_text
from benchwright.text import make_safe

NAME_WIDTH = 30
"""Width of a scenario's or model's name, in characters."""
CELL_WIDTH = 13
"""Width of a model's column, in characters."""

CellStates = Mapping[tuple[str, str], CellState]


def render_live(
    models: Mapping[str, RegisteredModel],
    scenarios: Sequence[ScenarioMeta],
    cells: CellStates,
    columns: int,
    lines: int,
) -> RenderableType:
    """Render the matrix of scenarios by models, at most `columns` characters wide and `lines` lines high.

    Running cells are visible, and rows that do not fit are counted. Scenarios are the rows of the matrix. If there are
    more models than fit side by side, scenarios are its columns.
    """
    first, last = _at_work(models, scenarios, cells)
    if NAME_WIDTH + CELL_WIDTH * len(models) <= columns:
        shown = _window(len(scenarios), first, last, lines - 1)
        table = _table([column_label(models, slot) for slot in models], CELL_WIDTH)
        for scenario in scenarios[shown.start : shown.stop]:
            found = [cell_text(cells.get((slot, scenario.id))) for slot in models]
            table.add_row(_cut(f"{scenario.id}  {scenario.title}"), *found)
        return Group(table, *_hidden(len(scenarios), shown, "scenario"))
    width = 1 + max(len(make_safe(scenario.id)) for scenario in scenarios)
    shown = _window(len(scenarios), first, last, max(1, (columns - NAME_WIDTH) // width), reserve=0)
    rows = list(models)[: lines - 3]
    table = _table([make_safe(scenario.id) for scenario in scenarios[shown.start : shown.stop]], width)
    for slot in rows:
        signs = [
            cell_sign(cells.get((slot, scenario.id))) for scenario in scenarios[shown.start : shown.stop]
        ]
        table.add_row(_cut(models[slot].label), *signs)
    more = (
        [Text(f"… {count_with_noun(len(models) - len(rows), 'more model')}")]
        if len(rows) < len(models)
        else []
    )
    return Group(table, *more, *_hidden(len(scenarios), shown, "scenario"))


def column_label(models: Mapping[str, RegisteredModel], slot: str) -> str:
    """Return the label of the model in a slot, made safe for a terminal."""
    return make_safe(models[slot].label)


def _table(heads: Sequence[str], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", width=NAME_WIDTH - 1, no_wrap=True, overflow="ellipsis")
    for head in heads:
        table.add_column(head, width=width - 1, no_wrap=True, overflow="ellipsis")
    return table


def _cut(text: str) -> Text:
    return Text(make_safe(text), no_wrap=True, overflow="ellipsis")


def _at_work(
    models: Mapping[str, RegisteredModel], scenarios: Sequence[ScenarioMeta], cells: CellStates
) -> tuple[int, int]:
    """Return (first, last): the positions of the first and of the last scenario that has a running cell.

    If no cell is running, both are the position of the first scenario with a cell that has not begun. If there is no
    such scenario, both are the position of the last scenario.
    """
    running, unbegun = [], []
    for at, scenario in enumerate(scenarios):
        states = [cells.get((slot, scenario.id)) for slot in models]
        if any(state is not None and state.running_since is not None for state in states):
            running.append(at)
        if any(state is None or not state.attempts for state in states):
            unbegun.append(at)
    if running:
        return running[0], running[-1]
    return (unbegun[0], unbegun[0]) if unbegun else (len(scenarios) - 1, len(scenarios) - 1)


def _window(count: int, first: int, last: int, room: int, reserve: int = 1) -> range:
    """Return the positions of the rows to show, out of `count` rows, if only `room` rows fit.

    They are centred on the rows from `first` to `last`. `reserve`: number of rows that stay free for the count of
    hidden rows, if not all rows fit.
    """
    room = max(1, room if count <= room else room - reserve)
    start = (first + min(last, first + room - 1)) // 2 - room // 2
    start = max(0, min(start, count - room))
    return range(start, min(count, start + room))


def _hidden(count: int, shown: range, what: str) -> list[Text]:
    above, below = shown.start, count - shown.stop
    parts = [f"{count_with_noun(above, what)} above"] if above else []
    parts += [f"{count_with_noun(below, what)} below"] if below else []
    return [Text(f"… {', '.join(parts)}", style="dim")] if parts else []
