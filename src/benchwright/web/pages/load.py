"""The page of a load measurement: its levels and results. Other measurements can be drawn over it."""

from __future__ import annotations

from collections.abc import Sequence

import xxhash
from aiohttp import web
from msgspec.structs import replace

from benchwright.analysis.load.comparison.references import read_loads
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.load.server_metrics_file import SERVER_METRICS_FILE
from benchwright.analysis.run_list import RunRow
from benchwright.app.load.report import compare_detailed_loads
from benchwright.errors import UserError
from benchwright.reports.html.load import loads_part
from benchwright.runs.journal_tail import file_size
from benchwright.web.live_updates import PageState, send_changes
from benchwright.web.rendering import render_page
from benchwright.web.text import load_page_address
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer

POLL_SECONDS = 1.0
"""Seconds between two checks of the levels for changes."""

MAX_OVERLAID_LOADS = 5
"""Maximum number of other measurements that are drawn over a measurement."""

MAX_SELECTABLE_LOADS = 200
"""Maximum number of measurements that can be chosen to be drawn over another one. These are the newest ones."""


async def load_measurement_page(request: web.Request) -> web.Response:
    """Serve the page of a measurement. If the query has `part`, serve only its levels or its figures.

    `with` in the query contains the tags of the other measurements to draw.
    """
    viewer, tag = request.app[VIEWER_KEY], request.match_info["load"]
    others = [one for one in dict.fromkeys(request.query.getall("with", [])) if one != tag][
        :MAX_OVERLAID_LOADS
    ]
    part = request.query.get("part", "")
    if part == "levels":
        return await run_in_thread(lambda: render_page("part_levels.html", rows=_levels(viewer, tag)))
    if part == "figures":
        return await run_in_thread(_figures_part, viewer, [tag, *others])
    return await run_in_thread(_whole, viewer, tag, others)


def _whole(viewer: Viewer, tag: str, others: Sequence[str]) -> web.Response:
    rows = _levels(viewer, tag)
    return render_page(
        "load.html",
        tag=tag,
        rows=rows,
        models=_models(rows),
        others=others,
        offered=_offered(viewer, tag),
        version=_version(rows),
        part=load_page_address(tag, part="figures", **{"with": others}),
    )


def _figures_part(viewer: Viewer, tags: Sequence[str]) -> web.Response:
    loads = [load for tag in tags for load in _loads(viewer, tag)]
    return render_page("part_load.html", figures=loads_part(loads, compare_detailed_loads(loads)))


def _levels(viewer: Viewer, tag: str) -> list[RunRow]:
    """Return the runs of a measurement, the oldest first.

    Raises:
        UserError: If there is no such measurement.
    """
    rows = [row for row in viewer.runs.rows() if row.measurement_tag == tag]
    if not rows:
        raise UserError(f"There is no measurement {tag}.")
    return sorted(rows, key=lambda row: (row.created_at, row.id))


def _loads(viewer: Viewer, tag: str) -> list[DetailedLoad]:
    """Read the measurement of each model from the current journals. The results are cached."""
    rows = _levels(viewer, tag)
    directories = {row.id: viewer.runs.directory(row.id) for row in rows}
    key = (
        tag,
        tuple(
            (row.id, row.size, row.state, file_size(directories[row.id] / SERVER_METRICS_FILE))
            for row in rows
        ),
    )
    newest_first = [(directories[row.id], row.manifest) for row in reversed(rows)]
    loads = viewer.loads.get_or_compute(key, lambda: read_loads(newest_first))
    running = {row.id for row in rows if row.state == "running"}
    return [_marked(load, running) for load in loads] if running else loads


def _marked(load: DetailedLoad, running: set[str]) -> DetailedLoad:
    """Mark the levels that are running. Their journals do not say so."""
    report = load.report
    levels = [replace(one, state="running") if one.run in running else one for one in report.levels]
    return replace(load, report=replace(report, levels=levels))


def _models(rows: Sequence[RunRow]) -> list[str]:
    return list(dict.fromkeys(model for row in rows for model in row.models))


def _offered(viewer: Viewer, tag: str) -> list[tuple[str, str]]:
    """Return (tag, title) of all other load measurements, the newest first."""
    found: dict[str, list[RunRow]] = {}
    for row in viewer.runs.rows():
        if row.measurement_tag not in ("", tag):
            found.setdefault(row.measurement_tag, []).append(row)
    newest = sorted(found, key=lambda one: -found[one][0].created_at)[:MAX_SELECTABLE_LOADS]
    return [(one, f"{', '.join(_models(found[one]))} ({one})") for one in newest]


async def stream_load_updates(request: web.Request) -> web.StreamResponse:
    """Send a server-sent event each time a level changes or a new one begins.

    The events end when the browser disconnects or the viewer closes.
    """
    viewer, tag = request.app[VIEWER_KEY], request.match_info["load"]

    def look() -> PageState:
        return PageState(_version(_levels(viewer, tag)), {})

    await run_in_thread(look)  # raises UserError for a missing measurement before the stream begins
    return await send_changes(request, look, POLL_SECONDS)


def _version(rows: Sequence[RunRow]) -> str:
    seen = "\n".join(f"{row.id} {row.state} {row.size}" for row in rows)
    return xxhash.xxh3_64_hexdigest(seen.encode("utf-8", "replace"))
