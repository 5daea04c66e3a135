"""HTTP client of one target: sends and times chat completions and completions, and retries failed requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from time import perf_counter_ns
from typing import Any, TypeVar

from benchwright.endpoint import failures
from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.address import Proxy, parse_base_url
from benchwright.endpoint.connection import Sink, TransportError
from benchwright.endpoint.dialects import DIALECTS
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.meter import AnswerMeter, BadAnswer, EmptyStream
from benchwright.endpoint.optional_parts import NO_NAMES, RefusedParts, find_message_fields
from benchwright.endpoint.rate_limits import RateLimitGate
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import (
    NO_PURPOSE,
    BeginCallback,
    Request,
    RequestPurpose,
    begin_immediately,
    generate_request_ids,
)
from benchwright.endpoint.request_heads import REQUEST_ID_HEADER, RequestHeadCache
from benchwright.endpoint.request_preparation import omit_from_body, prepare_request, select_fields
from benchwright.endpoint.server_info import ServerResponse, TokenCounter
from benchwright.endpoint.side_requests import SideRequests
from benchwright.endpoint.tee import Tee
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.transport import ConnectionPool, ExchangeTimings, PreparedRequest
from benchwright.errors import ProviderError
from benchwright.records import RequestRecord, Target

ResultType = TypeVar("ResultType")


class EndpointClient:
    """HTTP client of one target. Use it as an async context manager, or call `close`."""

    def __init__(
        self,
        target: Target,
        *,
        access: Access = ANONYMOUS_ACCESS,
        connections: int = 8,
        stream: bool = True,
        limits: Timeouts | None = None,
        retry: RetryPolicy | None = None,
        proxy: Proxy | None = None,
        hints: Mapping[str, str] = failures.NO_HINTS,
        added: Set[str] = NO_NAMES,
    ) -> None:
        """Create the client. `added`: settings that the user did not ask for, omitted if the server refuses them."""
        self.target = target
        self._hints = hints
        self.stream = stream
        address = parse_base_url(target.base_url)
        self._url = target.base_url.rstrip("/")
        self._pool = ConnectionPool(
            address, connections=connections, limits=limits, proxy=proxy, tls=access.tls
        )
        self._tokens = TokenCounter(self._pool, target.model, access)
        self._retry = retry or RetryPolicy()
        self._gate = RateLimitGate(self._retry.max_rate_limit_wait)
        self._refused_parts = RefusedParts(added)
        self._answered = False
        self.on_overload: Callable[[int], None] = lambda attempt: None
        """Callback, called with the number of the attempt if the server seems overloaded. Other objects set it."""
        self.on_wait: Callable[[str, float], None] = lambda model, seconds: None
        """Callback, called with the model and the seconds if its server asks for a pause. Other objects set it."""
        self._gate.on_shut = lambda seconds: self.on_wait(target.model, seconds)
        self._ids = generate_request_ids()
        self._access = access
        self._heads = RequestHeadCache(address, target.model, access)
        self._side_requests = SideRequests(target, self._pool, self._heads, access, self._with_retries)

    async def __aenter__(self) -> EndpointClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def is_rate_limited(self) -> bool:
        """True while requests wait for the end of a pause that the server has asked for."""
        return self._gate.is_shut

    def stop_waiting(self) -> None:
        """Let requests fail with `RunStopped` from now on if they wait at a rate limit or get no token."""
        self._pool.stop_waiting()
        self._gate.stop()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: BeginCallback = begin_immediately,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Send a request to `/chat/completions` or `/completions` and return the response.

        `body`: the messages or the prompt, and further fields. The target's model and settings are added. A
        field that is None is left out. Messages that are JSON already (`msgspec.Raw`) are sent unchanged, so
        that a prompt of 600 kB is not copied. `begin`: awaited when the request is ready to be sent; its
        exceptions are passed on. `note`: called with the request's record at the end, even after a failure.
        The timings of a retried request are those of the last attempt. The total time limit covers all
        attempts together, with the pauses between them.

        Raises:
            ProviderError: If no usable response came, after all retries that made sense.
        """
        identity = next(self._ids)
        fields = {"model": self.target.model, **self.target.settings, **body}
        fields = {name: value for name, value in fields.items() if value is not None}
        left_out, seconds = self._refused_parts.left_out, self._pool.limits.total_seconds
        call = prepare_request(self._heads, path, fields, identity, self.stream, left_out, seconds)
        request = Request(identity, await begin(), left_out)
        try:
            delivery, reply = await self._answer(request, call, path, fields)
        except ProviderError as error:
            if note is not None:
                note(request.make_failed_record(self.target.slot, error))
            raise
        except asyncio.CancelledError:
            if note is not None:
                note(request.make_failed_record(self.target.slot, failures.CLIENT_DISCONNECTED_ERROR))
            raise
        if self.stream and not request.meter.streamed:
            request.meter.flags.append("not_streamed")
        reply.record = request.make_record(self.target.slot, delivery, reply)
        if note is not None:
            note(reply.record)
        return reply

    async def _answer(
        self, request: Request, first: PreparedRequest, path: str, fields: dict[str, Any]
    ) -> tuple[ExchangeTimings, Reply]:
        """Return the response to a request. Retry the request if it fails.

        `first`: the first attempt, ready to be sent.
        """
        stream, seconds_left, failed = self.stream, self._pool.limits.total_seconds, 0
        call: PreparedRequest | None = first
        while True:
            await self._begin(request)
            try:
                left_out, identity = request.left_out, request.identity
                call = call or prepare_request(
                    self._heads, path, fields, identity, stream, left_out, seconds_left
                )
                delivery = await self._pool.send(call, request.meter)
                request.attempts += delivery.resend_count
                return delivery, self._read(request, fields, stream=stream)
            except (TransportError, BadAnswer, ProviderError) as failure:
                call, error = None, self._explain(failure, request)
                seconds_left -= (perf_counter_ns() - request.attempt_at) / 1e9
                carried = self._refused_parts.optional_parts(
                    fields, stream=stream, sends_id=self._heads.sends_id
                )
                if self._gate.shut(error, request.waits) or self._narrowed(request, carried, error):
                    continue
                failed += 1
                delay = self._retry.delay(error, failed)
                if isinstance(failure, EmptyStream):
                    stream = False  # without streaming, such a server reports what is wrong
                seconds_left -= delay or 0.0
                if delay is None or seconds_left <= 0:
                    raise error from None
                await asyncio.sleep(delay)

    async def _begin(self, request: Request) -> None:
        """Wait until no rate limit holds the request back, then count the attempt."""
        try:
            if self._gate.is_shut:
                await self._gate.wait_until_open(request.waits)
        finally:
            request.attempt_at = perf_counter_ns()
        request.count_attempt()

    async def count_tokens(self, text: str) -> int | None:
        """Return the number of tokens of a text as the server counts them. Return None if the server does not count."""
        return await self._tokens.count(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding vectors of texts, in their order. Requests are retried as in `ask`, but not metered.

        Raises:
            ProviderError: If no usable response came, after all retries that made sense.
        """
        return await self._side_requests.embed(texts)

    async def supports_dialect(self, path: str) -> bool | None:
        """Return True if the server itself has the dialect of this path, False if not, None (not cached) if unknown."""
        return await self._side_requests.supports_dialect(path)

    async def fetch_document(self, path: str, body: bytes) -> ServerResponse | None:
        """Return the response to a request that generates nothing, such as a token count. Return None if it failed."""
        try:
            return await self._side_requests.request(path, body)
        except TransportError:
            return None

    async def send(
        self, method: str, path: str, sink: Sink, body: bytes, seconds: float, *, beside: bool = False
    ) -> None:
        """Send one request, without metering and without retries. `sink` receives the response.

        `path` is appended to the base URL. If `beside` is True, `path` takes the place of the base URL's
        final /v1 instead.

        Raises:
            TransportError: If the exchange failed.
        """
        await self._side_requests.send(method, path, sink, body, seconds, beside=beside)

    async def _with_retries(self, send: Callable[[], Awaitable[ResultType]]) -> ResultType:
        """Return the result of `send`. If `send` fails, call it again as often as `ask` would retry."""
        request = Request(next(self._ids), NO_PURPOSE)
        until = perf_counter_ns() + self._pool.limits.total_seconds * 1e9
        while True:
            await self._begin(request)
            try:
                return await send()
            except (TransportError, BadAnswer, ProviderError) as failure:
                error = self._explain(failure, request)
            if not await self._waited(error, request, until):
                raise error

    @property
    def added_settings(self) -> frozenset[str]:
        """Names of the settings that the user did not ask for, but Benchwright added."""
        return self._refused_parts.own

    async def forward(
        self,
        path: str,
        body: bytes,
        tee: Tee,
        purpose: RequestPurpose,
        note: Callable[[RequestRecord], None],
        headers: Sequence[tuple[bytes, bytes]] = (),
        added: Set[str] = NO_NAMES,
    ) -> Reply:
        """Send a program's request body unchanged, pass the response on through `tee`, and return the response.

        Temporary failures are retried as in `ask`, as long as nothing was passed on. All other failures are
        passed on to the receiver behind the tee. `note`: called with the request's record at the end, even
        after a failure. `headers`: sent in addition to Benchwright's own. `added`: the names of fields that
        are omitted if the server refuses them. The program did not set these fields, or they belong to
        messages and are not in the API's reference.

        Raises:
            ProviderError: If the exchange failed, or if the response is an error or cannot be read.
        """
        if path == "/chat/completions":
            added = added | find_message_fields(body)
        carried = self._refused_parts.relayed_optional_parts(added, sends_id=self._heads.sends_id)
        request = Request(next(self._ids), purpose, self._refused_parts.left_out & carried)

        def call() -> PreparedRequest:
            sent = omit_from_body(body, request.left_out) if request.left_out & added else body
            with_id = REQUEST_ID_HEADER not in request.left_out
            return PreparedRequest(
                self._heads.make_head(path, request.identity, len(sent), headers, with_id=with_id), sent
            )

        try:
            delivery, reply = await self._passed_on(request, path, call, carried, tee)
        except ProviderError as error:
            note(request.make_failed_record(self.target.slot, error))
            raise
        except asyncio.CancelledError:
            note(request.make_failed_record(self.target.slot, failures.CLIENT_DISCONNECTED_ERROR))
            raise
        reply.record = request.make_record(self.target.slot, delivery, reply)
        note(reply.record)
        return reply

    async def _passed_on(
        self,
        request: Request,
        path: str,
        call: Callable[[], PreparedRequest],
        carried: frozenset[str],
        tee: Tee,
    ) -> tuple[ExchangeTimings, Reply]:
        dialect, until = DIALECTS.get(path), perf_counter_ns() + self._pool.limits.total_seconds * 1e9
        while True:
            await self._begin(request)
            if dialect is not None:
                request.meter = AnswerMeter(dialect.make_reader())
            tee.begin(request.meter)
            try:
                delivery = await self._pool.send(call(), tee, tee.receiver.set_connection)
                request.attempts += delivery.resend_count
                return delivery, self._handed_over(request, carried, tee)
            except (TransportError, BadAnswer, ProviderError) as failure:
                error = self._explain(failure, request)
            if not tee.is_passed_on and self._narrowed(request, carried, error):
                continue
            try:
                again = not tee.is_passed_on and await self._waited(error, request, until)
            except ProviderError as too_long:
                error, again = too_long, False
            if not again:
                if request.meter.status >= 300:
                    tee.receiver.complete()
                raise error

    def _handed_over(self, request: Request, carried: frozenset[str], tee: Tee) -> Reply:
        """Return the reply of a response that was passed on, and finish the tee.

        The tee is not finished if the response is an error, because the request may be retried.
        """
        if request.meter.status < 300:
            tee.receiver.complete()
        if tee.failure is not None:
            raise BadAnswer(str(tee.failure))
        return self._read(request, dict.fromkeys(carried - {REQUEST_ID_HEADER}), stream=False)

    async def _waited(self, error: ProviderError, request: Request, until: float) -> bool:
        """Return True if a failed request is to be retried, after the wait before the retry. Return False otherwise.

        Raises:
            ProviderError: If the request's trial would wait too long for a rate limit.
        """
        if self._gate.shut(error, request.waits):
            return True
        request.failed += 1
        delay = self._retry.delay(error, request.failed)
        if delay is None or perf_counter_ns() + delay * 1e9 > until:
            return False
        await asyncio.sleep(delay)
        return True

    def _read(self, request: Request, fields: dict[str, Any], *, stream: bool) -> Reply:
        """Return the response to a request. Raise the server's error if there is one.

        `fields`: the request's fields.
        """
        meter = request.meter
        self._answered = True
        if meter.status != 200:
            answer = (meter.status, meter.headers, meter.body)
            sent = failures.OptionalParts(
                self._heads.optional, select_fields(fields, stream=stream), request.left_out
            )
            raise failures.error_from_response(*answer, self._url, self.target.model, self._hints, sent)
        reply = meter.finish_reply()
        if meter.error is not None:
            raise failures.error_from_object(meter.error, self._url)
        self._refused_parts.record_success(request.left_out)
        return reply

    def _narrowed(self, request: Request, carried: frozenset[str], error: ProviderError) -> bool:
        """Leave optional parts out of a refused request if they may be the cause of the refusal.

        Return True if parts were left out, so that the request is to be retried. Return False otherwise.
        """
        meter = request.meter
        if error.http_status != meter.status:
            return False
        left_out = self._refused_parts.parts_to_omit(
            request.left_out, carried, meter.status, meter.body, failures.refusal_reason(meter.body)
        )
        if left_out is None:
            return False
        request.omit_parts(left_out)
        return True

    def _explain(
        self, failure: TransportError | BadAnswer | ProviderError, request: Request
    ) -> ProviderError:
        if isinstance(failure, TransportError):
            request.attempts += failure.resent
        if failures.is_overload(failure):
            self.on_overload(request.attempts)
        if isinstance(failure, TransportError):
            return failures.error_from_transport(
                failure, self._url, answered_before=self._answered, options=failures.OPTIONS_BY_LIMIT
            )
        if isinstance(failure, BadAnswer):
            return failures.unreadable_response_error(failure, self._url)
        return failure
