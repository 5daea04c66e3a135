"""All runs: filtered and sorted, those that run on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xxhash
from aiohttp import web

from benchwright.web.live import Change, tell_changes
from benchwright.web.off_loop import off_loop
from benchwright.web.rendering import page
from benchwright.web.runs_index import ORDERS, STATES, RunRow, filtered, ordered
from benchwright.web.text import address
from benchwright.web.viewer import VIEWER, Viewer

PAGE = 100
"""Runs on one page."""

POLL = 1.0
"""Seconds between two looks at all runs."""

KINDS = ("eval", "benchmark", "pack")


async def runs_page(request: web.Request) -> web.Response:
    """The list, or with `part` only its rows."""
    viewer = request.app[VIEWER]
    asked = {name: request.query.get(name, "") for name in ("q", "kind", "state", "order")}
    number = page_number(request)
    return await off_loop(_render, viewer, asked, number, only_rows="part" in request.query)


def _render(viewer: Viewer, asked: dict[str, str], number: int, *, only_rows: bool) -> web.Response:
    rows = viewer.runs.rows()
    found = ordered(filtered(rows, asked["q"], asked["kind"], asked["state"]), asked["order"])
    values: dict[str, Any] = {
        "rows": found[(number - 1) * PAGE : number * PAGE],
        "found": len(found),
        "all": len(rows),
        "unreadable": viewer.runs.unreadable(),
        "asked": asked,
        "number": number,
        "pages": max(1, -(-len(found) // PAGE)),
        "here": address("/", **asked, page=number if number > 1 else ""),
        "running": sum(row.state == "running" for row in rows),
    }
    if only_rows:
        return page("part_runs.html", **values)
    return page(
        "runs.html", **values, version=_version(rows), kinds=KINDS, states=STATES, orders=list(ORDERS)
    )


async def runs_live(request: web.Request) -> web.StreamResponse:
    """Tells when any run has changed."""
    viewer = request.app[VIEWER]

    def look() -> Change:
        rows = viewer.runs.rows()
        return Change(_version(rows), {"running": sum(row.state == "running" for row in rows)})

    return await tell_changes(request, look, POLL)


def _version(rows: Sequence[RunRow]) -> str:
    """Stands for all that the list shows but for what the clock alone changes."""
    seen = "\n".join(f"{row.id} {row.state} {row.done} {row.total} {row.tags}" for row in rows)
    return xxhash.xxh3_64_hexdigest(seen.encode("utf-8", "replace"))


def page_number(request: web.Request) -> int:
    """The number of a page, from 1; what is none is the first."""
    text = request.query.get("page", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1
