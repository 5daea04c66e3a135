"""When the client asks again, and what the timings of such a request mean."""

from __future__ import annotations

import asyncio
from time import perf_counter

import pytest
from tests.endpoint.http_kit import (
    HELLO,
    STREAMED_HELLO,
    OpenClient,
    answer,
    ask,
    completion,
    delta,
    error_answer,
    event,
    head,
    json_answer,
    refusal_of,
    sse_answer,
    with_purpose,
)
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, RESET, Script, Serve

from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.rate_limits import RateLimitWaits
from benchwright.endpoint.request import RequestPurpose
from benchwright.endpoint.timeouts import Timeouts
from benchwright.errors import ProviderError, RunStopped
from benchwright.records import RequestRecord

STREAM_HEAD = head("Content-Type: text/event-stream")
MS = 1_000_000


class TestPassingFaults:
    @pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 529])
    async def test_of_the_server_are_asked_again(
        self, serve: Serve, open_client: OpenClient, status: int
    ) -> None:
        server = await serve([ASKED, error_answer(f"{status} Passing"), ASKED, STREAMED_HELLO])
        reply = await ask(open_client(server.url))
        assert (reply.text, reply.record.attempts, reply.record.http_status) == ("Hello", 2, 200)

    @pytest.mark.parametrize(
        "script",
        [
            [ASKED, CLOSE],
            [ASKED, RESET],
            [ASKED, STREAM_HEAD, event(delta(content="a")), 0.05, RESET],
            [ASKED, STREAM_HEAD, event(delta(content="a")), CLOSE],
            [ASKED, sse_answer(delta(content="a"), done=False)],
            [ASKED, sse_answer(delta(content="a"), b"{broken")],
            [ASKED, sse_answer(delta(content="a"), {"error": {"message": "oops", "code": 500}})],
            [ASKED, sse_answer({"error": {"message": "no code at all"}})],
            [ASKED, json_answer({"error": {"message": "overloaded", "code": 503}})],
            [ASKED, json_answer({"detail": "not an answer"})],
            [ASKED, answer(b"", "Content-Encoding: gzip")],
            [ASKED, b"garbage\r\n\r\n"],
            [ASKED, b"[" * 100_000],
            [ASKED, answer(b"[" * 100_000)],
            [ASKED, sse_answer(b"[" * 100_000)],
        ],
        ids=lambda script: repr(script[1])[:40],
    )
    async def test_of_the_answer_are_asked_again(
        self, serve: Serve, open_client: OpenClient, script: Script
    ) -> None:
        server = await serve([*script, ASKED, STREAMED_HELLO], [ASKED, STREAMED_HELLO])
        reply = await ask(open_client(server.url))
        assert (reply.text, reply.record.attempts) == ("Hello", 2)

    async def test_of_time_are_asked_again(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED], [ASKED, b"HTTP"], [ASKED, STREAMED_HELLO])
        client = open_client(server.url, limits=Timeouts(read_seconds=0.1, stall_seconds=0.1))
        assert (await ask(client)).record.attempts == 3

    async def test_that_do_not_pass_fail_in_the_end(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, error_answer("503 Busy", "warming up"), AGAIN])
        client = open_client(server.url, retry=RetryPolicy(retries=2, first_delay=0.001))
        error = await refusal_of(client)
        assert str(error) == f"{server.url}/v1 answered HTTP 503: warming up"
        assert (error.http_status, error.systemic) == (503, False)
        assert len(server.requests) == 3

    async def test_are_not_asked_again_without_retries(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, error_answer("503 Busy"), AGAIN])
        await refusal_of(open_client(server.url, retry=RetryPolicy(retries=0)))
        assert len(server.requests) == 1

    async def test_a_stream_that_stays_empty_is_asked_whole(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        refusal = error_answer("400 Bad Request", "the prompt is too long")
        server = await serve([ASKED, STREAM_HEAD, CLOSE], [ASKED, refusal])
        assert "the prompt is too long" in str(await refusal_of(open_client(server.url)))
        assert ["stream" in request.json for request in server.requests] == [True, False]


class TestRateLimits:
    @pytest.mark.parametrize("after", ["0", "0.01", "Fri, 31 Dec 1999 23:59:59 GMT"])
    async def test_are_waited_for_as_long_as_the_server_says(
        self, serve: Serve, open_client: OpenClient, after: str
    ) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", f"Retry-After: {after}")
        server = await serve([ASKED, limited, ASKED, limited, ASKED, HELLO])
        started = perf_counter()
        reply = await ask(open_client(server.url, retry=RetryPolicy(first_delay=60)))
        assert reply.record.attempts == 3
        assert perf_counter() - started < 10

    async def test_are_no_failed_attempts(self, serve: Serve, open_client: OpenClient) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 0.1")
        server = await serve([*[ASKED, limited] * 8, ASKED, HELLO])
        record = (await ask(open_client(server.url, retry=RetryPolicy(retries=0)))).record
        assert (record.attempts, len(server.requests)) == (9, 9)
        assert record.waited >= 800 * MS

    async def test_hold_all_requests_back(self, serve: Serve, open_client: OpenClient) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 0.3")
        server = await serve([ASKED, limited, ASKED, HELLO, AGAIN], [ASKED, HELLO, AGAIN])
        client = open_client(server.url)
        first = asyncio.create_task(ask(client))
        while not client.is_rate_limited:
            await asyncio.sleep(0.001)
        second = (await ask(client)).record
        assert (await first).record.attempts == 2
        assert second.attempts == 1
        assert second.waited > 250 * MS > second.total

    async def test_are_waited_for_by_a_trial_for_so_long_in_all(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 0.2")
        server = await serve([ASKED, limited, AGAIN])
        client, waits = open_client(server.url, retry=RetryPolicy(max_rate_limit_wait=0.5)), RateLimitWaits()
        records: list[RequestRecord] = []
        with pytest.raises(ProviderError, match="HTTP 429: slow down and asks to wait") as caught:
            await client.ask(
                "/chat/completions", {}, with_purpose(RequestPurpose(rate_limit_waits=waits)), records.append
            )
        assert str(caught.value).endswith("a trial waits 0.5 s in all (--max-wait)")
        assert len(server.requests) == records[0].attempts == 3
        assert records[0].waited >= 400 * MS
        with pytest.raises(ProviderError, match="--max-wait"):
            await client.ask("/chat/completions", {}, with_purpose(RequestPurpose(rate_limit_waits=waits)))
        assert len(server.requests) <= 4

    async def test_that_several_requests_of_a_trial_wait_for_count_once(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 0.2")
        server = await serve([ASKED, limited, ASKED, limited, ASKED, HELLO])
        client, waits = open_client(server.url, retry=RetryPolicy(max_rate_limit_wait=2.0)), RateLimitWaits()
        asking = [
            client.ask("/chat/completions", {}, with_purpose(RequestPurpose(rate_limit_waits=waits)))
            for _ in range(8)
        ]
        assert all(reply.record.attempts == 3 for reply in await asyncio.gather(*asking))
        assert 0.4 <= waits.seconds < 2, "all their waits together are longer"

    async def test_are_not_waited_for_when_the_run_is_interrupted(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 300")
        server = await serve([ASKED, limited, AGAIN])
        client = open_client(server.url)
        waiting = asyncio.create_task(ask(client))
        while not client.is_rate_limited:
            await asyncio.sleep(0.001)
        client.stop_waiting()
        with pytest.raises(RunStopped, match="slow down; not waited for, as the run was stopped"):
            await waiting

    async def test_are_not_asked_again_sooner(self, serve: Serve, open_client: OpenClient) -> None:
        limited = error_answer("503 Busy", "slow down", "retry-after: 0.2")
        server = await serve([ASKED, limited, ASKED, HELLO])
        reply = await ask(open_client(server.url))
        assert reply.record.waited > 190 * MS

    @pytest.mark.parametrize("after", ["601", "9" * 400, "Thu, 31 Dec 2099 23:59:59 GMT"])
    async def test_that_last_too_long_fail(self, serve: Serve, open_client: OpenClient, after: str) -> None:
        limited = error_answer("429 Too Many Requests", "come back later", f"Retry-After: {after}")
        server = await serve([ASKED, limited, AGAIN])
        error = await refusal_of(open_client(server.url))
        assert "come back later" in str(error)
        assert (len(server.requests), error.systemic) == (1, False)


class TestTimings:
    async def test_are_those_of_the_attempt_that_answered(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        limited = error_answer("429 Too Many Requests", "slow down", "Retry-After: 0.1")
        server = await serve([ASKED, 0.2, limited, ASKED, STREAMED_HELLO])
        record = (await ask(open_client(server.url))).record
        assert record.waited > 290 * MS
        assert record.ttft is not None
        assert record.ttft <= record.total < record.waited
        assert record.dispatch_lag < record.waited
        assert (record.attempts, record.connect) == (2, 0)

    async def test_count_the_chunks_of_that_attempt_alone(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        broken = sse_answer(*[delta(content="x")] * 10, done=False)
        server = await serve([ASKED, broken, ASKED, STREAMED_HELLO])
        reply = await ask(open_client(server.url))
        assert (reply.text, reply.record.chunks, reply.record.flags) == ("Hello", 2, [])


class TestWhatIsNotAskedAgain:
    @pytest.mark.parametrize(
        ("status", "systemic"),
        [
            *((status, False) for status in (201, 400, 405, 413, 422, 501)),
            *((status, True) for status in (301, 307, 401, 402, 403, 404)),
        ],
    )
    async def test_a_refusal(
        self, serve: Serve, open_client: OpenClient, status: int, systemic: bool
    ) -> None:
        server = await serve([ASKED, error_answer(f"{status} No"), AGAIN])
        error = await refusal_of(open_client(server.url))
        assert (error.http_status, error.systemic, len(server.requests)) == (status, systemic, 1)

    async def test_an_error_inside_an_answer_that_tells_so(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await serve([ASKED, sse_answer({"error": {"message": "too long", "code": 400}}), AGAIN])
        error = await refusal_of(open_client(server.url))
        assert str(error) == f"{server.url}/v1 sent an error in its answer: too long"
        assert (error.http_status, len(server.requests)) == (400, 1)

    async def test_a_server_that_never_answered(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([])
        await server.__aexit__()
        started = perf_counter()
        error = await refusal_of(open_client(server.url, retry=RetryPolicy(first_delay=60)))
        assert perf_counter() - started < 10
        assert error.systemic
        assert str(error).startswith(f"Cannot connect to {server.url}/v1: ")
        assert str(error).endswith("Is the server running, and is --base-url right?")

    async def test_a_request_whose_client_is_closed(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED])
        client = open_client(server.url)
        failing = asyncio.create_task(refusal_of(client))
        while not server.requests:
            await asyncio.sleep(0.001)
        client.close()
        assert str(await failing) == f"{server.url}/v1: the client was closed"
        assert len(server.requests) == 1


async def test_a_server_that_went_away_after_it_answered_may_come_back(
    serve: Serve, open_client: OpenClient
) -> None:
    server = await serve([ASKED, json_answer(completion(), "Connection: close")])
    client = open_client(server.url)
    await ask(client)
    await server.__aexit__()
    noted: list[int] = []
    with pytest.raises(ProviderError, match="Cannot connect") as caught:
        await client.ask("/chat/completions", {}, note=lambda record: noted.append(record.attempts))
    assert noted == [6]
    assert caught.value.systemic
