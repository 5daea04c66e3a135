"""The page of all runs. The list can be filtered and sorted. Running runs come first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import xxhash
from aiohttp import web

from benchwright.analysis.run_list import RUN_STATES, SORT_KEYS, RunFilter, RunRow, sort_rows
from benchwright.reports.run_list import LIST_COLUMNS, listed_columns, short_ids
from benchwright.runs.manifest_facts import RUN_KINDS
from benchwright.web.live_updates import PageState, send_changes
from benchwright.web.rendering import render_page
from benchwright.web.runs_index import sort_running_first
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer

PAGE_SIZE = 100
"""Number of runs on one page."""

POLL_SECONDS = 1.0
"""Seconds between two checks of all runs for changes."""

QUERY_PARAMETERS = ("q", "kind", "model", "dataset", "tag", "state", "order")

SELECTABLE_COLUMNS = {
    name: column.heading for name, column in LIST_COLUMNS.items() if name not in ("id", "name")
}
"""Columns that the user can choose, with their headings. The run's name, which links to its page, is always shown."""


async def runs_page(request: web.Request) -> web.Response:
    """Serve the list of runs. If the query has `part`, serve only the rows of the list."""
    viewer, query = request.app[VIEWER_KEY], request.query
    asked: dict[str, Any] = {name: query.get(name, "") for name in QUERY_PARAMETERS}
    asked["column"] = [
        name for name in dict.fromkeys(query.getall("column", [])) if name in SELECTABLE_COLUMNS
    ]
    return await run_in_thread(_render, viewer, asked, page_number(request), only_rows="part" in query)


def _render(viewer: Viewer, asked: dict[str, Any], number: int, *, only_rows: bool) -> web.Response:
    rows = viewer.runs.rows()
    found = sort_running_first(sort_rows(list(filter(_wanted(asked).matches, rows)), asked["order"]))
    shown = found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    values: dict[str, Any] = {
        "rows": shown,
        "found": len(found),
        "all": len(rows),
        "unreadable": viewer.runs.unreadable_run_messages(),
        "asked": asked,
        "number": number,
        "pages": max(1, -(-len(found) // PAGE_SIZE)),
        "running": sum(row.state == "running" for row in rows),
        "columns": {name: LIST_COLUMNS[name] for name in _columns(asked["column"], shown)},
        "short": short_ids([row.id for row in rows]),
    }
    if only_rows:
        return render_page("part_runs.html", **values)
    return render_page(
        "runs.html", **values, version=_version(rows), choices=_choices(rows), offered=SELECTABLE_COLUMNS
    )


def _wanted(asked: dict[str, Any]) -> RunFilter:
    return RunFilter(
        kind=asked["kind"],
        state=asked["state"],
        model=asked["model"],
        name=asked["dataset"],
        tags=[asked["tag"]] if asked["tag"] else [],
        words=asked["q"],
    )


def _columns(chosen: list[str], rows: Sequence[RunRow]) -> list[str]:
    return (
        ["name", *(name for name in SELECTABLE_COLUMNS if name in chosen)] if chosen else listed_columns(rows)
    )


def _choices(rows: Sequence[RunRow]) -> dict[str, tuple[str, list[str], str]]:
    """Return the filters that the form offers: field -> (label of the field, its values, text for no filter)."""
    return {
        "kind": ("Kind", list(RUN_KINDS), "all kinds"),
        "model": ("Model", _known(model for row in rows for model in row.models), "all models"),
        "dataset": ("Dataset or benchmark", _known(row.dataset for row in rows), "all data"),
        "tag": ("Tag", _known(tag for row in rows for tag in row.tags), "all tags"),
        "state": ("State", list(RUN_STATES), "all states"),
        "order": ("Order", list(SORT_KEYS), ""),
    }


def _known(values: Iterable[str]) -> list[str]:
    return sorted(set(values), key=str.lower)


async def stream_run_list_updates(request: web.Request) -> web.StreamResponse:
    """Send a server-sent event each time any run changes.

    The events end when the browser disconnects or the viewer closes.
    """
    viewer = request.app[VIEWER_KEY]

    def look() -> PageState:
        rows = viewer.runs.rows()
        return PageState(_version(rows), {"running": sum(row.state == "running" for row in rows)})

    return await send_changes(request, look, POLL_SECONDS)


def _version(rows: Sequence[RunRow]) -> str:
    """Return a digest of the list of runs. Values that change merely because time passes are left out."""
    seen = "\n".join(
        f"{row.id} {row.state} {row.done} {row.planned} {row.tags} {row.note} {row.problem}" for row in rows
    )
    return xxhash.xxh3_64_hexdigest(seen.encode("utf-8", "replace"))


def page_number(request: web.Request) -> int:
    """Return the page number in a request, counted from 1. Return 1 if the number is missing or invalid."""
    text = request.query.get("page", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1
