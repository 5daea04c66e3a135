"""The table of a run's trials: which of them are wanted, a line each, and the addresses that keep the choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from benchwright.engine.answers import content_text
from benchwright.errors import JournalError
from benchwright.records import Message, TrialRecord
from benchwright.reports.html.text import one_line
from benchwright.runs.journal import read_body
from benchwright.runs.manifest import Manifest, target_names
from benchwright.web.pages.runs import page_number
from benchwright.web.run_trials import RunTrials
from benchwright.web.runs_index import RunRow
from benchwright.web.text import address
from benchwright.web.trial_selection import EXPLAINED, FILTERS, ORDERS, TrialQuery, passing_score, select
from benchwright.web.viewer import Viewer

PAGE = 50
"""Trials on one page."""

FIRST_READING = 0.2
"""Seconds that a page waits for a long journal to be read; the rest is shown as it comes."""

LONGEST_BODY = 2**16
"""Bytes of a conversation that is read for one line of a table."""


def wanted_of(request: web.Request) -> TrialQuery:
    """Which trials the address asks for."""
    query = request.query
    return TrialQuery(
        only=query.get("only", "all") if query.get("only") in FILTERS else "all",
        words=query.get("q", ""),
        target=query.get("target", ""),
        order=query.get("order", "begun") if query.get("order") in ORDERS else "begun",
        page=page_number(request),
    )


def samples_address(run: str, wanted: TrialQuery, **changes: Any) -> str:
    """The address of a run with its table as it is wanted."""
    return address(f"/runs/{run}", **_query(msgspec.structs.replace(wanted, **changes)))


def sample_address(run: str, wanted: TrialQuery, sample: str, target: str, repeat: int) -> str:
    """The address of a trial that knows the table it was found in."""
    found_in = _query(msgspec.structs.replace(wanted, page=1))
    found_in["in"] = found_in.pop("target")
    return address(f"/runs/{run}/sample", id=sample, target=target, repeat=repeat or "", **found_in)


def _query(wanted: TrialQuery) -> dict[str, Any]:
    return {
        "only": "" if wanted.only == "all" else wanted.only,
        "q": wanted.words,
        "target": wanted.target,
        "order": "" if wanted.order == "begun" else wanted.order,
        "page": "" if wanted.page == 1 else wanted.page,
    }


def samples_values(viewer: Viewer, row: RunRow, manifest: Manifest, wanted: TrialQuery) -> dict[str, Any]:
    """A page of the table as the template wants it."""
    trials = viewer.trials(row.id)
    whole = trials.read(FIRST_READING)
    with trials.lock:
        table = trials.table
        found = select(manifest, table, wanted, PAGE)
        return {
            "wanted": wanted,
            "lines": [_line(trials, number) for number in found.numbers],
            "count": found.found,
            "counts": found.counts,
            "pages": max(1, -(-found.found // PAGE)),
            "position": table.position,
            "read": None if whole else table.position / max(1, table.size()),
            "unreadable": table.unreadable,
            "scorers": list(table.scores),
            "passing": passing_score(manifest, table),
            "targets": table.targets.names[:],
            "names": target_names(manifest),
            "filters": {name: told for name, (told, _) in FILTERS.items()},
            "explained": EXPLAINED,
            "url": lambda **changes: samples_address(row.id, wanted, **changes),
            "sample_url": lambda line: sample_address(
                row.id, wanted, line["row"].sample, line["row"].target, line["row"].repeat
            ),
        }


def _line(trials: RunTrials, number: int) -> dict[str, Any]:
    """A row of the table, with the beginning of what was asked and what was taken as the answer."""
    trial = trials.table.trial(number)
    asked, answer = _said(trials.table.directory, trial.record)
    spans = (score.span for score in trial.scores.values() if score.span)
    return {
        "row": trials.row(number),
        "asked": one_line(asked),
        "answer": one_line(next(spans, answer), 60),
        "reason": one_line(trial.record.reason or ""),
    }


def _said(directory: Path, record: TrialRecord) -> tuple[str, str]:
    """(what was asked, the answer), empty where they are too long to be read for a line, or lost."""
    if record.body[1] > LONGEST_BODY:
        return "", ""
    try:
        body = read_body(directory, record)
    except JournalError:
        return "", ""
    return _asked(body.messages), body.answer


def _asked(messages: list[Message]) -> str:
    return next((content_text(one.get("content")) for one in messages if one.get("role") == "user"), "")
