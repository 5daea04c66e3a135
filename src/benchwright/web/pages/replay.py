"""The page that replays a pack's run: its events, and how each event changes the matrix of scenarios by models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiohttp import web

from benchwright.analysis.pack_runs import models_of
from benchwright.errors import UserError
from benchwright.packs.events import ProgressEvent
from benchwright.packs.run_files import read_events
from benchwright.reports.pack_replay import event_line
from benchwright.text import one_line
from benchwright.web.rendering import render_page
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer

MAX_STEPS = 5_000
"""Maximum number of events on one page. If there are more events, progress messages are left out."""

MAX_MESSAGE_LENGTH = 80
"""Maximum number of characters of a progress message."""

CellKey = tuple[str, str]
"""Type: key of a cell in the matrix, (scenario id, model id)."""


class CellChange(NamedTuple):
    """The new state of a cell: its row and column (from 0), state and text.

    `state` is idle, live, pass, partial, fail or error.
    """

    row: int
    column: int
    state: str
    word: str


class ReplayStep(NamedTuple):
    """An event of the replay.

    It has a text, the row of its scenario (None if it has no scenario), and the changed cells.
    """

    text: str
    row: int | None
    changes: list[CellChange]


def steps_of(
    events: Sequence[ProgressEvent], labels: Mapping[str, str], scenarios: Sequence[str]
) -> list[ReplayStep]:
    """Convert events to steps of the replay.

    `labels`: mapping from model id to label, in the order of the columns.
    """
    matrix = _Matrix(list(scenarios), list(labels))
    return [
        ReplayStep(event_line(event, labels), matrix.row(event), list(matrix.changes(event)))
        for event in events
    ]


class _Matrix:
    """The matrix of scenarios by models during the replay.

    It keeps track of running cells, to reset them after an interruption.
    """

    def __init__(self, scenarios: list[str], models: list[str]) -> None:
        self._rows = {name: place for place, name in enumerate(scenarios)}
        self._columns = {name: place for place, name in enumerate(models)}
        self._at_work: set[CellKey] = set()

    def row(self, event: ProgressEvent) -> int | None:
        return self._rows.get(str(event.get("scenarioId")))

    def changes(self, event: ProgressEvent) -> Iterator[CellChange]:
        kind, place = event.get("type"), (str(event.get("scenarioId")), str(event.get("modelId")))
        if kind in ("run_started", "run_finished", "run_error"):
            yield from (self._change(one, "idle", "") for one in sorted(self._at_work))
            self._at_work.clear()
        elif place[0] not in self._rows or place[1] not in self._columns:
            return
        elif kind == "model_progress":
            self._at_work.add(place)
            yield self._change(place, "live", one_line(str(event.get("message") or ""), MAX_MESSAGE_LENGTH))
        elif kind == "scenario_result":
            self._at_work.discard(place)
            status = _status(event.get("result"))
            yield self._change(place, status, status)

    def _change(self, place: CellKey, state: str, word: str) -> CellChange:
        return CellChange(self._rows[place[0]], self._columns[place[1]], state, word)


def _status(result: Any) -> str:
    """Return the status of a cell, given its result. An unknown status counts as an error."""
    if not isinstance(result, dict) or result.get("errorType"):
        return "error"
    status = result.get("status")
    return status if status in ("pass", "partial", "fail") else "error"


async def replay_page(request: web.Request) -> web.Response:
    """Serve the page that replays a run of a pack."""
    return await run_in_thread(_page, request.app[VIEWER_KEY], request.match_info["run"])


def _page(viewer: Viewer, run: str) -> web.Response:
    row, manifest = viewer.runs.row(run), viewer.runs.manifest(run)
    if manifest.kind != "pack":
        raise UserError(f"{run} is not a run of a pack: only these have events to play.")
    events = read_events(viewer.runs.directory(run))
    shown = events
    if len(events) > MAX_STEPS:
        shown = [event for event in events if event.get("type") != "model_progress"]
    labels = {model.id: model.label for model in models_of(manifest).values()}
    titles = manifest.about.get("scenarios", {})
    return render_page(
        "replay.html",
        row=row,
        pack_name=f"{manifest.about.get('name', manifest.name)} {manifest.about.get('version', '')}",
        labels=list(labels.values()),
        scenarios=titles,
        steps=steps_of(shown, labels, list(titles)),
        left_out=len(events) - len(shown),
    )
