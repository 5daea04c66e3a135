"""The table of a run's trials: which of them are wanted, a line each, and the addresses that keep the choice."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from benchwright.engine.answers import content_text
from benchwright.errors import JournalError
from benchwright.records import Message, ScoreRecord, TrialRecord
from benchwright.reports.html.text import one_line
from benchwright.runs.journal import Body, decode_body, read_encoded_body, read_line
from benchwright.runs.manifest import Manifest
from benchwright.web.pages.runs import page_number
from benchwright.web.runs_index import RunRow
from benchwright.web.text import address
from benchwright.web.trial_index import TrialIndex
from benchwright.web.trial_selection import EXPLAINED, FILTERS, ORDERS, Wanted, select
from benchwright.web.viewer import Viewer

PAGE = 50
"""Trials on one page."""

FIRST_READING = 0.2
"""Seconds that a page waits for a long journal to be read; the rest is shown as it comes."""

LONGEST_BODY = 2**16
"""Bytes of a conversation that is read for one line of a table."""


def wanted_of(request: web.Request) -> Wanted:
    """Which trials the address asks for."""
    query = request.query
    return Wanted(
        only=query.get("only", "all") if query.get("only") in FILTERS else "all",
        words=query.get("q", ""),
        target=query.get("target", ""),
        order=query.get("order", "begun") if query.get("order") in ORDERS else "begun",
        page=page_number(request),
    )


def samples_address(run: str, wanted: Wanted, **changes: Any) -> str:
    """The address of a run with its table as it is wanted."""
    return address(f"/runs/{run}", **_query(msgspec.structs.replace(wanted, **changes)))


def sample_address(run: str, wanted: Wanted, sample: str, target: str, repeat: int) -> str:
    """The address of a trial that knows the table it was found in."""
    found_in = _query(msgspec.structs.replace(wanted, page=1))
    found_in["in"] = found_in.pop("target")
    return address(f"/runs/{run}/sample", id=sample, target=target, repeat=repeat or "", **found_in)


def _query(wanted: Wanted) -> dict[str, Any]:
    return {
        "only": "" if wanted.only == "all" else wanted.only,
        "q": wanted.words,
        "target": wanted.target,
        "order": "" if wanted.order == "begun" else wanted.order,
        "page": "" if wanted.page == 1 else wanted.page,
    }


def samples_values(viewer: Viewer, row: RunRow, manifest: Manifest, wanted: Wanted) -> dict[str, Any]:
    """A page of the table as the template wants it."""
    index = viewer.trials(row.id)
    with index.lock:
        whole = index.advance(FIRST_READING)
        found = select(index, wanted, manifest.pass_threshold, PAGE)
        lines = [_line(viewer, row.id, index, number) for number in found.numbers]
        return {
            "wanted": wanted,
            "lines": lines,
            "count": found.found,
            "counts": found.counts,
            "pages": max(1, -(-found.found // PAGE)),
            "position": index.position,
            "read": None if whole else index.position / max(1, index.size()),
            "unreadable": index.unreadable,
            "scorers": list(index.scorers),
            "targets": list(index.targets),
            "filters": {name: told for name, (told, _) in FILTERS.items()},
            "explained": EXPLAINED,
            "url": lambda **changes: samples_address(row.id, wanted, **changes),
            "sample_url": lambda line: sample_address(
                row.id, wanted, line["row"].sample, line["row"].target, line["row"].repeat
            ),
        }


def _line(viewer: Viewer, run: str, index: TrialIndex, number: int) -> dict[str, Any]:
    """A row of the table, with the beginning of what was asked and what was taken as the answer."""
    directory = viewer.runs.directory(run)
    asked, answer, reason = "", "", ""
    record = read_line(directory, index.attempts(number)[-1])
    if isinstance(record, TrialRecord):
        reason = record.reason or ""
        if 0 < record.body[1] <= LONGEST_BODY:
            body = _body(read_encoded_body(directory, record), record)
            asked, answer = _asked(body.messages), body.answer
    for offset in index.scores(number)[:1]:
        score = read_line(directory, offset)
        if isinstance(score, ScoreRecord) and score.span:
            answer = score.span
    return {
        "row": index.row(number),
        "asked": one_line(asked),
        "answer": one_line(answer, 60),
        "reason": one_line(reason),
    }


def _body(encoded: bytes, record: TrialRecord) -> Body:
    try:
        return decode_body(encoded, record)
    except JournalError:
        return Body(key="")


def _asked(messages: list[Message]) -> str:
    return next((content_text(one.get("content")) for one in messages if one.get("role") == "user"), "")
