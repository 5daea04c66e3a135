"""What comes back through the relay: the target's bytes, and nothing that is none of the agent's business."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from tests.endpoint.http_kit import (
    DONE,
    HELLO,
    STREAMED_HELLO,
    OpenClient,
    answer,
    delta,
    error_answer,
    event,
    head,
    json_answer,
    sse_answer,
    usage,
)
from tests.endpoint.relay.relay_kit import Agent, LetIn, error_in
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, RESET, Script, ScriptedServer, Serve, Step

from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.relay import Relay
from benchwright.secrets import SECRETS

EVENTS = [
    delta(role="assistant", content=""),
    delta(reasoning_content="hm…"),
    delta(content="Grüße, "),
    delta(content="世界"),
    delta("stop"),
    usage(prompt_tokens=3, completion_tokens=4),
]
STREAM = b": a comment\r\n\r\n" + b"".join(map(event, EVENTS)) + DONE


Through = Callable[..., Awaitable[Agent]]
"""Lets an agent ask a server that plays the steps given; the fixture `through`."""


@pytest.fixture
def through(serve: Serve, open_client: OpenClient, let_in: LetIn) -> Through:
    """Lets an agent ask a server that plays these steps whenever it is asked."""

    async def start(*steps: bytes | float | Step, key: str | None = None) -> Agent:
        script: Script = [ASKED, *steps, AGAIN]
        server: ScriptedServer = await serve(script)
        return let_in(open_client(server.url, key=key))

    return start


class TestBytes:
    async def test_of_a_stream_come_through_wherever_it_is_cut(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        chunked = b"".join(
            b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (STREAM[:200], STREAM[200:], b"")
        )
        raw = head("Content-Type: text/event-stream", "Transfer-Encoding: chunked") + chunked
        cuts = range(1, len(raw), 3)
        server = await serve([step for cut in cuts for step in (ASKED, raw[:cut], 0.001, raw[cut:])])
        agent = let_in(open_client(server.url))
        for _ in cuts:
            assert (await agent.ask()).body == STREAM
        assert {reply.text for reply in agent.replies} == {"Grüße, 世界"}

    async def test_of_a_stream_come_through_when_they_come(self, through: Through) -> None:
        agent = await through(
            head("Content-Type: text/event-stream", "Transfer-Encoding: chunked"),
            0.05,
            b"5\r\nfirst\r\n",
            0.05,
            b"4\r\nlast\r\n0\r\n\r\n",
        )
        passed = await agent.ask()
        assert passed.pieces == [b"first", b"last"]
        waits = [later - earlier for earlier, later in zip(passed.moments, passed.moments[1:], strict=False)]
        assert all(wait > 25e6 for wait in waits), waits

    async def test_of_a_stream_that_ends_by_closing_come_through(self, through: Through) -> None:
        agent = await through(head("Content-Type: text/event-stream") + STREAM, CLOSE)
        passed = await agent.ask()
        assert passed.body == STREAM
        assert (b"transfer-encoding", b"chunked") in passed.headers

    async def test_of_a_whole_answer_come_through_with_their_length(self, through: Through) -> None:
        agent = await through(HELLO)
        passed = await agent.ask()
        assert HELLO.endswith(b"\r\n\r\n" + passed.body)
        assert (b"content-length", b"%d" % len(passed.body)) in passed.headers

    async def test_that_are_no_completion_come_through_and_are_told_as_an_error(
        self, through: Through
    ) -> None:
        broken = (
            event(delta(content="Hel")) + b'data: {"choices": [{"del\n\n' + event(delta(content="lo")) + DONE
        )
        agent = await through(answer(broken, "Content-Type: text/event-stream"))
        assert (await agent.ask()).body == broken
        assert "not a chat completion chunk" in agent.error
        assert "malformed_chunk" in agent.record.flags

    async def test_reach_a_client_that_knows_no_chunks(self, through: Through) -> None:
        agent = await through(STREAMED_HELLO)
        reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
        call = agent.request(version="1.0")
        writer.write(call.head + call.body)
        answered, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert b"chunked" not in answered
        assert body == event(delta(content="Hel")) + event(delta(content="lo")) + event(delta("stop")) + DONE


class TestNames:
    async def test_of_the_model_are_those_that_were_asked_for(self, through: Through) -> None:
        said = {"id": "x", "model": "upstream/m-7", "choices": [], "extra": {"model": "inner"}}
        agent = await through(json_answer(said, "X-Request-Id: abc"))
        passed = await agent.ask({"model": "local:m", "messages": []})
        assert json.loads(passed.body) == {**said, "model": "local:m"}
        assert (b"content-length", b"%d" % len(passed.body)) in passed.headers
        assert (b"x-request-id", b"abc") in passed.headers

    async def test_that_are_the_targets_own_leave_the_answer_as_it_is(self, through: Through) -> None:
        said = {"model": "a-snapshot-of-it", "choices": []}
        agent = await through(json_answer(said))
        passed = await agent.ask({"model": agent.grant.model, "messages": []})
        assert json.loads(passed.body) == said

    async def test_in_errors_and_streams_are_the_servers(self, through: Through) -> None:
        agent = await through(sse_answer({**delta(content="Hi"), "model": "upstream"}))
        assert b'"upstream"' in (await agent.ask({"model": "local:m", "messages": []})).body


class TestHeaders:
    async def test_of_the_answer_are_passed_on_but_for_those_of_the_connection(
        self, through: Through
    ) -> None:
        agent = await through(
            json_answer(
                {},
                "X-Request-Id: abc",
                "X-RateLimit-Remaining: 7",
                "Set-Cookie: a=b",
                "Keep-Alive: timeout=5",
            )
        )
        names = dict((await agent.ask()).headers)
        assert names == {
            b"content-type": b"application/json",
            b"content-length": b"2",
            b"x-request-id": b"abc",
            b"x-ratelimit-remaining": b"7",
        }

    async def test_let_one_connection_serve_several_requests(self, through: Through, relay: Relay) -> None:
        agent = await through(STREAMED_HELLO)
        for _ in range(3):
            await agent.ask()
        assert len(relay.connections) == 1


class TestErrors:
    async def test_of_the_target_are_passed_on_for_the_agent_to_decide(self, through: Through) -> None:
        agent = await through(error_answer("429 Too Many Requests", "slow down", "Retry-After: 601"))
        passed = await agent.ask()
        assert passed.status == 429
        assert json.loads(passed.body) == {"error": {"message": "slow down"}}
        assert (b"retry-after", b"601") in passed.headers
        assert agent.record.http_status == 429
        assert agent.record.attempts == 1

    @pytest.mark.parametrize("limited", ["429 Too Many Requests", "503 Busy"])
    @pytest.mark.parametrize("reply", [STREAMED_HELLO, HELLO], ids=["streamed", "whole"])
    async def test_of_a_server_that_names_a_pause_are_waited_for(
        self, through: Through, limited: str, reply: bytes
    ) -> None:
        agent = await through(error_answer(limited, "slow down", "Retry-After: 0.2"), ASKED, reply)
        passed = await agent.ask()
        assert (passed.status, agent.replies[0].text) == (200, "Hello")
        assert agent.record.attempts == 2
        assert agent.record.waited >= 200_000_000 > agent.record.total

    async def test_do_not_tell_the_key(self, through: Through, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SECRETS, "_secrets", [])
        monkeypatch.setattr(SECRETS, "_encoded", [])
        SECRETS.add("sk-real-key")
        agent = await through(error_answer("401 Unauthorized", "wrong key: sk-real-key"), key="sk-real-key")
        passed = await agent.ask()
        assert passed.status == 401
        assert json.loads(passed.body)["error"]["message"] == "wrong key: [secret]"

    async def test_that_have_no_end_are_cut(self, through: Through) -> None:
        endless = answer(b"x" * 2_000_000, status="500 Internal Server Error")
        agent = await through(endless)
        passed = await agent.ask()
        assert passed.status == 502
        assert "larger than" in error_in(passed)["message"]

    async def test_with_an_unheard_of_status_are_passed_on(self, through: Through) -> None:
        agent = await through(error_answer("529 Overloaded"))
        assert (await agent.ask()).status == 529

    async def test_in_a_stream_are_passed_on_and_recorded(self, through: Through) -> None:
        stream = sse_answer(delta(content="Hel"), {"error": {"message": "out of memory"}})
        agent = await through(stream)
        assert b"out of memory" in (await agent.ask()).body
        assert "out of memory" in agent.error

    async def test_of_connecting_are_told_in_openais_shape(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        passed = await agent.ask()
        assert passed.status == 502
        assert "Cannot connect to http://127.0.0.1:9/v1" in error_in(passed)["message"]
        (relayed,) = agent.relayed
        assert relayed.error is not None
        assert relayed.error.systemic

    async def test_before_the_answer_are_told_in_openais_shape(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        server = await serve([ASKED, RESET])
        agent = let_in(open_client(server.url))
        passed = await agent.ask()
        assert passed.status == 502
        assert "before it answered" in error_in(passed)["message"]

    async def test_in_the_middle_cut_the_answer_off(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn
    ) -> None:
        server = await serve([ASKED, STREAMED_HELLO[:-30], CLOSE])
        agent = let_in(open_client(server.url))
        with pytest.raises(TransportError, match="in the middle"):
            await agent.ask()
        assert "in the middle" in agent.error
        assert agent.record.chunks == 2

    async def test_that_lead_elsewhere_are_not_followed(self, through: Through) -> None:
        agent = await through(answer(b"", "Location: http://elsewhere/v1", status="307 Temporary Redirect"))
        passed = await agent.ask()
        assert passed.status == 502
        assert "redirects to http://elsewhere/v1" in error_in(passed)["message"]
        assert b"location" not in dict(passed.headers)
