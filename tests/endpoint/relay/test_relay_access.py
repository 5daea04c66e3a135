"""Who may ask through the relay, how much, and until when."""

from __future__ import annotations

import asyncio

import pytest
from tests.endpoint.http_kit import HELLO, STREAMED_HELLO, OpenClient
from tests.endpoint.relay.relay_kit import Agent, LetIn, error_in
from tests.endpoint.scripted_server import AGAIN, ASKED, ScriptedServer, Serve, until

from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.relay import Relay


@pytest.fixture
async def server(serve: Serve) -> ScriptedServer:
    return await serve([ASKED, HELLO, AGAIN])


class TestToken:
    @pytest.mark.parametrize("token", ["", "wrong", "sk-real-key"])
    async def test_that_is_none_is_refused(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn, token: str
    ) -> None:
        agent = let_in(open_client(server.url, key="sk-real-key"))
        answer = await agent.ask(token=token)
        assert answer.status == 401
        assert error_in(answer)["code"] == "invalid_api_key"
        assert server.requests == []

    async def test_is_asked_for_whatever_the_path(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client(server.url))
        assert (await agent.ask(path="/v1/models", method="GET", token="")).status == 401

    async def test_ends_with_its_trial_and_not_with_another(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn
    ) -> None:
        client = open_client(server.url)
        ended, other = let_in(client), let_in(client)
        await ended.grant.close()
        assert (await ended.ask()).status == 401
        assert (await other.ask()).status == 200

    async def test_tells_trials_apart(self, serve: Serve, open_client: OpenClient, let_in: LetIn) -> None:
        first, second = (await serve([ASKED, HELLO]), await serve([ASKED, STREAMED_HELLO]))
        agents = let_in(open_client(first.url)), let_in(open_client(second.url))
        await asyncio.gather(*(agent.ask({"messages": [], "user": str(n)}) for n, agent in enumerate(agents)))
        assert [server.requests[0].json["user"] for server in (first, second)] == ["0", "1"]
        assert [len(agent.relayed) for agent in agents] == [1, 1]

    async def test_is_another_one_each_time(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn
    ) -> None:
        client = open_client(server.url)
        assert len({let_in(client).token for _ in range(100)}) == 100


class TestLimit:
    async def test_refuses_the_next_request_and_is_named(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client(server.url), turns=2)
        answers = [await agent.ask() for _ in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 400]
        error = error_in(answers[-1])
        assert (error["code"], error["type"]) == ("turns", "limit_reached")
        assert error["message"] == "the trial reached its limit of 2 turns."
        assert [relayed.record.turn for relayed in agent.relayed] == [0, 1]

    async def test_is_not_touched_by_a_request_that_cannot_be_read(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client(server.url), turns=1)
        assert (await agent.ask(b"what?")).status == 400
        assert (await agent.ask()).status == 200


class TestEnd:
    @staticmethod
    async def ask_in_vain(agent: Agent) -> None:
        with pytest.raises(TransportError):
            await agent.ask()

    async def test_of_a_trial_ends_what_is_under_way_and_notes_it(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        server = await serve([ASKED, STREAMED_HELLO[:-60]])
        agent = let_in(open_client(server.url))
        asking = asyncio.create_task(self.ask_in_vain(agent))
        await until(lambda: bool(server.requests))
        await agent.grant.close()
        await asking
        assert "disconnected" in agent.error
        await until(lambda: server.open == 0)

    async def test_of_a_trial_waits_for_a_stream_that_has_said_all(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        server = await serve([ASKED, STREAMED_HELLO[:-5], 0.05, STREAMED_HELLO[-5:]])
        agent = let_in(open_client(server.url))
        asking = asyncio.create_task(self.ask_in_vain(agent))
        await until(lambda: bool(server.requests))
        await asyncio.sleep(0.02)
        await agent.grant.close()
        await asking
        assert agent.record.error is None
        assert agent.record.finish_reason == "stop"

    async def test_of_a_trial_closes_the_connections_that_it_left_open(
        self, server: ScriptedServer, open_client: OpenClient, let_in: LetIn, relay: Relay
    ) -> None:
        agent, other = let_in(open_client(server.url)), let_in(open_client(server.url))
        await agent.ask()
        await other.ask()
        assert len(relay.connections) == 2
        await agent.grant.close()
        await until(lambda: len(relay.connections) == 1)
        assert (await other.ask()).status == 200

    async def test_of_a_trial_leaves_idle_connections_to_the_next_one_where_the_relay_keeps_them(
        self, server: ScriptedServer, open_client: OpenClient
    ) -> None:
        async with Relay(keeps_idle=True) as relay:
            client = open_client(server.url)
            first, second = Agent(relay, client), Agent(relay, client)
            await first.ask()
            (connection,) = relay.connections
            await first.grant.close()
            assert (await first.ask()).status == 401
            assert (await first.ask(token=second.token)).status == 200
            assert relay.connections == {connection}
            await first.leave()
            await second.leave()

    async def test_of_the_relay_ends_everything(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED])
        async with Relay() as relay:
            agent = Agent(relay, open_client(server.url))
            asking = asyncio.create_task(self.ask_in_vain(agent))
            await until(lambda: bool(server.requests))
        await asking
        assert "disconnected" in agent.error
        with pytest.raises(OSError, match=r"."):
            await asyncio.open_connection("127.0.0.1", agent.port)
        await agent.leave()
