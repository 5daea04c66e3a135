"""A request on its way: what it is for, how often it was sent, and the record that is made of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter_ns

from benchwright.endpoint.meter import AnswerMeter
from benchwright.endpoint.rate_limits import Waits
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.wire import Delivery
from benchwright.errors import ProviderError
from benchwright.records import SIMULATED, Record, RequestRecord


class Purpose(Record, frozen=True):
    """What a request is for: the start of its trial (`perf_counter_ns`), the role, and the turn.

    `seed` is the one in its body, for its record, and `dialect` the one in which it was asked. `waits` counts what its
    trial has waited for rate limits.
    """

    origin: int = 0
    role: str = "model"
    turn: int = 0
    seed: int | None = None
    waits: Waits | None = None
    dialect: str = "chat"


NO_PURPOSE: Purpose = Purpose()

Begin = Callable[[], Awaitable[Purpose]]
"""Is awaited when a request is ready to be sent: waits until it is due, and says what it is for."""


async def at_once() -> Purpose:
    """A request that is due when it is ready, and is for nothing in particular."""
    return NO_PURPOSE


class Request:
    """A request on its way: how often it was sent and failed, when last (`perf_counter_ns`), what reads it."""

    def __init__(self, identity: str, purpose: Purpose) -> None:
        self.identity = identity
        self.purpose = purpose
        self.waits = purpose.waits or Waits()
        self.asked_at = self.attempt_at = perf_counter_ns()
        self.attempts = 0
        self.failed = 0
        self.meter = AnswerMeter()

    def count_attempt(self) -> None:
        """It is sent, or sent once more: the answer to each attempt is read anew."""
        if self.attempts:
            self.meter = AnswerMeter()
        self.attempts += 1

    def record(self, slot: str, delivery: Delivery, reply: Reply) -> RequestRecord:
        """The record of a request that was answered."""
        purpose, meter = self.purpose, self.meter
        sent_at = delivery.sent_at
        flags = meter.flags
        if meter.simulated:
            flags.append(SIMULATED)
        answer_at = meter.answer_at() if meter.streamed else 0
        return RequestRecord(
            id=self.identity,
            role=purpose.role,
            slot=slot,
            turn=purpose.turn,
            started=sent_at - purpose.origin if purpose.origin else 0,
            connect=delivery.connect,
            waited=self.attempt_at - self.asked_at + delivery.queued + delivery.lost,
            dispatch_lag=max(
                0, sent_at - self.attempt_at - delivery.queued - delivery.lost - delivery.connect
            ),
            detect_lag=delivery.detect_lag,
            ttft=meter.first_token_at - sent_at if meter.first_token_at else None,
            ttfa=answer_at - sent_at if answer_at else None,
            total=delivery.ended_at - sent_at,
            gaps=meter.gaps,
            chunks=meter.chunks,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            http_status=meter.status,
            attempts=self.attempts,
            flags=flags,
            seed=purpose.seed,
            last_token=meter.last_token_at - sent_at if meter.first_token_at else None,
            later_tokens=meter.later_tokens(reply),
            dialect=purpose.dialect,
            resent=delivery.resent,
            lost=delivery.lost,
        )

    def failed_record(self, slot: str, error: ProviderError) -> RequestRecord:
        """The record of a request that was not."""
        purpose, meter = self.purpose, self.meter
        meter.read()
        return RequestRecord(
            id=self.identity,
            role=purpose.role,
            slot=slot,
            turn=purpose.turn,
            started=self.attempt_at - purpose.origin if purpose.origin else 0,
            waited=self.attempt_at - self.asked_at,
            total=perf_counter_ns() - self.attempt_at,
            chunks=meter.chunks,
            http_status=error.http_status or meter.status or None,
            attempts=self.attempts,
            error=str(error),
            flags=meter.flags,
            seed=purpose.seed,
            dialect=purpose.dialect,
        )
