"""Makes a trace from a run of Benchwright: the times and prompts of its requests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from benchwright.data.traces.records import Conversation, Trace, TracedRequest
from benchwright.data.traces.trace_reader import sort_by_start
from benchwright.errors import UserError
from benchwright.records import Message, RequestRecord, TrialRecord
from benchwright.runs.journal import ExchangeBody, TrialBody, read_bodies
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import RunTable

RUN_TRACE_KIND = "run"
EXCLUDED_BODY_FIELDS = ("max_tokens", "prompt")
"""Fields of a request's body that are not copied into the replayed request."""


def trace_of_run(directory: Path, limit: int | None) -> Trace:
    """Return the first `limit` answered requests to a run's models as a trace; each trial is one conversation.

    Raises:
        UserError: If no request was answered, the times are unknown, or the prompts were made from another
            trace.
        JournalError: If the journal cannot be read.
    """
    manifest = read_manifest(directory)
    source = manifest.about.get("trace", {})
    if source.get("made"):
        raise UserError(
            f"The prompts of {manifest.id} were made from a trace and not kept: replay {source['path']} itself."
        )
    table = RunTable(directory, effort=True)
    table.read_journal()
    rows = table.rows_in_start_order(table.counted_rows())
    found, left = list[Conversation](), limit
    for record, body in read_bodies(directory, (table.read_record(int(row)) for row in rows)):
        requests = list(_requests(record, body))[:left]
        if not requests:
            continue
        if not record.started_at:
            raise UserError(f"{manifest.id} does not say when its requests were sent.")
        found.append(Conversation(record.sample, requests, (record.started_at - record.late) / 1e9))
        left = None if left is None else left - len(requests)
        if left == 0:
            break
    if not found:
        raise UserError(f"{manifest.id} has no request that was answered.")
    return Trace(RUN_TRACE_KIND, sort_by_start(found))


def _requests(record: TrialRecord, body: TrialBody) -> Iterator[TracedRequest]:
    answered = [request for request in record.requests if request.error is None]
    pairs = zip(answered, body.exchanges, strict=False)
    own = [(request, exchange) for request, exchange in pairs if request.role == "model"]
    pauses = [0.0, *(_pause(one, other) for (one, _), (other, _) in pairwise(own))]
    for number, ((request, exchange), pause) in enumerate(zip(own, pauses, strict=True)):
        fields = {name: value for name, value in exchange.request.items() if name not in EXCLUDED_BODY_FIELDS}
        yield TracedRequest(
            input_tokens=request.usage.prompt_tokens,
            output_tokens=request.usage.completion_tokens or None,
            previous_request=number - 1 if number else None,
            think_seconds=pause,
            messages=_messages(exchange, body),
            fields=fields,
        )


def _pause(one: RequestRecord, other: RequestRecord) -> float:
    return max(0, other.started - one.started - one.total) / 1e9


def _messages(exchange: ExchangeBody, body: TrialBody) -> list[Message]:
    if "prompt" in exchange.request:
        return [{"role": "user", "content": exchange.request["prompt"]}]
    return body.messages[: exchange.sent] if isinstance(exchange.sent, int) else exchange.sent
