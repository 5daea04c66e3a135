"""The client of one target: asks chat completions and completions, times them, and asks again where it helps."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter_ns
from typing import Any

import msgspec

from benchwright import __version__
from benchwright.endpoint import failures
from benchwright.endpoint.address import Proxy, parse_base_url
from benchwright.endpoint.connection import WireError
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.meter import AnswerMeter, BadAnswer, EmptyStream
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.server_info import TokenCounter
from benchwright.endpoint.tee import Tee
from benchwright.endpoint.wire import Call, Delivery, Limits, Wire
from benchwright.errors import ProviderError
from benchwright.records import SIMULATED, Record, RequestRecord, Target

_encode = msgspec.json.Encoder().encode


class Purpose(Record, frozen=True):
    """What a request is for: the start of its trial (`perf_counter_ns`), the role, and the turn.

    `seed` is the one in its body, for its record.
    """

    origin: int = 0
    role: str = "model"
    turn: int = 0
    seed: int | None = None


NO_PURPOSE = Purpose()


class EndpointClient:
    """Speaks to one target over its own wire. Use as an async context manager, or call `close`."""

    def __init__(
        self,
        target: Target,
        *,
        key: str | None = None,
        connections: int = 8,
        stream: bool = True,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        self.target = target
        self.stream = stream
        address = parse_base_url(target.base_url)
        self._url = target.base_url.rstrip("/")
        self._wire = Wire(address, connections=connections, limits=limits, proxy=proxy)
        self._tokens = TokenCounter(self._wire, target.model, key)
        self._retry = retry or RetryPolicy()
        self._usage_in_stream = True
        self._answered = False
        self.on_overload: Callable[[int], None] = lambda attempt: None
        """Called with an attempt's number when the server was asked for too much; for others to set."""
        self._ids = _request_ids()
        lines = [
            f"Host: {address.authority}",
            f"User-Agent: benchwright/{__version__}",
            "Accept: application/json, text/event-stream",
            "Accept-Encoding: identity",
            "Content-Type: application/json",
        ]
        if key and key != "EMPTY":
            lines.append(f"Authorization: Bearer {key}")
        self._heads = {
            path: f"POST {address.prefix}{path} HTTP/1.1\r\n".encode() + "\r\n".join(lines).encode()
            for path in ("/chat/completions", "/completions")
        }

    async def __aenter__(self) -> EndpointClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def hurry(self) -> None:
        """The run is to stop: requests without a token for the stall limit end with `RunStopped` from now on."""
        self._wire.hurry()

    def close(self) -> None:
        """Closes the connections."""
        self._wire.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        purpose: Purpose = NO_PURPOSE,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Asks `/chat/completions` or `/completions`; `body` holds messages or prompt and further fields.

        The target's model and settings are added; a field that is None is left out. `note` is told of the
        request when it has ended, well or not. A retried request's timings are those of the attempt that
        answered. The wire's total limit is that of all attempts together, the pauses between them included.

        Raises:
            ProviderError: no usable answer came, after the retries that made sense.
        """
        asked_at = perf_counter_ns()
        identity = next(self._ids)
        fields = {"model": self.target.model, **self.target.settings, **body}
        fields = {name: value for name, value in fields.items() if value is not None}
        stream, seconds_left = self.stream, self._wire.limits.total
        try:
            for attempt in itertools.count(1):
                attempt_at = perf_counter_ns()
                meter = AnswerMeter()
                try:
                    call = self._call(path, fields, identity, stream, seconds_left)
                    delivery = await self._wire.send(call, meter)
                    reply = self._read(meter)
                except (WireError, BadAnswer, ProviderError) as failure:
                    error = self._explain(failure, attempt)
                    delay = self._retry.delay(error, attempt)
                    if self._drop_usage_option(fields, error):
                        delay = 0.0
                    if isinstance(failure, EmptyStream):
                        stream = False  # asked whole, such a server says what is wrong
                    seconds_left -= (perf_counter_ns() - attempt_at) / 1e9 + (delay or 0.0)
                    if delay is None or seconds_left <= 0:
                        if note is not None:
                            note(self._failed_record(identity, purpose, attempt_at, attempt, meter, error))
                        raise error from None
                    await asyncio.sleep(delay)
                    continue
                break
        except asyncio.CancelledError:
            if note is not None:
                note(self._failed_record(identity, purpose, attempt_at, attempt, meter, failures.UNWANTED))
            raise
        if self.stream and not meter.streamed:
            meter.flags.append("not_streamed")
        reply.record = self._record(identity, purpose, asked_at, attempt_at, attempt, delivery, meter, reply)
        if note is not None:
            note(reply.record)
        return reply

    async def count_tokens(self, text: str) -> int | None:
        """The number of tokens of a text as the server counts them; None where it does not."""
        return await self._tokens.count(text)

    async def forward(
        self, path: str, body: bytes, tee: Tee, purpose: Purpose, note: Callable[[RequestRecord], None]
    ) -> Reply:
        """Asks once with this body as it stands, and passes the answer on through the tee while it arrives.

        `note` is told of the request when it has ended, in whichever way. Nothing is asked again: whoever
        is behind the tee sees what went wrong, and decides.

        Raises:
            ProviderError: the exchange failed, or its answer is an error, or none that can be read.
        """
        asked_at = perf_counter_ns()
        identity = next(self._ids)
        meter = tee.meter
        try:
            delivery = await self._wire.send(
                Call(self._head(path, identity, body), body), tee, tee.receiver.carried
            )
            tee.receiver.end()
            if tee.failure is not None:
                raise BadAnswer(str(tee.failure))
            reply = self._read(meter)
        except (WireError, BadAnswer, ProviderError) as failure:
            error = self._explain(failure, 1)
            note(self._failed_record(identity, purpose, asked_at, 1, meter, error))
            raise error from None
        except asyncio.CancelledError:
            note(self._failed_record(identity, purpose, asked_at, 1, meter, failures.UNWANTED))
            raise
        reply.record = self._record(identity, purpose, asked_at, asked_at, 1, delivery, meter, reply)
        note(reply.record)
        return reply

    def _call(self, path: str, fields: dict[str, Any], identity: str, stream: bool, seconds: float) -> Call:
        if stream:
            fields["stream"] = True
        else:
            fields.pop("stream", None)
        if stream and self._usage_in_stream:
            fields["stream_options"] = {"include_usage": True, **fields.get("stream_options", {})}
        else:
            fields.pop("stream_options", None)
        try:
            body = _encode(fields)
        except UnicodeEncodeError:
            body = _encode(_without_surrogates(fields))
        return Call(self._head(path, identity, body), body, seconds)

    def _head(self, path: str, identity: str, body: bytes) -> bytes:
        return b"%b\r\nX-Request-Id: %b\r\nContent-Length: %d\r\n\r\n" % (
            self._heads[path],
            identity.encode(),
            len(body),
        )

    def _read(self, meter: AnswerMeter) -> Reply:
        self._answered = True
        if meter.status != 200:
            raise failures.from_answer(meter.status, meter.headers, meter.body, self._url, self.target.model)
        reply = meter.finish()
        if meter.error is not None:
            raise failures.from_error_object(meter.error, self._url)
        return reply

    def _explain(self, failure: WireError | BadAnswer | ProviderError, attempt: int) -> ProviderError:
        if failures.tells_overload(failure):
            self.on_overload(attempt)
        if isinstance(failure, WireError):
            return failures.from_wire(
                failure, self._url, answered_before=self._answered, options=failures.LIMITED_BY
            )
        if isinstance(failure, BadAnswer):
            return failures.bad_answer(failure, self._url)
        return failure

    def _drop_usage_option(self, fields: dict[str, Any], error: ProviderError) -> bool:
        """Learns that a server does not know `stream_options`; true where a request that had it was told so."""
        refused = error.http_status in (400, 422) and "stream_options" in str(error)
        if not (refused and "stream_options" in fields):
            return False
        self._usage_in_stream = False
        return True

    def _record(
        self,
        identity: str,
        purpose: Purpose,
        asked_at: int,
        attempt_at: int,
        attempts: int,
        delivery: Delivery,
        meter: AnswerMeter,
        reply: Reply,
    ) -> RequestRecord:
        sent_at = delivery.sent_at
        flags = meter.flags
        if meter.simulated:
            flags.append(SIMULATED)
        answer_at = meter.answer_at() if meter.streamed else 0
        return RequestRecord(
            id=identity,
            role=purpose.role,
            slot=self.target.slot,
            turn=purpose.turn,
            started=sent_at - purpose.origin if purpose.origin else 0,
            connect=delivery.connect,
            waited=attempt_at - asked_at + delivery.queued,
            dispatch_lag=max(0, sent_at - attempt_at - delivery.queued - delivery.connect),
            detect_lag=delivery.detect_lag,
            ttft=meter.first_token_at - sent_at if meter.first_token_at else None,
            ttfa=answer_at - sent_at if answer_at else None,
            total=delivery.ended_at - sent_at,
            gaps=meter.gaps,
            chunks=meter.chunks,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            http_status=meter.status,
            attempts=attempts,
            flags=flags,
            seed=purpose.seed,
        )

    def _failed_record(
        self,
        identity: str,
        purpose: Purpose,
        attempt_at: int,
        attempts: int,
        meter: AnswerMeter,
        error: ProviderError,
    ) -> RequestRecord:
        meter.read()
        return RequestRecord(
            id=identity,
            role=purpose.role,
            slot=self.target.slot,
            turn=purpose.turn,
            started=attempt_at - purpose.origin if purpose.origin else 0,
            total=perf_counter_ns() - attempt_at,
            chunks=meter.chunks,
            http_status=error.http_status or meter.status or None,
            attempts=attempts,
            error=str(error),
            flags=meter.flags,
            seed=purpose.seed,
        )


def _request_ids() -> Iterator[str]:
    """Ids of eight hex digits, starting anywhere: unique within the client for 2**32 requests."""
    start = random.Random(os.urandom(8)).randrange(2**32)
    return (f"{number % 2**32:08x}" for number in itertools.count(start))


def _without_surrogates(value: Any) -> Any:
    """The value with lone surrogates, which JSON over UTF-8 cannot carry, replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
