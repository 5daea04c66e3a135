"""What the client says of a request: timings, counts, flags."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from typing import Any

import pytest
from tests.endpoint.http_kit import (
    DONE,
    HELLO,
    STREAMED_HELLO,
    OpenClient,
    ask,
    completion,
    delta,
    error_answer,
    event,
    head,
    json_answer,
    sse_answer,
    usage,
    with_purpose,
)
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, Serve

from benchwright.endpoint.request import RequestPurpose
from benchwright.errors import ProviderError
from benchwright.records import NO_USAGE, RequestRecord, Usage

MS = 1_000_000
STREAM_HEAD = head("Content-Type: text/event-stream")


async def record_of(serve: Serve, open_client: OpenClient, *script: Any, **options: Any) -> RequestRecord:
    server = await serve([ASKED, *script])
    return (await ask(open_client(server.url, **options))).record


class TestTimings:
    async def test_of_a_stream_run_from_the_request_to_its_tokens(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        record = await record_of(
            *(serve, open_client, 0.05, STREAM_HEAD + event(delta(role="assistant"))),
            *(0.05, event(delta(reasoning="hm")), 0.05, event(delta(content="42"))),
            *(0.05, event(delta("stop")) + DONE, CLOSE),
        )
        assert record.ttft is not None
        assert record.ttfa is not None
        assert 95 * MS < record.ttft < record.ttfa < record.total
        assert record.ttfa > 145 * MS
        assert record.total > 195 * MS
        assert (record.chunks, sum(record.gaps.values())) == (2, 1)

    async def test_of_a_whole_answer_know_no_first_token(self, serve: Serve, open_client: OpenClient) -> None:
        record = await record_of(serve, open_client, 0.05, HELLO, stream=False)
        assert (record.ttft, record.ttfa, record.chunks, record.gaps) == (None, None, 0, {})
        assert record.total > 45 * MS

    async def test_of_an_answer_that_is_all_reasoning_know_no_answer(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        record = await record_of(serve, open_client, sse_answer(delta(content="<think>hm"), delta("length")))
        assert record.ttft is not None
        assert record.ttfa is None

    async def test_count_connecting_and_waiting_apart(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, 0.06, HELLO, AGAIN])
        client = open_client(server.url, connections=1)
        first, second = await asyncio.gather(ask(client), ask(client))
        assert first.record.connect > 0 == second.record.connect
        assert max(50 * MS, first.record.waited) < second.record.waited
        assert 0 <= second.record.dispatch_lag < second.record.waited

    async def test_start_with_the_trial(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, HELLO])
        purpose = RequestPurpose(trial_started_at=perf_counter_ns() - 1_000 * MS, role="judge", turn=3)
        reply = await open_client(server.url).ask("/chat/completions", {}, with_purpose(purpose))
        assert 1_000 * MS < reply.record.started < 6_000 * MS
        assert (reply.record.role, reply.record.turn, reply.record.slot) == ("judge", 3, "primary")

    async def test_when_they_are_due_if_they_are_ready_before(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await serve([ASKED, HELLO])
        due = asyncio.Event()

        async def begin() -> RequestPurpose:
            await due.wait()
            return RequestPurpose(trial_started_at=perf_counter_ns())

        asking = asyncio.create_task(open_client(server.url).ask("/chat/completions", {}, begin))
        await asyncio.sleep(0.2)
        assert not server.requests
        due.set()
        record = (await asking).record
        assert record.waited < 100 * MS > record.started


class TestCounts:
    async def test_of_a_stream(self, serve: Serve, open_client: OpenClient) -> None:
        counts = usage(prompt_tokens=5, completion_tokens=2, prompt_tokens_details={"cached_tokens": 4})
        record = await record_of(
            serve, open_client, sse_answer(delta(content="a"), delta(content="b"), delta("stop"), counts)
        )
        assert record.usage == Usage(5, 2, 4)
        assert (record.chunks, record.finish_reason, record.http_status) == (2, "stop", 200)
        assert (record.attempts, record.error, record.flags) == (1, None, [])

    async def test_of_a_whole_answer(self, serve: Serve, open_client: OpenClient) -> None:
        answer = {**completion("a", "length"), "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        record = await record_of(serve, open_client, json_answer(answer), stream=False)
        assert (record.usage, record.finish_reason, record.flags) == (Usage(5, 2), "length", [])

    async def test_that_the_server_did_not_give_are_unknown(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        assert (await record_of(serve, open_client, STREAMED_HELLO)).usage is NO_USAGE


class TestFlags:
    async def test_a_stream_without_its_end(self, serve: Serve, open_client: OpenClient) -> None:
        script = sse_answer(delta(content="a"), delta("stop"), done=False)
        assert (await record_of(serve, open_client, script)).flags == ["no_done"]

    async def test_an_answer_that_was_not_streamed_as_asked(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        assert (await record_of(serve, open_client, HELLO)).flags == ["not_streamed"]

    async def test_an_answer_of_the_simulated_endpoint(self, serve: Serve, open_client: OpenClient) -> None:
        script = json_answer(completion(), "X-Benchwright-Simulated: 1")
        assert (await record_of(serve, open_client, script, stream=False)).flags == ["simulated"]


class TestTheNote:
    async def test_is_the_record_of_a_request_that_was_answered(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await serve([ASKED, HELLO])
        noted: list[RequestRecord] = []
        reply = await open_client(server.url).ask("/chat/completions", {}, note=noted.append)
        assert noted == [reply.record]

    async def test_tells_of_one_that_failed_once_with_all_its_attempts(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        broken = sse_answer(delta(content="a"), delta(content="b"), done=False)
        server = await serve([ASKED, broken, AGAIN])
        noted: list[RequestRecord] = []
        with pytest.raises(ProviderError) as caught:
            await open_client(server.url).ask(
                "/chat/completions", {}, with_purpose(RequestPurpose(turn=2)), noted.append
            )
        (record,) = noted
        assert record.error == str(caught.value)
        assert (record.attempts, record.chunks, record.http_status, record.turn) == (6, 2, 200, 2)
        assert record.flags == ["no_done"]
        assert record.id == server.requests[0].headers["x-request-id"]

    async def test_tells_the_status_of_a_refusal(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, error_answer("400 Bad Request", "too long")])
        noted: list[RequestRecord] = []
        with pytest.raises(ProviderError):
            await open_client(server.url).ask("/chat/completions", {}, note=noted.append)
        assert (noted[0].http_status, noted[0].attempts) == (400, 1)

    @pytest.mark.parametrize(
        ("script", "chunks", "attempts"),
        [
            ([ASKED, STREAM_HEAD, event(delta(content="a")), 60.0], 1, 1),
            ([ASKED, error_answer("503 Busy", "later", "Retry-After: 60"), AGAIN], 0, 1),
        ],
        ids=["while it is answered", "while it waits to be asked again"],
    )
    async def test_tells_of_one_that_was_cancelled(
        self, serve: Serve, open_client: OpenClient, script: list[Any], chunks: int, attempts: int
    ) -> None:
        server = await serve(script)
        noted: list[RequestRecord] = []
        asking = asyncio.create_task(open_client(server.url).ask("/chat/completions", {}, note=noted.append))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        (record,) = noted
        assert record.error == "the client disconnected before the answer ended"
        assert (record.chunks, record.attempts) == (chunks, attempts)
        assert record.total > 0
