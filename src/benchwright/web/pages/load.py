"""A measurement under load by its tag, and others laid over it: `/loads/TAG?with=TAG`."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from benchwright.analysis.load.against.references import find_loads
from benchwright.analysis.report.loads import load_part
from benchwright.analysis.run_list import RunRow
from benchwright.errors import UserError
from benchwright.reports.html.loads import load_page as made_page
from benchwright.reports.html.loads import load_parts
from benchwright.web.off_loop import off_loop
from benchwright.web.rendering import page
from benchwright.web.text import address
from benchwright.web.viewer import VIEWER, Viewer

MOST_TOGETHER = 6
"""Measurements on one page."""


async def load_page(request: web.Request) -> web.Response:
    """The page, and with `part` what is on it: reading the runs takes a moment."""
    viewer, tags = request.app[VIEWER], [request.match_info["load"], *request.query.getall("with", [])]
    tags = list(dict.fromkeys(tag for tag in tags if tag))[:MOST_TOGETHER]
    rows = await off_loop(_rows, viewer)
    unknown = [tag for tag in tags if tag not in rows]
    if unknown:
        raise UserError(f"There is no measurement {unknown[0]}.")
    if request.query.get("part") == "figures":
        return await off_loop(_figures, viewer, tags, [row for tag in tags for row in rows[tag]])
    return page(
        "load.html",
        tags=tags,
        others=[tag for tag in sorted(rows, reverse=True) if tag not in tags],
        running=any(row.state == "running" for tag in tags for row in rows[tag]),
        part=address(f"/loads/{tags[0]}", **{"with": tags[1:], "part": "figures"}),
    )


def _rows(viewer: Viewer) -> dict[str, list[RunRow]]:
    """The runs of each measurement by its tag."""
    found: dict[str, list[RunRow]] = {}
    for row in viewer.runs.rows():
        if row.measurement:
            found.setdefault(row.measurement, []).append(row)
    return found


def _figures(viewer: Viewer, tags: Sequence[str], rows: Sequence[RunRow]) -> web.Response:
    key = ("load", *((row.id, row.size, row.state) for row in rows))
    parts = viewer.loads.get(key, lambda: [load_part(report) for tag in tags for report in find_loads(tag)])

    def href(run: str) -> str:
        return address(f"/runs/{run}")

    return page("part_load.html", parts=load_parts(made_page(parts), href))
