"""The requests of a level, from the table of its run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.records import FAILED, RequestRecord, TrialRecord
from benchwright.runs.table import RunTable
from benchwright.stats.arrays import Vector


class Requests(NamedTuple):
    """The trials of a level in the order of their intended starts: parallel columns (n,), times in seconds.

    `intended` and `start` count from the first intended start. `ttft` and `latency` count from the intended start,
    `sent_latency` from the real one; `itl` is the mean time between tokens. What is not known is NaN. `ok` tells the
    trials that were answered; `failures` holds the reasons of the others.
    """

    intended: Vector
    start: Vector
    end: Vector
    ttft: Vector
    latency: Vector
    sent_latency: Vector
    itl: Vector
    prompt_tokens: Vector
    completion_tokens: Vector
    cached_tokens: Vector
    ok: NDArray[np.bool_]
    failures: Sequence[str | None]
    began_at: int
    simulated: bool


COLUMNS = (
    *("intended", "start", "end", "ttft", "latency", "sent_latency", "itl"),
    *("prompt_tokens", "completion_tokens", "cached_tokens"),
)


def read_requests(table: RunTable) -> Requests:
    """The trials of a run that count; the table must have `effort`.

    Raises:
        JournalError: the journal cannot be read.
    """
    columns = {name: array("d") for name in COLUMNS}
    ok, failures = bytearray(), list[str | None]()
    began_at = 0
    for trial in table.trials(table.in_order(table.counted("primary"))):
        record = trial.record
        began_at = began_at or record.started_at - record.late
        for name, value in _row(record, began_at).items():
            columns[name].append(value)
        answered = record.status not in FAILED
        ok.append(answered)
        failures.append(None if answered else record.reason or str(record.status))
    arrays = {name: np.array(values, np.float64) for name, values in columns.items()}
    order = np.argsort(arrays["intended"], kind="stable")
    first = arrays["intended"][order[0]] if order.size else 0.0
    for name in ("intended", "start", "end"):
        arrays[name] = arrays[name] - first
    return Requests(
        **{name: values[order] for name, values in arrays.items()},
        ok=np.frombuffer(bytes(ok), np.bool_)[order],
        failures=[failures[place] for place in order.tolist()],
        began_at=began_at + round(first * 1e9),
        simulated=table.simulated,
    )


def _row(record: TrialRecord, began_at: int) -> dict[str, float]:
    own = [request for request in record.requests if request.role == "model"]
    answered = [request for request in own if request.error is None]
    late, start = record.late / 1e9, (record.started_at - began_at) / 1e9
    spent = max((one.started + one.total for one in answered), default=record.duration) / 1e9
    first = next((one for one in answered if one.ttft is not None), None)
    ttft = math.nan if first is None or first.ttft is None else late + (first.started + first.ttft) / 1e9
    return {
        "intended": start - late,
        "start": start,
        "end": start + spent,
        "ttft": ttft,
        "latency": late + spent,
        "sent_latency": spent,
        "itl": _mean_gap(answered),
        "prompt_tokens": _total(one.usage.prompt_tokens for one in answered),
        "completion_tokens": _total(one.usage.completion_tokens for one in answered),
        "cached_tokens": _total(one.usage.cached_tokens for one in answered),
    }


def _mean_gap(requests: Sequence[RequestRecord]) -> float:
    """The mean time between the tokens of a trial's answers, in seconds; NaN where no answer has two of them.

    (total - ttft) / (tokens - 1), over all requests together. Tokens are the server's count, else those pieces of the
    stream that arrived.
    """
    seconds, gaps = 0.0, 0
    for request in requests:
        tokens = request.usage.completion_tokens or request.chunks
        if request.ttft is not None and tokens > 1:
            seconds += (request.total - request.ttft) / 1e9
            gaps += tokens - 1
    return seconds / gaps if gaps else math.nan


def _total(counts: Iterable[int | None]) -> float:
    """The sum of the numbers of tokens; NaN where one is not known."""
    known = list(counts)
    return math.nan if not known or None in known else float(sum(one or 0 for one in known))
