"""What the relay measures, while agents read as they like."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.endpoint.http_kit import OpenClient, head
from tests.endpoint.relay.relay_kit import HI, Agent, LetIn
from tests.endpoint.scripted_server import AGAIN, ASKED, Serve, until

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.relay.relayed_answer import SLOW_READER_FLAG
from benchwright.endpoint.simulate import Delay, Settings, SimulatedEndpoint
from benchwright.endpoint.timeouts import Timeouts
from benchwright.records import RequestRecord

WORDS = Settings(policy="words", words=20, reasoning="Let me think.", seed=3)
SPLIT = Settings(split=True)
INLINE = Settings(reasoning="So.", reasoning_style="think")
STREAMED = {**HI, "stream": True, "stream_options": {"include_usage": True}}


Simulate = Callable[[Settings], Awaitable[SimulatedEndpoint]]
"""Starts a simulated endpoint; the fixture `simulate`."""


@pytest.fixture
async def simulate(complaints: list[str]) -> AsyncIterator[Simulate]:
    started: list[SimulatedEndpoint] = []

    async def start(settings: Settings) -> SimulatedEndpoint:
        started.append(await SimulatedEndpoint(settings).__aenter__())
        return started[-1]

    yield start
    for endpoint in started:
        await endpoint.__aexit__(None, None, None)


def client_for(open_client: OpenClient, endpoint: SimulatedEndpoint, **options: Any) -> EndpointClient:
    return open_client(endpoint.base_url.removesuffix("/v1"), **options)


def text_of(events: bytes) -> str:
    """The content of a stream, put together by hand."""
    chunks = [json.loads(line[6:]) for line in events.splitlines() if line.startswith(b"data: {")]
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])


def what_was_said(record: RequestRecord) -> tuple[Any, ...]:
    return record.usage, record.finish_reason, record.http_status, record.chunks, record.flags, record.error


class TestRecord:
    @pytest.mark.parametrize("settings", [WORDS, SPLIT, INLINE])
    @pytest.mark.parametrize("stream", [True, False])
    async def test_says_what_asking_directly_would_say(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn, settings: Settings, stream: bool
    ) -> None:
        client = client_for(open_client, await simulate(settings), stream=stream)
        direct = await client.ask("/chat/completions", {"messages": HI["messages"]})
        agent = let_in(client)
        await agent.ask(STREAMED if stream else HI)
        (reply,) = agent.replies
        assert what_was_said(agent.record) == what_was_said(direct.record)
        assert reply.text == direct.text
        assert reply.reasoning == direct.reasoning
        assert agent.record.total > 0

    async def test_times_the_target_and_not_the_agent(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn
    ) -> None:
        settings = Settings(
            policy="words", first_token=Delay(mean_ms=50), between_tokens=Delay(mean_ms=10), words=6
        )
        endpoint = await simulate(settings)
        agent = let_in(client_for(open_client, endpoint))
        await agent.ask(STREAMED)
        (truth,) = endpoint.log
        record = agent.record
        assert record.ttft is not None
        assert abs(record.ttft - (truth.first_token - truth.received)) < 30e6
        assert abs(record.total - (truth.last_byte - truth.received)) < 30e6
        assert sum(record.gaps.values()) == record.chunks - 1


class TestDisconnect:
    async def test_ends_the_request_at_the_target(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn
    ) -> None:
        endpoint = await simulate(Settings(policy="words", words=1000, between_tokens=Delay(mean_ms=10)))
        client = client_for(open_client, endpoint, connections=1)
        agent = let_in(client)
        reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
        call = agent.request(STREAMED)
        writer.write(call.head + call.body)
        await reader.readuntil(b"data: ")
        writer.transport.abort()
        await until(lambda: bool(endpoint.log))
        assert not endpoint.log[0].complete
        await until(lambda: bool(agent.relayed))
        assert "disconnected" in agent.error
        assert agent.relayed[0].error is None

    async def test_before_the_answer_frees_the_connection(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        server = await serve([ASKED], [ASKED, head("Content-Length: 2") + b"{}"])
        agent = let_in(open_client(server.url, connections=1))
        _, writer = await asyncio.open_connection("127.0.0.1", agent.port)
        call = agent.request()
        writer.write(call.head + call.body)
        await until(lambda: bool(server.requests))
        writer.close()
        await until(lambda: bool(agent.relayed))
        assert (await agent.ask()).status == 200


class Pieces(list[Any]):
    """A script that knows how many of its steps were taken."""

    taken = 0

    def __iter__(self) -> Iterator[Any]:
        for step in super().__iter__():
            self.taken += 1
            yield step


class TestSlowReader:
    PIECE = b"x" * 100_000
    COUNT = 400
    SIZE = COUNT * len(PIECE)

    async def test_makes_the_target_wait_and_gets_all_in_the_end(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        script = Pieces([ASKED, head(f"Content-Length: {self.SIZE}"), *[self.PIECE] * self.COUNT])
        server = await serve(script)
        agent = let_in(open_client(server.url, limits=Timeouts(stall_seconds=0.3)))
        reader, writer = await asyncio.open_connection("127.0.0.1", agent.port, limit=1024)
        call = agent.request()
        writer.write(call.head + call.body)
        await asyncio.sleep(1)  # several times the limit of an answer that stalls
        assert script.taken < self.COUNT / 2
        await reader.readuntil(b"\r\n\r\n")
        assert len(await reader.readexactly(self.SIZE)) == self.SIZE
        writer.close()
        await until(lambda: bool(agent.relayed))
        assert SLOW_READER_FLAG in agent.record.flags

    async def test_leaves_a_connection_that_can_be_used_again(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        big = head("Content-Length: 3000000") + b"y" * 3_000_000
        server = await serve([ASKED, big, AGAIN])
        agent = let_in(open_client(server.url, connections=1))
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
            call = agent.request()
            writer.write(call.head + call.body)
            await asyncio.sleep(0.05)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            assert len(await reader.readexactly(3_000_000)) == 3_000_000
            writer.close()
        assert server.connections == 1


class TestManyAtOnce:
    async def test_64_streams_come_through_whole(
        self, simulate: Simulate, open_client: OpenClient, relay: Relay
    ) -> None:
        settings = Settings(
            policy="echo", first_token=Delay("uniform", 20), between_tokens=Delay("uniform", 2), split=True
        )
        client = client_for(open_client, await simulate(settings), connections=64)
        agents = [Agent(relay, client) for _ in range(64)]
        prompts = [f"say this again, agent number {number}: {'word ' * 20}" for number in range(64)]

        async def talk(agent: Agent, prompt: str) -> str:
            body = {**STREAMED, "messages": [{"role": "user", "content": prompt}]}
            return text_of((await agent.ask(body)).body)

        answers = await asyncio.gather(*map(talk, agents, prompts))
        assert answers == prompts
        for agent, prompt in zip(agents, prompts, strict=True):
            assert [reply.text for reply in agent.replies] == [prompt]
            assert agent.record.ttft is not None
        for agent in agents:
            await agent.leave()
