"""One trial: what was said, how it was scored, every attempt, every request; and the same as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.engine.journal import Body, ExchangeBody, decode_body, read_encoded_body, read_line
from benchwright.records import RequestRecord, ScoreRecord, TrialRecord, trial_status
from benchwright.reports.html.charts.times import waterfall
from benchwright.reports.html.records import Segment, TimedTrial
from benchwright.reports.html.text import cut
from benchwright.web.conversation import pretty, pretty_text, said_in, said_last
from benchwright.web.off_loop import off_loop
from benchwright.web.pages.run import sample_address, samples_address, wanted_of
from benchwright.web.rendering import page
from benchwright.web.text import LONGEST, address, safe_name
from benchwright.web.trial_index import Row, TrialIndex
from benchwright.web.trial_selection import Wanted, neighbours
from benchwright.web.viewer import VIEWER, Viewer

MOST_BARS = 60
"""Requests of one attempt that the waterfall draws."""

SHOWN_RAW = 20_000
"""Characters of a raw request or answer that the page shows; the file has all."""

PARTS = ("request", "response", "body", "line")


class Place(NamedTuple):
    """Which trial is meant: of which run, and in which table it was found."""

    run: str
    sample: str
    target: str | None
    repeat: int
    wanted: Wanted


class Attempt(NamedTuple):
    """An attempt at a trial, as it is in the journal; `body` is None where it cannot be read."""

    record: TrialRecord
    scores: list[ScoreRecord]
    body: Body | None
    encoded: bytes


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


def attempts_of(directory: Path, index: TrialIndex, number: int) -> list[Attempt]:
    """Every attempt at a trial, the oldest first; call with the index's lock held."""
    found: list[Attempt] = []
    starts = index.attempts(number)
    scores = index.scores(number)
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else None
        record = read_line(directory, start)
        assert isinstance(record, TrialRecord)
        own = [
            line
            for offset in scores
            if offset > start and (end is None or offset < end)
            and isinstance(line := read_line(directory, offset), ScoreRecord)
        ]  # fmt: skip
        encoded = read_encoded_body(directory, record.body[0]) if record.body[1] else b""
        try:
            body = decode_body(encoded)
        except (msgspec.DecodeError, UnicodeDecodeError):
            body = None
        found.append(Attempt(record, own, body, encoded))
    return found


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
    return row, _shown(attempts[last], place, last), href


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
    shown = [_shown(attempt, place, turn) for turn, attempt in enumerate(attempts)]
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


def _shown(attempt: Attempt, place: Place, turn: int) -> dict[str, Any]:
    """An attempt as the template wants it."""
    record, scores, body = attempt.record, attempt.scores, attempt.body
    spans = [score.span for score in scores if score.span]
    native = body.native if body is not None else None
    return {
        "number": turn,
        "record": record,
        "status": trial_status(record.status, [score.status for score in scores]),
        "scores": [{"score": score, "detail": pretty(score.detail) if score.detail else ""} for score in scores],
        "readable": body is not None,
        "said": said_in(body, spans) if body is not None else [],
"answer": cut(body.answer, LONGEST) if body is not None and not said_last(body) else [],
        "waterfall": _waterfall(record) if record.requests else "",
        "exchanges": [_exchange(one) for one in (body.exchanges if body is not None else [])],
        "artifacts": _artifacts(body),
        "native": cut(pretty(native), SHOWN_RAW) if native is not None else [],
        "pack": _pack_result(native),
        "file": lambda part, exchange=0: address(
            f"/runs/{place.run}/sample/file",
            id=record.sample, target=record.target, repeat=record.repeat or "", attempt=turn, part=part,
            exchange=exchange,
        ),
    }  # fmt: skip


def _waterfall(record: TrialRecord) -> Any:
    bars = [
        TimedTrial(f"{request.role} {request.turn + 1}", 0, 0.0, _end(request), _segments(request))
        for request in record.requests[:MOST_BARS]
    ]
    return waterfall("Requests of the trial", bars)


def _end(request: RequestRecord) -> float:
    return (request.started + request.total) / 1e9


def _segments(request: RequestRecord) -> list[Segment]:
    """What came before the bytes were sent lies before `started`, the rest behind it."""
    start = request.started
    sent = start - request.connect
    found = [
        Segment("waited", max(0, sent - request.waited) / 1e9, request.waited / 1e9),
        Segment("connect", max(0, sent) / 1e9, request.connect / 1e9),
    ]
    if request.ttft is None:
        found.append(Segment("answer", start / 1e9, request.total / 1e9))
    else:
        found.append(Segment("first token", start / 1e9, request.ttft / 1e9))
        found.append(
            Segment("generation", (start + request.ttft) / 1e9, (request.total - request.ttft) / 1e9)
        )
    return [one for one in found if one.length > 0]


def _exchange(exchange: ExchangeBody) -> dict[str, Any]:
    sent = exchange.sent
    messages = f"the first {sent} messages above" if isinstance(sent, int) else pretty(sent)
    response = bytes(exchange.response).decode("utf-8", "replace")
    return {
        "request": cut(pretty(exchange.request), SHOWN_RAW),
        "messages": cut(messages, SHOWN_RAW),
        "response": cut(pretty_text(response) if len(response) < 2**20 else response, SHOWN_RAW),
    }


def _artifacts(body: Body | None) -> list[tuple[str, Any]]:
    if body is None:
        return []
    return [
        (str(name), cut(value if isinstance(value, str) else pretty(value), SHOWN_RAW))
        for name, value in body.artifacts.items()
    ]


def _pack_result(native: Any) -> dict[str, Any] | None:
    """What a pack's own result says besides the conversation, read leniently."""
    if not isinstance(native, dict) or "status" not in native:
        return None
    verifier, artifacts = native.get("verifier"), native.get("artifacts")
    return {
        "status": str(native["status"])[:20],
        "summary": str(native.get("summary") or ""),
        "note": str(native.get("note") or ""),
        "log": cut(str(native.get("rawLog") or ""), LONGEST),
        "verifier": verifier if isinstance(verifier, dict) else None,
        "details": cut(pretty(verifier.get("details")), SHOWN_RAW)
        if isinstance(verifier, dict) and verifier.get("details")
        else [],
        "output": cut(pretty(native["output"]), SHOWN_RAW) if native.get("output") else [],
        "artifacts": [one for one in artifacts if isinstance(one, dict)]
        if isinstance(artifacts, list)
        else [],
    }


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
