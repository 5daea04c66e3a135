"""The client of one target: asks chat completions and completions, times them, and asks again where it helps."""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

import msgspec

from benchwright.endpoint import failures, server_info
from benchwright.endpoint.address import Proxy, parse_base_url
from benchwright.endpoint.connection import Sink, WireError
from benchwright.endpoint.dialects import DIALECTS
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.heads import Heads
from benchwright.endpoint.limits import Limits
from benchwright.endpoint.meter import AnswerMeter, BadAnswer, EmptyStream
from benchwright.endpoint.rate_limits import Gate
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import NO_PURPOSE, Begin, Purpose, Request, at_once, without_surrogates
from benchwright.endpoint.server_info import Document, TokenCounter
from benchwright.endpoint.tee import Tee
from benchwright.endpoint.wire import Call, Delivery, Wire
from benchwright.errors import ProviderError
from benchwright.records import RequestRecord, Target

INVALID = (400, 422)
"""Statuses by which a server refuses a request that lacks what it needs."""

PROBE_SECONDS = 30.0
"""How long a server may take to refuse one."""

_encode = msgspec.json.Encoder().encode


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
        hints: Mapping[str, str] = failures.NO_OPTIONS,
    ) -> None:
        self.target = target
        self._hints = hints
        self.stream = stream
        address = parse_base_url(target.base_url)
        self._url = target.base_url.rstrip("/")
        self._wire = Wire(address, connections=connections, limits=limits, proxy=proxy)
        self._tokens = TokenCounter(self._wire, target.model, key)
        self._retry = retry or RetryPolicy()
        self._gate = Gate(self._retry.longest_wait)
        self._usage_in_stream = True
        self._answered = False
        self.on_overload: Callable[[int], None] = lambda attempt: None
        """Called with an attempt's number when the server was asked for too much; for others to set."""
        self.on_wait: Callable[[str, float], None] = lambda model, seconds: None
        """Called with the model and seconds when its server asks for a pause; for others to set."""
        self._gate.on_shut = lambda seconds: self.on_wait(target.model, seconds)
        self._ids = _request_ids()
        self._heads = Heads(address, target.model, key)
        self._spoken: dict[str, asyncio.Task[bool | None]] = {}

    async def __aenter__(self) -> EndpointClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def is_held_back(self) -> bool:
        """Whether the server has asked for a pause, and requests wait for its end."""
        return self._gate.is_shut

    def hurry(self) -> None:
        """The run is to stop: requests without a token for the stall limit, and those that wait for a rate limit,
        end with `RunStopped` from now on."""
        self._wire.hurry()
        self._gate.stop()

    def close(self) -> None:
        """Closes the connections."""
        self._wire.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: Begin = at_once,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Asks `/chat/completions` or `/completions`; `body` holds messages or prompt and further fields.

        The target's model and settings are added; a field that is None is left out. Messages that are JSON already
        (`msgspec.Raw`) are sent as they lie: a prompt of 600 kB is not copied. `begin` is awaited when the request is
        ready to be sent; what it raises is raised. `note` is told of the request when it has ended, well or not. A
        retried request's timings are those of the attempt that answered. The wire's total limit is that of all attempts
        together, the pauses between them included.

        Raises:
            ProviderError: no usable answer came, after the retries that made sense.
        """
        identity = next(self._ids)
        fields = {"model": self.target.model, **self.target.settings, **body}
        fields = {name: value for name, value in fields.items() if value is not None}
        call = self._call(path, fields, identity, self.stream, self._wire.limits.total)
        request = Request(identity, await begin())
        try:
            delivery, reply = await self._answer(request, call, path, fields)
        except ProviderError as error:
            if note is not None:
                note(request.failed_record(self.target.slot, error))
            raise
        except asyncio.CancelledError:
            if note is not None:
                note(request.failed_record(self.target.slot, failures.UNWANTED))
            raise
        if self.stream and not request.meter.streamed:
            request.meter.flags.append("not_streamed")
        reply.record = request.record(self.target.slot, delivery, reply)
        if note is not None:
            note(reply.record)
        return reply

    async def _answer(
        self, request: Request, first: Call, path: str, fields: dict[str, Any]
    ) -> tuple[Delivery, Reply]:
        """Sends a request until it is answered, or another attempt would make no sense; `first` is ready to be sent."""
        stream, seconds_left, failed = self.stream, self._wire.limits.total, 0
        call: Call | None = first
        while True:
            await self._begin(request)
            try:
                call = call or self._call(path, fields, request.identity, stream, seconds_left)
                delivery = await self._wire.send(call, request.meter)
                request.attempts += delivery.resent
                return delivery, self._read(request.meter)
            except (WireError, BadAnswer, ProviderError) as failure:
                call, error = None, self._explain(failure, request)
                seconds_left -= (perf_counter_ns() - request.attempt_at) / 1e9
                if self._gate.shut(error, request.waits):
                    continue
                failed += 1
                delay = self._retry.delay(error, failed)
                if self._drop_usage_option(fields, error):
                    delay = 0.0
                if isinstance(failure, EmptyStream):
                    stream = False  # asked whole, such a server says what is wrong
                seconds_left -= delay or 0.0
                if delay is None or seconds_left <= 0:
                    raise error from None
                await asyncio.sleep(delay)

    async def _begin(self, request: Request) -> None:
        """Waits until the request may be sent once more."""
        try:
            if self._gate.is_shut:
                await self._gate.passed(request.waits)
        finally:
            request.attempt_at = perf_counter_ns()
        request.count_attempt()

    async def count_tokens(self, text: str) -> int | None:
        """The number of tokens of a text as the server counts them; None where it does not."""
        return await self._tokens.count(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts, in their order, from `/embeddings`; asked again as by `ask`, but not metered.

        Raises:
            ProviderError: no usable answer came, after the retries that made sense.
        """
        body = _encode({"model": self.target.model, "input": list(texts)})
        request = Request(next(self._ids), NO_PURPOSE)
        until = perf_counter_ns() + self._wire.limits.total * 1e9
        while True:
            await self._begin(request)
            try:
                answer = await self._document("/embeddings", body)
                return server_info.read_embeddings(answer, len(texts), self._url, self.target.model)
            except (WireError, BadAnswer, ProviderError) as failure:
                error = self._explain(failure, request)
            if not await self._waited(error, request, until):
                raise error

    async def speaks(self, path: str) -> bool | None:
        """Whether the server has the dialect of this path itself; None where it could not be found out.

        The answer is kept, so that a run asks in one way; only after a failure to reach the server it is asked anew.
        """
        asked = self._spoken.get(path)
        if asked is None:
            asked = self._spoken[path] = asyncio.get_running_loop().create_task(self._find_out(path))
        try:
            return await asyncio.shield(asked)
        except ProviderError:
            if self._spoken.get(path) is asked:
                del self._spoken[path]
            return None

    async def _find_out(self, path: str) -> bool | None:
        """Sends an empty request, which a server that has the path refuses as invalid; again while it may recover.

        Raises:
            ProviderError: the server cannot be reached, or asks for a longer pause than a trial may wait.
        """
        request, until = (
            Request(next(self._ids), NO_PURPOSE),
            perf_counter_ns() + self._wire.limits.total * 1e9,
        )
        while True:
            await self._begin(request)
            try:
                document = await self._document(path, b"{}", PROBE_SECONDS)
            except WireError as failure:
                error = self._explain(failure, request)
            else:
                if document.status not in failures.TRANSIENT:
                    return document.status in INVALID
                error = failures.from_answer(
                    document.status, document.headers, document.body, self._url, self.target.model
                )
            if not await self._waited(error, request, until):
                if error.http_status is None:
                    raise error
                return None

    async def document(self, path: str, body: bytes) -> Document | None:
        """What the server answers to a request that generates nothing; None where it does not answer."""
        try:
            return await self._document(path, body)
        except WireError:
            return None

    async def send(
        self, method: str, path: str, sink: Sink, body: bytes, seconds: float, *, beside: bool = False
    ) -> None:
        """Sends one request, neither metered nor tried again; `sink` gets its answer. `beside`: not below /v1.

        Raises:
            WireError: The exchange failed.
        """
        target = self._heads.beside(path) if beside else self._heads.target(path)
        await server_info.send(self._wire, method, target, sink, None, body, seconds, self._heads.keys(path))

    async def _document(self, path: str, body: bytes, seconds: float = math.inf) -> Document:
        target, keys = self._heads.target(path), self._heads.keys(path)
        return await server_info.ask(self._wire, "POST", target, body=body, seconds=seconds, headers=keys)

    async def forward(
        self,
        path: str,
        body: bytes,
        tee: Tee,
        purpose: Purpose,
        note: Callable[[RequestRecord], None],
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> Reply:
        """Asks with this body as it stands, and passes the answer on through the tee while it arrives.

        `note` is told of the request when it has ended, in whichever way. What can pass by itself (rate limits, errors
        of the server, broken connections) is asked again, as by `ask`, as long as nothing was passed on; whoever
        is behind the tee sees all else that goes wrong. `headers` are sent besides ours.

        Raises:
            ProviderError: the exchange failed, or its answer is an error, or none that can be read.
        """
        request = Request(next(self._ids), purpose)
        more = b"".join(b"\r\n%b: %b" % header for header in headers)
        call = Call(self._heads.of(path, request.identity, len(body), more), body)
        try:
            delivery, reply = await self._passed_on(request, path, call, tee)
        except ProviderError as error:
            note(request.failed_record(self.target.slot, error))
            raise
        except asyncio.CancelledError:
            note(request.failed_record(self.target.slot, failures.UNWANTED))
            raise
        reply.record = request.record(self.target.slot, delivery, reply)
        note(reply.record)
        return reply

    async def _passed_on(self, request: Request, path: str, call: Call, tee: Tee) -> tuple[Delivery, Reply]:
        dialect, until = DIALECTS.get(path), perf_counter_ns() + self._wire.limits.total * 1e9
        while True:
            await self._begin(request)
            if dialect is not None:
                request.meter = AnswerMeter(dialect.reader())
            tee.begin(request.meter)
            try:
                delivery = await self._wire.send(call, tee, tee.receiver.carried)
                request.attempts += delivery.resent
                return delivery, self._handed_over(request.meter, tee)
            except (WireError, BadAnswer, ProviderError) as failure:
                error = self._explain(failure, request)
            try:
                again = not tee.is_passed_on and await self._waited(error, request, until)
            except ProviderError as too_long:
                error, again = too_long, False
            if not again:
                if request.meter.status >= 300:
                    tee.receiver.end()
                raise error

    def _handed_over(self, meter: AnswerMeter, tee: Tee) -> Reply:
        """Completes an answer that was passed on. An error waits: it may be asked again."""
        if meter.status < 300:
            tee.receiver.end()
        if tee.failure is not None:
            raise BadAnswer(str(tee.failure))
        return self._read(meter)

    async def _waited(self, error: ProviderError, request: Request, until: float) -> bool:
        """Whether a failed request is to be sent once more; returns when it may be.

        Raises:
            ProviderError: its trial would wait too long for a rate limit.
        """
        if self._gate.shut(error, request.waits):
            return True
        request.failed += 1
        delay = self._retry.delay(error, request.failed)
        if delay is None or perf_counter_ns() + delay * 1e9 > until:
            return False
        await asyncio.sleep(delay)
        return True

    def _call(self, path: str, fields: dict[str, Any], identity: str, stream: bool, seconds: float) -> Call:
        if stream:
            fields["stream"] = True
        else:
            fields.pop("stream", None)
        if stream and self._usage_in_stream:
            fields["stream_options"] = {"include_usage": True, **fields.get("stream_options", {})}
        else:
            fields.pop("stream_options", None)
        messages = fields.get("messages")
        if isinstance(messages, msgspec.Raw):
            rest = _encode({name: value for name, value in fields.items() if name != "messages"})
            parts = (b'{"messages":', memoryview(messages), b"," + rest[1:])
            return Call(
                self._heads.of(path, identity, sum(map(len, parts))) + parts[0],
                seconds=seconds,
                rest=parts[1:],
            )
        try:
            body = _encode(fields)
        except UnicodeEncodeError:
            body = _encode(without_surrogates(fields))
        return Call(self._heads.of(path, identity, len(body)), body, seconds)

    def _read(self, meter: AnswerMeter) -> Reply:
        self._answered = True
        if meter.status != 200:
            answer = (meter.status, meter.headers, meter.body)
            raise failures.from_answer(*answer, self._url, self.target.model, self._hints)
        reply = meter.finish()
        if meter.error is not None:
            raise failures.from_error_object(meter.error, self._url)
        return reply

    def _explain(self, failure: WireError | BadAnswer | ProviderError, request: Request) -> ProviderError:
        if isinstance(failure, WireError):
            request.attempts += failure.resent
        if failures.tells_overload(failure):
            self.on_overload(request.attempts)
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


def _request_ids() -> Iterator[str]:
    """Ids of eight hex digits, starting anywhere: unique within the client for 2**32 requests."""
    start = random.Random(os.urandom(8)).randrange(2**32)
    return (f"{number % 2**32:08x}" for number in itertools.count(start))
