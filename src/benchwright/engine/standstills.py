"""Effects of standstills of our own process on trials: flags on requests, and longer time limits."""

from __future__ import annotations

import asyncio

import msgspec

from benchwright.engine.loop_lag import LoopLagSampler
from benchwright.engine.session import TrialSession
from benchwright.records import RequestRecord
from benchwright.runs.process_delays import Standstill
from benchwright.runs.standstills import STANDSTILL_FLAG


def flag_disturbed_requests(session: TrialSession, sampler: LoopLagSampler | None) -> list[RequestRecord]:
    """Return a session's requests.

    Requests that were due or in flight during a standstill get the flag `STANDSTILL_FLAG`.
    """
    if sampler is None or not sampler.check_standstill():
        return session.requests
    return [
        _flagged(request) if sampler.stood_still_between(*_time_of(request, session)) else request
        for request in session.requests
    ]


def extend_limit(limit: asyncio.Timeout, standstill: Standstill) -> None:
    """Extend a time limit by the length of a standstill, because the trial could not progress during the
    standstill.

    If the machine was suspended, the limit is not extended: the event loop's clock stops then, so the limit has
    not been used up.
    """
    when = limit.when()
    if when is not None and not limit.expired() and standstill.cause in ("stopped", "busy"):
        limit.reschedule(when + standstill.ns / 1e9)


def _time_of(request: RequestRecord, session: TrialSession) -> tuple[int, int]:
    """Return two moments of `perf_counter_ns`: when a request was due, and when it ended."""
    began = session.actual_start + request.started - request.waited - request.connect
    if request.due is not None:
        began = min(began, session.actual_start + request.due)
    elif request is session.requests[0]:
        began = min(began, session.intended_start)
    return began, session.actual_start + request.started + request.total


def _flagged(request: RequestRecord) -> RequestRecord:
    return msgspec.structs.replace(request, flags=[*request.flags, STANDSTILL_FLAG])
