"""One trial: what was said, how it was scored, every attempt, every request; and the same as files."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.web.attempts import attempts_of
from benchwright.web.off_loop import off_loop
from benchwright.web.pages.samples import sample_address, samples_address, wanted_of
from benchwright.web.pages.shown import shown_attempt
from benchwright.web.rendering import page
from benchwright.web.text import safe_name
from benchwright.web.trial_index import Row, TrialIndex
from benchwright.web.trial_selection import Wanted, neighbours
from benchwright.web.viewer import VIEWER, Viewer

PARTS = ("request", "response", "body", "line")


class Place(NamedTuple):
    """Which trial is meant: of which run, and in which table it was found."""

    run: str
    sample: str
    target: str | None
    repeat: int
    wanted: Wanted


def place_of(request: web.Request) -> Place:
    """The trial that the address names."""
    query = request.query
    repeat = query.get("repeat", "")
    wanted = msgspec.structs.replace(wanted_of(request), target=query.get("in", ""))
    return Place(
        request.match_info["run"],
        query.get("id", ""),
        query.get("target") or None,
        int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0,
        wanted,
    )


async def sample_page(request: web.Request) -> web.Response:
    """The page of a trial."""
    return await off_loop(_render, request.app[VIEWER], place_of(request))


async def sample_file(request: web.Request) -> web.Response:
    """A part of a trial as it was journalled, to be saved."""
    part, attempt, exchange = (request.query.get(name, "") for name in ("part", "attempt", "exchange"))
    if part not in PARTS or not (
        attempt.isdecimal() and exchange.isdecimal() and len(attempt + exchange) < 12
    ):
        raise web.HTTPNotFound
    place = place_of(request)
    content = await off_loop(_raw, request.app[VIEWER], place, part, int(attempt), int(exchange))
    name = f"{safe_name(place.sample)}-{place.repeat}-{attempt}-{part}-{exchange}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=content, content_type="application/json", headers=headers)


def find_trial(viewer: Viewer, place: Place) -> tuple[TrialIndex, int]:
    """The index of the run, and the trial's number in it.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    index = viewer.trials(place.run)
    with index.lock:
        number = index.find(place.sample, place.target, place.repeat)
        if number is None:
            index.advance()
            number = index.find(place.sample, place.target, place.repeat)
    if number is None:
        raise web.HTTPNotFound(reason="The run has no such trial yet")
    return index, number


def shown_trial(viewer: Viewer, place: Place) -> tuple[Row, dict[str, Any], str]:
    """A trial, its last attempt as templates want it, and its address.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    index, number = find_trial(viewer, place)
    with index.lock:
        row = index.row(number)
        attempts = attempts_of(viewer.runs.directory(place.run), index, number)
    last = len(attempts) - 1
    href = sample_address(place.run, place.wanted, row.sample, row.target, row.repeat)
    return row, shown_attempt(attempts[last], place.run, last), href


def _render(viewer: Viewer, place: Place) -> web.Response:
    manifest = viewer.runs.manifest(place.run)
    directory = viewer.runs.directory(place.run)
    index, number = find_trial(viewer, place)
    with index.lock:
        row = index.row(number)
        attempts = attempts_of(directory, index, number)
        before, after = neighbours(index, place.wanted, manifest.pass_threshold, number)
        siblings = [(index.row(one), _address_of(place, index, one)) for one in index.siblings(row.sample)]
        siblings.sort(key=lambda one: (one[0].target, one[0].repeat))
        steps = [None if one is None else _address_of(place, index, one) for one in (before, after)]
    shown = [shown_attempt(attempt, place.run, turn) for turn, attempt in enumerate(attempts)]
    return page(
        "sample.html",
        run=viewer.runs.row(place.run),
        manifest=manifest,
        row=row,
        siblings=siblings,
        attempts=shown[::-1],
        before=steps[0],
        after=steps[1],
        up=samples_address(place.run, place.wanted),
    )


def _address_of(place: Place, index: TrialIndex, number: int) -> str:
    row = index.row(number)
    return sample_address(place.run, place.wanted, row.sample, row.target, row.repeat)


def _raw(viewer: Viewer, place: Place, part: str, attempt: int, exchange: int) -> bytes:
    directory = viewer.runs.directory(place.run)
    index, number = find_trial(viewer, place)
    with index.lock:
        attempts = attempts_of(directory, index, number)
    if attempt >= len(attempts):
        raise web.HTTPNotFound
    found = attempts[attempt]
    if part == "body":
        return found.encoded
    if part == "line":
        return msgspec.json.encode(found.record)
    if found.body is None or exchange >= len(found.body.exchanges):
        raise web.HTTPNotFound
    one = found.body.exchanges[exchange]
    if part == "response":
        return bytes(one.response)
    messages = found.body.messages[: one.sent] if isinstance(one.sent, int) else one.sent
    return msgspec.json.encode({**one.request, "messages": messages})
