"""A request in progress: its purpose, its attempts, and its record."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from time import perf_counter_ns

from benchwright.endpoint.flags import LEFT_OUT_PREFIX, RESENT_WITHOUT_PART_FLAG
from benchwright.endpoint.meter import AnswerMeter
from benchwright.endpoint.rate_limits import RateLimitWaits
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.response_flags import flags_of_text
from benchwright.endpoint.transport import ExchangeTimings
from benchwright.errors import ProviderError
from benchwright.records import SIMULATED_FLAG, Record, RequestRecord


class RequestPurpose(Record, frozen=True):
    """The reason for a request, stored with the request's record.

    `trial_started_at`: the start of the trial (`perf_counter_ns`). `role`: who in the trial sends the
    request. `turn`: the turn of the conversation. `seed`: the seed in the request's body. `rate_limit_waits`:
    measures the time that the trial has waited for rate limits. `dialect`: the dialect of the program that
    sent the request. `offered_tools`: the names of the tools that the request offers; empty if the names are
    unknown, None if it offers none.
    """

    trial_started_at: int = 0
    role: str = "model"
    turn: int = 0
    seed: int | None = None
    rate_limit_waits: RateLimitWaits | None = None
    dialect: str = "chat"
    offered_tools: Sequence[str] | None = None


NO_PURPOSE: RequestPurpose = RequestPurpose()

BeginCallback = Callable[[], Awaitable[RequestPurpose]]
"""Callback that is awaited when a request is ready to be sent.

The callback waits until the request is due, and returns the request's purpose.
"""


async def begin_immediately() -> RequestPurpose:
    """Return the empty purpose without waiting, for a request that is due immediately."""
    return NO_PURPOSE


class Request:
    """A request in progress, with its attempts, timestamps (`perf_counter_ns`), and the meter for its response.

    `left_out`: the names of the parts that the request omits because the server refused them. `narrowed`:
    True if the server refused them in this request, rather than in an earlier one.
    """

    def __init__(
        self, identity: str, purpose: RequestPurpose, left_out: frozenset[str] = frozenset()
    ) -> None:
        self.identity = identity
        self.left_out = self._known = left_out
        self.narrowed = False
        self.purpose = purpose
        self.waits = purpose.rate_limit_waits or RateLimitWaits()
        self.asked_at = self.attempt_at = perf_counter_ns()
        self.attempts = 0
        self.failed = 0
        self.meter = AnswerMeter()

    def count_attempt(self) -> None:
        """Count an attempt. From the second attempt on, also prepare a new meter for the response."""
        if self.attempts:
            self.meter = AnswerMeter()
        self.attempts += 1

    def omit_parts(self, left_out: frozenset[str]) -> None:
        """Leave these parts out of the next attempt. The refused attempt is not counted."""
        self.left_out, self.narrowed = left_out, True
        self.attempts -= 1
        self.meter = AnswerMeter()
        self.asked_at = perf_counter_ns()

    def _flags(self, left_out: frozenset[str]) -> list[str]:
        flags = [*self.meter.flags, *(f"{LEFT_OUT_PREFIX}{name}" for name in sorted(left_out))]
        return [*flags, RESENT_WITHOUT_PART_FLAG] if self.narrowed else flags

    @property
    def _seed(self) -> int | None:
        return None if "seed" in self.left_out else self.purpose.seed

    def make_record(self, slot: str, delivery: ExchangeTimings, reply: Reply) -> RequestRecord:
        """Return the record of this request after a response."""
        purpose, meter = self.purpose, self.meter
        sent_at = delivery.sent_at
        flags = self._flags(self.left_out) if self.left_out else meter.flags
        if purpose.offered_tools is not None:
            flags += flags_of_text(reply, purpose.offered_tools)
        if meter.is_simulated:
            flags.append(SIMULATED_FLAG)
        answer_at = meter.answer_started_at() if meter.streamed else 0
        return RequestRecord(
            id=self.identity,
            role=purpose.role,
            slot=slot,
            turn=purpose.turn,
            started=sent_at - purpose.trial_started_at if purpose.trial_started_at else 0,
            connect=delivery.connect_ns,
            waited=self.attempt_at - self.asked_at + delivery.queued_ns + delivery.lost,
            dispatch_lag=max(
                0, sent_at - self.attempt_at - delivery.queued_ns - delivery.lost - delivery.connect_ns
            ),
            detect_lag=delivery.detect_lag_ns,
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
            seed=self._seed,
            last_token=meter.last_token_at - sent_at if meter.first_token_at else None,
            later_tokens=meter.tokens_after_first(reply),
            dialect=purpose.dialect,
            resent=delivery.resend_count,
            lost=delivery.lost,
        )

    def make_failed_record(self, slot: str, error: ProviderError) -> RequestRecord:
        """Return the record of this request after its failure.

        If the request failed although parts were omitted, these parts are not flagged as refused.
        """
        purpose, meter = self.purpose, self.meter
        meter.parse_waiting_pieces()
        return RequestRecord(
            id=self.identity,
            role=purpose.role,
            slot=slot,
            turn=purpose.turn,
            started=self.attempt_at - purpose.trial_started_at if purpose.trial_started_at else 0,
            waited=self.attempt_at - self.asked_at,
            total=perf_counter_ns() - self.attempt_at,
            chunks=meter.chunks,
            http_status=error.http_status or meter.status or None,
            attempts=self.attempts,
            error=str(error),
            flags=self._flags(self._known),
            seed=self._seed,
            dialect=purpose.dialect,
        )


def generate_request_ids() -> Iterator[str]:
    """Yield request ids: UUIDs of version 4 (RFC 9562), as servers expect them in `X-Request-Id`.

    The first 74 random bits are the same for all ids of the client. The last 48 bits count up from a random
    number. This takes a tenth of the time of a new UUID. The ids are unique within the client for 2**48
    requests.
    """
    beginning, _, last = str(uuid.uuid4()).rpartition("-")
    start = int(last, 16)
    return (f"{beginning}-{number % 2**48:012x}" for number in itertools.count(start))
