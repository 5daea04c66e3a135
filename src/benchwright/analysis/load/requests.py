"""The requests of a level, read from the table of its run."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.records import FAILED_STATUSES, RequestRecord, TrialRecord
from benchwright.runs.table import RunTable
from benchwright.stats.arrays import Vector


class LevelRequests(NamedTuple):
    """The requests of a level in order of intended start: parallel columns (n,), times in seconds.

    A row is a trial, or a turn of a replayed conversation, which has its own intended start. Unknown values are
    NaN.

    - `intended`, `start`: intended and actual start, counted from the first intended start.
    - `ttft`: time to first token. `ttfa`: time to the first token of the answer proper. `last_token`: time to
      the last token. `latency`: time to the end of the answer. All four count from the intended start.
    - `sent_latency`: latency counted from the actual start.
    - `itl`: mean time between tokens. `connect`: time of opening connections.
    - `chunks`, `tokens_after_first_chunk`: number of chunks, and number of tokens, after the first chunk.
    - `lost_seconds`: time that was lost before the request was sent again, after the server had closed an idle
      connection; NaN for requests sent once.
    - `ok`: True for the rows that were answered. `failures`: the reasons of the other rows.
    - `gaps`: histogram of the times between chunks.
    - `began_at`: the first intended start in wall-clock ns.
    """

    intended: Vector
    start: Vector
    end: Vector
    ttft: Vector
    latency: Vector
    sent_latency: Vector
    itl: Vector
    ttfa: Vector
    last_token: Vector
    connect: Vector
    lost_seconds: Vector
    chunks: Vector
    tokens_after_first_chunk: Vector
    prompt_tokens: Vector
    completion_tokens: Vector
    cached_tokens: Vector
    reasoning_tokens: Vector
    ok: NDArray[np.bool_]
    failures: Sequence[str | None]
    gaps: Sequence[Mapping[int, int]]
    began_at: int
    simulated: bool

    def select(self, places: slice) -> LevelRequests:
        """Return the requests at these places.

        Their times still count from the first intended start of the whole level.
        """
        kept = {name: getattr(self, name)[places] for name in (*NUMERIC_COLUMNS, "ok", "failures", "gaps")}
        return self._replace(**kept)


NUMERIC_COLUMNS = (
    *("intended", "start", "end", "ttft", "latency", "sent_latency", "itl"),
    *("ttfa", "last_token", "connect", "lost_seconds", "chunks", "tokens_after_first_chunk"),
    *("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"),
)


def read_requests(table: RunTable) -> LevelRequests:
    """Read the counted trials of a run. The table must be read with `effort=True`.

    Raises:
        JournalError: If the journal cannot be read.
    """
    columns = {name: array("d") for name in NUMERIC_COLUMNS}
    ok, failures, gaps = bytearray(), list[str | None](), list[Mapping[int, int]]()
    began_at = 0
    for trial in table.read_trials(table.rows_in_start_order(table.counted_rows("primary"))):
        record = trial.record
        began_at = began_at or record.started_at - record.late
        for row, failure, between in _rows(record, began_at):
            for name, value in row.items():
                columns[name].append(value)
            ok.append(failure is None)
            failures.append(failure)
            gaps.append(between)
    arrays = {name: np.array(values, np.float64) for name, values in columns.items()}
    order = np.argsort(arrays["intended"], kind="stable")
    first = arrays["intended"][order[0]] if order.size else 0.0
    for name in ("intended", "start", "end"):
        arrays[name] = arrays[name] - first
    return LevelRequests(
        **{name: values[order] for name, values in arrays.items()},
        ok=np.frombuffer(bytes(ok), np.bool_)[order],
        failures=[failures[place] for place in order.tolist()],
        gaps=[gaps[place] for place in order.tolist()],
        began_at=began_at + round(first * 1e9),
        simulated=table.simulated,
    )


def _rows(
    record: TrialRecord, began_at: int
) -> Iterator[tuple[dict[str, float], str | None, Mapping[int, int]]]:
    """Yield one row of columns for each request that has its own intended start.

    With each row comes the reason why the request failed (or None), and the histogram of its times between
    chunks.
    """
    turns = [request for request in record.requests if request.due is not None]
    for turn in turns:
        yield _turn(turn, record.started_at - began_at), turn.error, _merged([turn])
    if not turns:
        answered = record.status not in FAILED_STATUSES
        reason = None if answered else record.reason or str(record.status)
        own = [request for request in record.requests if request.role == "model"]
        yield _row(record, began_at), reason, _merged(own)


def _turn(request: RequestRecord, began: int) -> dict[str, float]:
    """Return the columns of a request that has its own intended start.

    `began` is the start of its trial in ns. The request's lateness does not include the time for which it
    waited for a connection or at the server's request.
    """
    intended = (began + (request.due or 0)) / 1e9
    sent = (began + request.started) / 1e9
    ended = sent + request.total / 1e9
    return {
        "intended": intended,
        "start": sent - (request.connect + request.waited) / 1e9,
        "end": ended,
        "ttft": math.nan if request.ttft is None else sent + request.ttft / 1e9 - intended,
        "latency": ended - intended,
        "sent_latency": request.total / 1e9,
        "itl": _mean_gap([request]),
        "ttfa": math.nan if request.ttfa is None else sent + request.ttfa / 1e9 - intended,
        "last_token": math.nan if request.last_token is None else sent + request.last_token / 1e9 - intended,
        "connect": request.connect / 1e9 if request.connect else math.nan,
        "lost_seconds": request.lost / 1e9 if request.resent else math.nan,
        "chunks": float(max(0, request.chunks - 1)),
        "tokens_after_first_chunk": _total([request.later_tokens]),
        "prompt_tokens": _total([request.usage.prompt_tokens]),
        "completion_tokens": _total([request.usage.completion_tokens]),
        "cached_tokens": _total([request.usage.cached_tokens]),
        "reasoning_tokens": _total([request.usage.reasoning_tokens]),
    }


def _row(record: TrialRecord, began_at: int) -> dict[str, float]:
    own = [request for request in record.requests if request.role == "model"]
    answered = [request for request in own if request.error is None]
    late, start = record.late / 1e9, (record.started_at - began_at) / 1e9
    spent = max((one.started + one.total for one in answered), default=record.duration) / 1e9
    opened = [one.connect for one in answered if one.connect]
    lost = [one.lost for one in answered if one.resent]
    return {
        "intended": start - late,
        "start": start,
        "end": start + spent,
        "ttft": late + _moment(answered, "ttft"),
        "latency": late + spent,
        "sent_latency": spent,
        "itl": _mean_gap(answered),
        "ttfa": late + _moment(answered, "ttfa"),
        "last_token": late + _moment(answered[::-1], "last_token"),
        "connect": sum(opened) / 1e9 if opened else math.nan,
        "lost_seconds": sum(lost) / 1e9 if lost else math.nan,
        "chunks": float(sum(max(0, one.chunks - 1) for one in answered)),
        "tokens_after_first_chunk": _total(one.later_tokens for one in answered),
        "prompt_tokens": _total(one.usage.prompt_tokens for one in answered),
        "completion_tokens": _total(one.usage.completion_tokens for one in answered),
        "cached_tokens": _total(one.usage.cached_tokens for one in answered),
        "reasoning_tokens": _total(one.usage.reasoning_tokens for one in answered),
    }


def _moment(requests: Iterable[RequestRecord], name: str) -> float:
    """Return the seconds from a trial's start to a moment of its requests, such as the first token.

    The first request that has such a moment counts. NaN if no request has it.
    """
    for request in requests:
        offset = getattr(request, name)
        if offset is not None:
            return float(request.started + offset) / 1e9
    return math.nan


def _merged(requests: Sequence[RequestRecord]) -> Mapping[int, int]:
    """Return one histogram of the times between chunks, over the answers that arrived in several pieces."""
    own = [request.gaps for request in requests if request.gaps and request.streaming_duration is not None]
    if len(own) < 2:
        return own[0] if own else {}
    merged = Counter[int]()
    for gaps in own:
        merged.update(gaps)
    return merged


def _mean_gap(requests: Sequence[RequestRecord]) -> float:
    """Return the mean time in seconds between the tokens of a trial's answers.

    NaN if no answer came in several pieces. For all requests together, the mean is the time from the first to
    the last token, divided by the number of tokens after the first piece. A later usage chunk or the end of the
    transfer is not a token. Reasoning that is counted but not sent is not a token either.
    """
    seconds, gaps = 0.0, 0
    for request in requests:
        lasted, later = request.streaming_duration, request.tokens_after_first
        if lasted is not None and later > 0:
            seconds += lasted / 1e9
            gaps += later
    return seconds / gaps if gaps else math.nan


def _total(counts: Iterable[int | None]) -> float:
    """Return the sum of token counts. NaN if one of the counts is unknown."""
    known = list(counts)
    return math.nan if not known or None in known else float(sum(one or 0 for one in known))
