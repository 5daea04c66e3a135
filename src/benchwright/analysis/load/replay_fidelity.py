"""How faithfully a trace was replayed: lateness, lengths, and the prompt tokens that a cache could have held."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from benchwright.analysis.load.cached_prompts import MAX_TEMPLATE_TOKENS, MIN_WARM_CACHE_SHARE
from benchwright.analysis.load.figure_records import ReplayResult
from benchwright.analysis.load.figures import time_distribution
from benchwright.analysis.load.records import LevelResult
from benchwright.data.traces.records import Trace, TracedRequest
from benchwright.files import write_atomically
from benchwright.records import DECODE_ERRORS, Record, RequestRecord
from benchwright.runs.journal import encode_json
from benchwright.runs.table import RunTable
from benchwright.stats.seen_prefixes import SeenPrefixes

REPLAY_RESULT_FILE = "replayed.json"


class ReplayedRequest(NamedTuple):
    """A request of the trace that was sent: its time and its lateness (both in ns), its entry in the trace,
    and its record.
    """

    sent_at_ns: int
    lateness_ns: int
    trace_entry: TracedRequest
    record: RequestRecord


class StoredReplay(Record, frozen=True):
    """Results of a replay. They are stored beside the journal, because the trace may be deleted later.

    `unexpected` is the share of prompt tokens that were cached although their blocks had not been sent before.
    """

    replayed: ReplayResult
    unexpected: float | None = None


def write_replay_result(table: RunTable, trace: Trace, most: int | None = None) -> None:
    """Write the results of a replayed trace.

    `most` is the limit of tokens that was requested for answers, if any.

    Raises:
        JournalError: If the journal cannot be read.
        UserError: If the file cannot be written.
    """
    sent = _sent(table, trace)
    answered = [one for one in sent if one.record.error is None]
    replayed = ReplayResult(
        requests=len(sent),
        answered=len(answered),
        late=time_distribution(np.array([one.lateness_ns / 1e9 for one in sent], np.float64)),
        ended_early=_ended_early(answered, most),
    )
    write_atomically(
        table.directory / REPLAY_RESULT_FILE, encode_json(StoredReplay(*_of_prompts(replayed, answered)))
    )


def with_replay_result(result: LevelResult, directory: Path) -> LevelResult:
    """Return a level with the stored results of the trace that it replayed.

    If the trace has ids of the blocks of prompts, the stored results decide whether the server's cache was
    warm.
    """
    try:
        kept = msgspec.json.decode((directory / REPLAY_RESULT_FILE).read_bytes(), type=StoredReplay)
    except (OSError, *DECODE_ERRORS):
        return result
    result = msgspec.structs.replace(result, replayed=kept.replayed)
    if kept.unexpected is None:
        return result
    return msgspec.structs.replace(
        result, unexpected_cached=kept.unexpected, warm_cache=kept.unexpected > MIN_WARM_CACHE_SHARE
    )


def _sent(table: RunTable, trace: Trace) -> list[ReplayedRequest]:
    """Return the requests of the trace that were sent, in the order in which they were sent."""
    found = []
    for trial in table.read_trials(table.rows_in_start_order(table.counted_rows("primary"))):
        record = trial.record
        requests = trace.conversations[int(record.sample)].requests
        for one in record.requests:
            if one.due is not None:
                left = one.started - one.connect - one.waited
                late = max(0, left - one.due)
                found.append(ReplayedRequest(record.started_at + one.started, late, requests[one.turn], one))
    return sorted(found, key=lambda one: one.sent_at_ns)


def _of_prompts(replayed: ReplayResult, sent: Sequence[ReplayedRequest]) -> tuple[ReplayResult, float | None]:
    """Add the figures of the prompts to the result. Return the result and the share of unexpectedly cached tokens."""
    seen = SeenPrefixes()
    tokens = ideal = asked = cached = unexpected = recorded = off = most = 0
    for _, _, traced, record in sent:
        usage, length = record.usage, traced.input_tokens or 0
        known = min(length, seen.add(_marks(traced)) * traced.block_size)
        tokens, ideal = tokens + length, ideal + known
        if usage.prompt_tokens is not None:
            recorded, off = recorded + length, off + abs(usage.prompt_tokens - length)
            most = max(most, abs(usage.prompt_tokens - length))
            if usage.cached_tokens is not None:
                asked, cached = asked + usage.prompt_tokens, cached + usage.cached_tokens
                unexpected += max(0, usage.cached_tokens - known - MAX_TEMPLATE_TOKENS)
    has_blocks = any(one.trace_entry.blocks for one in sent)
    return msgspec.structs.replace(
        replayed,
        ideal_cached=ideal / tokens if has_blocks and tokens else None,
        cached=cached / asked if asked else None,
        length_off=off / recorded if recorded else None,
        length_off_most=most if recorded else None,
    ), unexpected / asked if has_blocks and asked else None


def _marks(traced: TracedRequest) -> list[bytes]:
    return [f"{traced.scope}\0{block}\0".encode() for block in traced.blocks]


def _ended_early(answered: Sequence[ReplayedRequest], most: int | None) -> float | None:
    """Return the share of answers that have fewer tokens than recorded, and also fewer than the limit `most`
    of the request.

    Return None if the trace or the server does not report lengths.
    """
    lengths = [
        (
            one.record.usage.completion_tokens,
            min(one.trace_entry.output_tokens, most or one.trace_entry.output_tokens),
        )
        for one in answered
        if one.record.usage.completion_tokens is not None and one.trace_entry.output_tokens
    ]
    return sum(got < said for got, said in lengths) / len(lengths) if lengths else None
