"""One trial: what was said, how it was scored, every attempt, every request; and the same as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.errors import JournalError
from benchwright.runs.journal import decode_body, read_encoded_body
from benchwright.runs.manifest import target_names
from benchwright.runs.scored import ScoredTrial
from benchwright.web.off_loop import off_loop
from benchwright.web.pages.samples import sample_address, samples_address, wanted_of
from benchwright.web.pages.shown import shown_attempt
from benchwright.web.rendering import page
from benchwright.web.run_trials import Row, RunTrials
from benchwright.web.text import safe_name
from benchwright.web.trial_selection import TrialQuery, neighbours, passing_score
from benchwright.web.viewer import VIEWER, Viewer

PARTS = ("request", "response", "body", "line")


class Place(NamedTuple):
    """Which trial is meant: of which run, and in which table it was found."""

    run: str
    sample: str
    target: str | None
    repeat: int
    wanted: TrialQuery


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


def find_trial(viewer: Viewer, place: Place) -> tuple[RunTrials, int]:
    """The trials of the run, and the row of the one that is meant.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    trials = viewer.trials(place.run)
    with trials.lock:
        number = trials.find(place.sample, place.target, place.repeat)
    if number is None:
        trials.read_all()
        with trials.lock:
            number = trials.find(place.sample, place.target, place.repeat)
    if number is None:
        raise web.HTTPNotFound(reason="The run has no such trial yet")
    return trials, number


def shown_trial(viewer: Viewer, place: Place) -> tuple[Row, dict[str, Any], str]:
    """A trial, the attempt at it that counts as templates want it, and its address.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    trials, number = find_trial(viewer, place)
    with trials.lock:
        row, counting = trials.row(number), trials.table.trial(number)
        turn = trials.table.all_attempts(number).index(counting)
    shown = shown_attempt(trials.table.directory, counting, place.run, turn)
    return row, shown, _address_of(place, row)


def _render(viewer: Viewer, place: Place) -> web.Response:
    manifest = viewer.runs.manifest(place.run)
    trials, number = find_trial(viewer, place)
    with trials.lock:
        row = trials.row(number)
        attempts = trials.table.all_attempts(number)
        around = neighbours(manifest, trials.table, place.wanted, number)
        steps = [None if one is None else _address_of(place, trials.row(one)) for one in around]
        siblings = trials.siblings(row.sample)
        passing = passing_score(manifest, trials.table)
    directory = trials.table.directory
    shown = [shown_attempt(directory, attempt, place.run, turn) for turn, attempt in enumerate(attempts)]
    return page(
        "sample.html",
        run=viewer.runs.row(place.run),
        manifest=manifest,
        names=target_names(manifest),
        row=row,
        siblings=[(one, _address_of(place, one)) for one in siblings],
        passing=passing,
        attempts=shown[::-1],
        before=steps[0],
        after=steps[1],
        up=samples_address(place.run, place.wanted),
    )


def _address_of(place: Place, row: Row) -> str:
    return sample_address(place.run, place.wanted, row.sample, row.target, row.repeat)


def _raw(viewer: Viewer, place: Place, part: str, turn: int, exchange: int) -> bytes:
    trials, number = find_trial(viewer, place)
    with trials.lock:
        attempts = trials.table.all_attempts(number)
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
