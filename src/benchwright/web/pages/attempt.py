"""One attempt at a trial, as its page shows it: conversation, scores, request times, artifacts, and a pack's result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.analysis.report.records import TimedTrial, TrialSegment
from benchwright.analysis.report.text_pieces import shorten_to_pieces
from benchwright.errors import JournalError
from benchwright.records import RequestRecord, TrialRecord
from benchwright.reports.html.charts.time_charts import waterfall_chart
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import ExchangeBody, TrialBody, read_body
from benchwright.web.conversation import (
    MessageView,
    Turn,
    indent_if_json,
    indented_json,
    is_answer_shown,
    message_views,
    turns_of,
)
from benchwright.web.text import MAX_PAGE_TEXT_LENGTH, viewer_address

MAX_WATERFALL_BARS = 60
"""Maximum number of requests in the waterfall chart of an attempt."""

MAX_RAW_CHARACTERS = 20_000
"""Maximum number of characters of a raw request or response that are shown. The file to download has all of them."""


def attempt_values(directory: Path, attempt: ScoredTrial, run: str, turn: int) -> dict[str, Any]:
    """Return the template values for an attempt. `turn` is the number of the attempt, from 0."""
    record, scores = attempt.record, list(attempt.scores.values())
    body = _body(directory, record)
    spans = [score.span for score in scores if score.span]
    native = body.native if body is not None else None
    messages = message_views(body, spans) if body is not None else []
    return {
        "number": turn,
        "record": record,
        "status": attempt.status,
        "scores": [{"score": score, "detail": indented_json(score.detail) if score.detail else ""} for score in scores],
        "readable": body is not None or not record.body[1],
        "messages": messages,
        "turns": _turns(messages, record),
        "answer": shorten_to_pieces(body.answer, MAX_PAGE_TEXT_LENGTH)
        if body is not None and not is_answer_shown(body)
        else [],
        "waterfall": _waterfall(record) if any(one.total for one in record.requests) else "",
        "exchanges": [_exchange(one) for one in (body.exchanges if body is not None else [])],
        "artifacts": _artifacts(body),
        "native": shorten_to_pieces(indented_json(native), MAX_RAW_CHARACTERS) if native is not None else [],
        "pack": _pack_result(native),
        "picture": lambda name: viewer_address(f"/runs/{run}/pictures/{name}"),
        "file": lambda part, exchange=0: viewer_address(
            f"/runs/{run}/sample/file",
            id=record.sample, target=record.target, repeat=record.repeat or "", attempt=turn, part=part,
            exchange=exchange,
        ),
    }  # fmt: skip


def _turns(messages: list[MessageView], record: TrialRecord) -> list[tuple[Turn, RequestRecord | None]]:
    """Return the turns of a conversation. Return [] if it is a single turn without tools.

    Each turn comes with its request, if there is exactly one request per turn. Otherwise it comes with None.
    """
    turns = turns_of(messages)
    said = [turn for turn in turns if turn.model_message is not None]
    if len(said) < 2 and not any(turn.called_tools for turn in said):
        return []
    own = [request for request in record.requests if request.role == "model" and not request.error]
    requests = own if len(own) == len(said) else []
    return [(turn, requests[place] if place < len(requests) else None) for place, turn in enumerate(turns)]


def _body(directory: Path, record: TrialRecord) -> TrialBody | None:
    """Read the body of a trial (its conversation and more). Return None if the body is lost."""
    try:
        return read_body(directory, record)
    except JournalError:
        return None


def _waterfall(record: TrialRecord) -> Any:
    bars = [
        TimedTrial(f"{request.role} {request.turn + 1}", 0, 0.0, _end(request), _segments(request))
        for request in record.requests[:MAX_WATERFALL_BARS]
    ]
    return waterfall_chart("Requests of the trial", bars)


def _end(request: RequestRecord) -> float:
    return (request.started + request.total) / 1e9


def _segments(request: RequestRecord) -> list[TrialSegment]:
    """Return the segments of a request's time, for the waterfall chart.

    Waiting and connecting lie before `started`. All other segments lie after it.
    """
    start = request.started
    sent = start - request.connect
    found = [
        TrialSegment("waited", max(0, sent - request.waited) / 1e9, request.waited / 1e9),
        TrialSegment("connect", max(0, sent) / 1e9, request.connect / 1e9),
    ]
    if request.ttft is None:
        found.append(TrialSegment("answer", start / 1e9, request.total / 1e9))
    else:
        found.append(TrialSegment("first token", start / 1e9, request.ttft / 1e9))
        found.append(
            TrialSegment("generation", (start + request.ttft) / 1e9, (request.total - request.ttft) / 1e9)
        )
    return [one for one in found if one.length > 0]


def _exchange(exchange: ExchangeBody) -> dict[str, Any]:
    sent = exchange.sent
    messages = f"the first {sent} messages above" if isinstance(sent, int) else indented_json(sent)
    response = bytes(exchange.response).decode("utf-8", "replace")
    return {
        "request": shorten_to_pieces(indented_json(exchange.request), MAX_RAW_CHARACTERS),
        "messages": shorten_to_pieces(messages, MAX_RAW_CHARACTERS),
        "response": shorten_to_pieces(
            indent_if_json(response) if len(response) < 2**20 else response, MAX_RAW_CHARACTERS
        ),
    }


def _artifacts(body: TrialBody | None) -> list[tuple[str, Any]]:
    if body is None:
        return []
    return [
        (
            str(name),
            shorten_to_pieces(value if isinstance(value, str) else indented_json(value), MAX_RAW_CHARACTERS),
        )
        for name, value in body.artifacts.items()
    ]


def _pack_result(native: Any) -> dict[str, Any] | None:
    """Return the template values for a pack's own result.

    Return None if `native` is not a result. Missing or unexpected fields are tolerated.
    """
    if not isinstance(native, dict) or "status" not in native:
        return None
    verifier, artifacts = native.get("verifier"), native.get("artifacts")
    return {
        "status": str(native["status"])[:20],
        "summary": str(native.get("summary") or ""),
        "note": str(native.get("note") or ""),
        "log": shorten_to_pieces(str(native.get("rawLog") or ""), MAX_PAGE_TEXT_LENGTH),
        "verifier": verifier if isinstance(verifier, dict) else None,
        "details": shorten_to_pieces(indented_json(verifier.get("details")), MAX_RAW_CHARACTERS)
        if isinstance(verifier, dict) and verifier.get("details")
        else [],
        "output": shorten_to_pieces(indented_json(native["output"]), MAX_RAW_CHARACTERS)
        if native.get("output")
        else [],
        "artifacts": [one for one in artifacts if isinstance(one, dict)]
        if isinstance(artifacts, list)
        else [],
    }
