"""No answer is waited for without end: bytes are not progress, and what makes progress has a size and a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import pytest
from tests.endpoint.http_kit import ask, head, refusal_of
from tests.faults.hostile_server import (
    BEGINNINGS,
    ENDS,
    FLOODS,
    STREAM,
    STREAMED,
    TOKENS,
    TRAILERS,
    UNSTREAMED,
    WHOLE,
    HostileServer,
    hostile,
)

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.timeouts import Timeouts
from benchwright.errors import RunStopped
from benchwright.records import RequestRecord, Target

Hostile = Callable[..., HostileServer]
Connect = Callable[..., EndpointClient]

WITHOUT_TOKENS = [
    *((True, STREAM + BEGINNINGS.get(name, b""), endless) for name, endless in STREAMED.items()),
    *((False, WHOLE, endless) for endless in UNSTREAMED.values()),
    *((stream, (STREAM if stream else WHOLE) + end, TRAILERS) for stream, end in ENDS.items()),
]
NAMES = [*STREAMED, *(f"whole: {name}" for name in UNSTREAMED), "trailers", "whole: trailers"]


@pytest.fixture
def serve() -> Iterator[Hostile]:
    """Starts hostile servers; ends them after the test."""
    with ExitStack() as stack:
        yield lambda *pieces, **options: stack.enter_context(hostile(*pieces, **options))


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes clients without patience; closes them after the test."""
    clients: list[EndpointClient] = []

    def make(server: HostileServer, stream: bool = True, retries: int = 0, **limits: Any) -> EndpointClient:
        patience = Timeouts(**{"read_seconds": 0.3, "stall_seconds": 0.2, "total_seconds": 30.0, **limits})
        client = EndpointClient(
            Target("primary", "m", f"{server.url}/v1"),
            stream=stream,
            limits=patience,
            retry=RetryPolicy(retries=retries, first_delay=0.001),
        )
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.mark.parametrize(("stream", "opening", "endless"), WITHOUT_TOKENS, ids=NAMES)
async def test_an_answer_that_does_not_get_on_ends_at_its_stall_limit(
    serve: Hostile, connect: Connect, stream: bool, opening: bytes, endless: bytes
) -> None:
    started = perf_counter()
    error = await refusal_of(connect(serve(opening, endless), stream))
    assert perf_counter() - started < 5
    assert "no token" in str(error) or "stalled for 0.2 s" in str(error)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_so_do_headers_without_end(serve: Hostile, connect: Connect, stream: bool) -> None:
    opening = head("Content-Type: text/event-stream").removesuffix(b"\r\n")
    error = await refusal_of(connect(serve(opening, TRAILERS), stream))
    assert "bytes came, but no token within 0.3 s" in str(error)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_and_an_error_without_end(serve: Hostile, connect: Connect, stream: bool) -> None:
    opening = head("Transfer-Encoding: chunked", status="503 Busy")
    error = await refusal_of(connect(serve(opening, UNSTREAMED["bytes of an unfinished line"]), stream))
    assert "bytes came, but no token for 0.2 s" in str(error)


async def test_tokens_end_with_the_time_of_the_request(serve: Hostile, connect: Connect) -> None:
    server = serve(STREAM, TOKENS)
    error = await refusal_of(connect(server, retries=5, total_seconds=0.6))
    assert "the answer did not end within 0.6 s (--request-seconds sets the limit)" in str(error)
    assert server.requests == 1


async def test_which_is_that_of_all_attempts_together(serve: Hostile, connect: Connect) -> None:
    server = serve(STREAM, STREAMED["comments"])
    started = perf_counter()
    await refusal_of(connect(server, retries=1000, total_seconds=1.0))
    assert 2 <= server.requests <= 5
    assert perf_counter() - started < 5


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_ends_at_the_largest_size(serve: Hostile, connect: Connect, name: str) -> None:
    stream = name != "whole"
    server = serve(STREAM if stream else WHOLE, FLOODS[name] * 100, pause=0)
    error = await refusal_of(connect(server, stream, retries=5, stall_seconds=5.0, max_bytes=2_000_000))
    assert "the answer is larger than 2,000,000 bytes (--answer-mb sets the limit)" in str(error)
    assert server.requests == 1


async def test_tokens_that_come_slowly_are_waited_for(serve: Hostile, connect: Connect) -> None:
    client = connect(serve(STREAM, STREAMED["comments"] * 3 + TOKENS, pause=0.1), total_seconds=1.0)
    assert "--request-seconds" in str(await refusal_of(client)), "and the stall limit is 0.2 s"


class TestWhenTheRunIsInterrupted:
    @pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
    async def test_requests_without_a_token_end(self, serve: Hostile, connect: Connect, stream: bool) -> None:
        server = serve(STREAM, STREAMED["comments"]) if stream else serve(WHOLE, UNSTREAMED["white space"])
        client = connect(server, stream, retries=5, read_seconds=60.0)
        records: list[RequestRecord] = []
        asking = asyncio.create_task(client.ask("/chat/completions", {}, note=records.append))
        await asyncio.sleep(0.4)
        assert not asking.done()
        client.stop_waiting()
        with pytest.raises(RunStopped, match=r"no token for .* when the run was stopped"):
            await asyncio.wait_for(asking, 5)
        assert server.requests == 1
        assert records[0].error is not None

    async def test_those_that_get_on_do_not(self, serve: Hostile, connect: Connect) -> None:
        client = connect(serve(STREAM, TOKENS), total_seconds=1.0)
        client.stop_waiting()
        assert "--request-seconds" in str(await refusal_of(client))

    async def test_so_does_one_that_is_sent_later(self, serve: Hostile, connect: Connect) -> None:
        client = connect(serve(b"", b""), read_seconds=60.0)
        client.stop_waiting()
        with pytest.raises(RunStopped):
            await ask(client)
