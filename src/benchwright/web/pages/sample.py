"""The page of one trial: its conversation, scores, attempts and requests. Their raw data can be downloaded as files."""

from __future__ import annotations

from pathlib import Path

import msgspec
from aiohttp import web

from benchwright.analysis.scores import passing_score
from benchwright.errors import JournalError
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import decode_body, read_encoded_body
from benchwright.runs.manifest import display_names
from benchwright.runs.pictures import read_picture
from benchwright.web.pages.attempt import attempt_values
from benchwright.web.pages.compare import neighbouring_changes
from benchwright.web.pages.trial_addresses import (
    TrialPlace,
    find_trial,
    other_trial_address,
    parse_trial_place,
    row_address,
)
from benchwright.web.pages.trial_preview import MAX_TEXT_LENGTH, preview_values, same_sample_trials
from benchwright.web.pages.trials_table import trials_table_address
from benchwright.web.rendering import render_page
from benchwright.web.run_trials import TrialRow
from benchwright.web.text import safe_file_name, viewer_address
from benchwright.web.threads import run_in_thread
from benchwright.web.trial_selection import find_neighbours
from benchwright.web.viewer import VIEWER_KEY, Viewer

DOWNLOADABLE_PARTS = ("request", "response", "body", "line")


async def sample_page(request: web.Request) -> web.Response:
    """Serve the page of a trial."""
    return await run_in_thread(_render, request.app[VIEWER_KEY], parse_trial_place(request))


async def download_sample_file(request: web.Request) -> web.Response:
    """Serve a file of a trial as a download: a request, a response, the body or the journal line.

    Raises:
        HTTPNotFound: If there is no such file, attempt or request.
    """
    part, attempt, exchange = (request.query.get(name, "") for name in ("part", "attempt", "exchange"))
    if part not in DOWNLOADABLE_PARTS or not (
        attempt.isdecimal() and exchange.isdecimal() and len(attempt + exchange) < 12
    ):
        raise web.HTTPNotFound
    place = parse_trial_place(request)
    content = await run_in_thread(_raw, request.app[VIEWER_KEY], place, part, int(attempt), int(exchange))
    name = f"{safe_file_name(place.sample)}-{place.repeat}-{attempt}-{part}-{exchange}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=content, content_type="application/json", headers=headers)


async def serve_picture(request: web.Request) -> web.Response:
    """Serve an image of a run. The suffix of the image's name states its type.

    Raises:
        HTTPNotFound: If the run has no such image.
    """
    viewer, name = request.app[VIEWER_KEY], request.match_info["name"]
    data = await run_in_thread(_picture, viewer, request.match_info["run"], name)
    return web.Response(body=data, content_type=f"image/{name.rpartition('.')[2]}")


def _picture(viewer: Viewer, run: str, name: str) -> bytes:
    data = read_picture(viewer.runs.directory(run), name)
    if data is None:
        raise web.HTTPNotFound(reason="The run has no such image")
    return data


def _render(viewer: Viewer, place: TrialPlace) -> web.Response:
    manifest = viewer.runs.manifest(place.run)
    trials, number = find_trial(viewer, place)
    directory = trials.table.directory
    with trials.lock:
        row, counting = trials.row(number), trials.table.read_trial(number)
        attempts = trials.table.read_attempts(number)
        near = find_neighbours(manifest, trials.table, place.query, number)
        steps = {
            name: None if one is None else row_address(place, trials.row(one))
            for name, one in near._asdict().items()
        }
        others = same_sample_trials(trials, place, number)
        siblings = trials.trials_of_sample(row.sample)
        passing = passing_score(manifest, trials.table)
    return render_page(
        "sample.html",
        run=viewer.runs.row(place.run),
        manifest=manifest,
        names=display_names(manifest),
        row=row,
        siblings=[(one, row_address(place, one)) for one in siblings],
        passing=passing,
        short=preview_values(directory, counting),
        beside=[one | preview_values(directory, one["trial"], MAX_TEXT_LENGTH) for one in others],
        attempts=[attempt_values(directory, one, place.run, turn) for turn, one in enumerate(attempts)][::-1],
        steps=steps,
        changed=_changed(viewer, place, row),
        up=trials_table_address(place.run, place.query),
    )


def _changed(viewer: Viewer, place: TrialPlace, row: TrialRow) -> dict[str, str | None] | None:
    """Return links to the changed samples before and after this one, and to the open comparison.

    Return None if no comparison is open.
    """
    if not place.comparison:
        return None
    before, after = (
        None if change is None else other_trial_address(place, change.sample, row.target, change.repeat)
        for change in neighbouring_changes(viewer, place.comparison, row.sample, row.repeat)
    )
    return {"up": viewer_address("/compare", **place.comparison), "before": before, "after": after}


def _raw(viewer: Viewer, place: TrialPlace, part: str, turn: int, exchange: int) -> bytes:
    trials, number = find_trial(viewer, place)
    with trials.lock:
        attempts = trials.table.read_attempts(number)
    if turn >= len(attempts):
        raise web.HTTPNotFound
    if part == "line":
        return msgspec.json.encode(attempts[turn].record)
    return _said(trials.table.directory, attempts[turn], part, exchange)


def _said(directory: Path, attempt: ScoredTrial, part: str, exchange: int) -> bytes:
    try:
        encoded = read_encoded_body(directory, attempt.record)
        body = decode_body(encoded, attempt.record)
    except JournalError:
        raise web.HTTPNotFound(reason="The conversation was lost") from None
    if part == "body":
        return encoded
    if exchange >= len(body.exchanges):
        raise web.HTTPNotFound
    one = body.exchanges[exchange]
    if part == "response":
        return bytes(one.response)
    messages = body.messages[: one.sent] if isinstance(one.sent, int) else one.sent
    return msgspec.json.encode({**one.request, "messages": messages})
