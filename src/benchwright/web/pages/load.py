"""The page of a load measurement: its levels and results, with other measurements overlaid."""

from __future__ import annotations

from collections.abc import Sequence

import xxhash
from aiohttp import web
from msgspec.structs import replace

from benchwright.analysis.load.comparison.references import read_loads
from benchwright.analysis.load.details import DetailedLoad
from benchwright.analysis.load.server_metrics_file import LOOKS
from benchwright.analysis.run_list import RunRow
from benchwright.app.load.report import compared_loads
from benchwright.errors import UserError
from benchwright.reports.html.load import loads_part
from benchwright.runs.tail import size_of
from benchwright.web.live import Change, tell_changes
from benchwright.web.off_loop import off_loop
from benchwright.web.rendering import page
from benchwright.web.text import load_address
from benchwright.web.viewer import VIEWER, Viewer

POLL = 1.0
"""Seconds between two checks of the levels for changes."""

MOST_OVER = 5
"""Maximum number of other measurements that are overlaid."""

MOST_OFFERED = 200
"""Maximum number of measurements, the newest first, that can be chosen for overlaying."""


async def load_page(request: web.Request) -> web.Response:
    """Serve the page of a measurement; if the query has `part`, only its levels or figures.

    The query's `with` contains the tags of the measurements to overlay.
    """
    viewer, tag = request.app[VIEWER], request.match_info["load"]
    others = [one for one in dict.fromkeys(request.query.getall("with", [])) if one != tag][:MOST_OVER]
    part = request.query.get("part", "")
    if part == "levels":
        return await off_loop(lambda: page("part_levels.html", rows=_levels(viewer, tag)))
    if part == "figures":
        return await off_loop(_figures_part, viewer, [tag, *others])
    return await off_loop(_whole, viewer, tag, others)


def _whole(viewer: Viewer, tag: str, others: Sequence[str]) -> web.Response:
    rows = _levels(viewer, tag)
    return page(
        "load.html",
        tag=tag,
        rows=rows,
        models=_models(rows),
        others=others,
        offered=_offered(viewer, tag),
        version=_version(rows),
        part=load_address(tag, part="figures", **{"with": others}),
    )


def _figures_part(viewer: Viewer, tags: Sequence[str]) -> web.Response:
    loads = [load for tag in tags for load in _loads(viewer, tag)]
    return page("part_load.html", figures=loads_part(loads, compared_loads(loads)))


def _levels(viewer: Viewer, tag: str) -> list[RunRow]:
    """Return the runs of a measurement, the oldest first.

    Raises:
        UserError: If there is no such measurement.
    """
    rows = [row for row in viewer.runs.rows() if row.measurement == tag]
    if not rows:
        raise UserError(f"There is no measurement {tag}.")
    return sorted(rows, key=lambda row: (row.created_at, row.id))


def _loads(viewer: Viewer, tag: str) -> list[DetailedLoad]:
    """Read the measurement of each model from the current journals. Results are cached."""
    rows = _levels(viewer, tag)
    directories = {row.id: viewer.runs.directory(row.id) for row in rows}
    key = (tag, tuple((row.id, row.size, row.state, size_of(directories[row.id] / LOOKS)) for row in rows))
    newest_first = [(directories[row.id], row.manifest) for row in reversed(rows)]
    loads = viewer.loads.get(key, lambda: read_loads(newest_first))
    running = {row.id for row in rows if row.state == "running"}
    return [_marked(load, running) for load in loads] if running else loads


def _marked(load: DetailedLoad, running: set[str]) -> DetailedLoad:
    """Mark the levels that are running, because their journals do not contain this state."""
    report = load.report
    levels = [replace(one, state="running") if one.run in running else one for one in report.levels]
    return replace(load, report=replace(report, levels=levels))


def _models(rows: Sequence[RunRow]) -> list[str]:
    return list(dict.fromkeys(model for row in rows for model in row.models))


def _offered(viewer: Viewer, tag: str) -> list[tuple[str, str]]:
    """Return (tag, title) of all other measurements, the newest first."""
    found: dict[str, list[RunRow]] = {}
    for row in viewer.runs.rows():
        if row.measurement not in ("", tag):
            found.setdefault(row.measurement, []).append(row)
    newest = sorted(found, key=lambda one: -found[one][0].created_at)[:MOST_OFFERED]
    return [(one, f"{', '.join(_models(found[one]))} ({one})") for one in newest]


async def load_live(request: web.Request) -> web.StreamResponse:
    """Send a server-sent event each time a level changes or a new one begins.

    The events end when the browser disconnects or the viewer closes.
    """
    viewer, tag = request.app[VIEWER], request.match_info["load"]

    def look() -> Change:
        return Change(_version(_levels(viewer, tag)), {})

    await off_loop(look)  # raises UserError for a missing measurement before the stream begins
    return await tell_changes(request, look, POLL)


def _version(rows: Sequence[RunRow]) -> str:
    seen = "\n".join(f"{row.id} {row.state} {row.size}" for row in rows)
    return xxhash.xxh3_64_hexdigest(seen.encode("utf-8", "replace"))
