"""The page of a leaderboard. It shows the newest runs, or the runs that match a suite, words and a kind."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from benchwright.analysis.leaderboard.board import BoardEntry, BoardOptions, build_leaderboard
from benchwright.analysis.leaderboard.records import Leaderboard
from benchwright.analysis.leaderboard.row_order import order_names, sort_board
from benchwright.analysis.leaderboard.spending import parse_price
from benchwright.analysis.run_list import RunFilter, RunRow
from benchwright.analysis.run_list import sort_rows as ordered_rows
from benchwright.reports.comparison.sentences import unescaped_line
from benchwright.reports.html.leaderboard import block_table, board_sections, board_table
from benchwright.reports.leaderboard.cell_texts import leaderboard_notes
from benchwright.runs.manifest_facts import RUN_KINDS, VALIDATION_KIND
from benchwright.runs.run_selection import newest_run_of_each_part
from benchwright.web.rendering import render_page
from benchwright.web.text import viewer_address
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer

MAX_RUNS = 50
"""Maximum number of runs in a leaderboard. These are the newest matching runs. A suite is always shown completely."""

GROUPINGS = {"": "a row for each model", "run": "a row for each run"}
QUERY_PARAMETERS = ("q", "kind", "suite", "by", "sort", "price")


async def leaderboard_page(request: web.Request) -> web.Response:
    """Serve the page on which runs are selected.

    If the query has `part`, serve only the leaderboard of the selected runs.

    The leaderboard is loaded separately, because reading many journals takes a moment.
    """
    query = request.query
    asked = {name: query.get(name, "") for name in QUERY_PARAMETERS}
    viewer, runs = request.app[VIEWER_KEY], query.getall("run", [])
    if query.get("part") == "board":
        return await run_in_thread(_board_part, viewer, asked, runs)
    return await run_in_thread(_choice, viewer, asked, runs)


def _choice(viewer: Viewer, asked: dict[str, str], runs: list[str]) -> web.Response:
    suites = sorted({row.suite for row in viewer.runs.rows()} - {""}, key=str.lower)
    part = _address(asked, runs, part="board")
    return render_page(
        "table.html", asked=asked, runs=runs, kinds=RUN_KINDS, suites=suites, by=GROUPINGS, part=part
    )


def _address(asked: dict[str, str], runs: list[str], **more: str) -> str:
    named = {"run": runs} if runs else {}
    return viewer_address("/table", **{**asked, **more, **named})


def _board_part(viewer: Viewer, asked: dict[str, str], runs: list[str]) -> web.Response:
    rows = [viewer.runs.row(run) for run in runs] or _fitting(viewer, asked)
    oldest_first = sorted(rows, key=lambda row: (row.created_at, row.id))
    newest = oldest_first if asked["suite"] else oldest_first[-MAX_RUNS:]
    board = _leaderboard(viewer, newest, asked["by"], asked["price"])
    by = asked["sort"] if asked["sort"] in order_names(board) else ""

    def href(run: str) -> str:
        return viewer_address(f"/runs/{run}")

    def sorting(name: str) -> str:
        return _address({**asked, "sort": name}, runs)

    shown: dict[str, Any] = {
        "board": board,
        "table": board_table(sort_board(board, by), by, href, sorting),
        "lines": [(line.kind, unescaped_line(line)) for line in leaderboard_notes(board)],
        "sections": list(board_sections(sort_board(board, by))),
        "plot_table": block_table,
        "left_out": len(rows) - len(newest),
        "by_rank": sorting("") if by else "",
    }
    return render_page("part_table.html", **shown)


def _fitting(viewer: Viewer, asked: dict[str, str]) -> list[RunRow]:
    """Return the runs that match the query. For a suite, return the newest run of each part of the suite."""
    rows = viewer.runs.rows()
    if asked["suite"]:
        of_suite = [
            (row, row.manifest) for row in ordered_rows(rows, "newest") if row.suite == asked["suite"]
        ]
        rows = [row for row, _ in newest_run_of_each_part(of_suite)]
    if not asked["kind"]:
        rows = [row for row in rows if row.kind != VALIDATION_KIND]
    return list(filter(RunFilter(kind=asked["kind"], words=asked["q"]).matches, rows))


def _leaderboard(viewer: Viewer, rows: list[RunRow], by: str, prices: str) -> Leaderboard:
    """Build the leaderboard of runs. `prices`: a list of prices separated by `;`.

    Each price is written as in `table --price`.

    Raises:
        UserError: If a price is invalid.
    """
    key = (by, prices, tuple((row.id, row.size, row.state) for row in rows))
    priced = dict(parse_price(one.strip()) for one in prices.split(";") if one.strip())
    wanted = BoardOptions(group_by="run" if by == "run" else "model", prices=priced)
    return viewer.leaderboards.get_or_compute(
        key, lambda: build_leaderboard([BoardEntry(viewer.runs.directory(row.id)) for row in rows], wanted)
    )
