"""Servers that are slow, refuse, hang or break off: there is a card all the same, and it says what is not known."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.endpoint.card.conftest import examined
from tests.endpoint.card.played_server import Behaviour, played
from tests.endpoint.http_kit import answer, json_answer, sse_answer
from tests.endpoint.scripted_server import AGAIN, ASKED, ScriptedServer

from benchwright.endpoint.card import CARD_LINES, Examination, Prober, State, make_card, run_probes
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target

CHAT = "/v1/chat/completions"


async def examined_at(base_url: str, seconds: float = 1.0) -> Any:
    async with EndpointClient(Target("primary", "m", base_url)) as client:
        known = Examination(Prober(client, seconds=seconds))
        await run_probes(known)
    return make_card(known)


class TestOneProbe:
    @pytest.mark.parametrize("fault", ["hangs", "closes"])
    @pytest.mark.parametrize(("field", "key"), [("tools", "tools"), ("n", "n"), ("echo", "prompt_logprobs")])
    async def test_that_gets_no_answer_leaves_its_line_unknown_and_no_other(
        self, fault: str, field: str, key: str
    ) -> None:
        behaviour: dict[str, Any] = {fault: {field}}
        found = await examined(seconds=0.5, **behaviour)
        finding = found.card.findings[key]
        assert finding.state is State.UNKNOWN
        assert finding.said == "no answer within 0.5 s" if fault == "hangs" else "clos" in finding.said
        for other in ("usage", "streaming", "stop", "parallel"):
            assert found.outcome(other) != UNKNOWN_OUTCOME

    async def test_that_is_late_is_counted(self) -> None:
        assert (await examined(seconds=0.5, hangs={"n"})).card.late == 1

    async def test_that_is_met_by_a_rate_limit_is_asked_again(self) -> None:
        found = await examined(busy=3, headers={"retry-after": "0.01"})
        assert found.outcome("models") == "listed"

    async def test_that_is_met_by_one_that_lasts_is_not_known(self) -> None:
        found = await examined(busy=1, headers={"retry-after": "60"})
        assert found.card.findings["models"].said == "the server asks for a pause of 60 s"


class TestWholeServers:
    async def test_one_that_hangs_always_is_not_asked_for_long(self) -> None:
        found = await examined(
            seconds=0.3, hangs={"/v1/models", CHAT, "/v1/completions", "/version", "/metrics"}
        )
        assert found.card.requests <= 3
        assert {finding.state for finding in found.card.findings.values()} == {State.UNKNOWN}
        assert found.card.findings["metrics"].said == "3 requests in a row had no answer"
        assert found.card.findings["tools"].said == "no answer within 1.2 s", "the reason is that of chat"

    async def test_one_that_loads_its_model_at_the_first_request_is_waited_for(self) -> None:
        found = await examined(seconds=0.4, loads_for=0.8)
        assert found.outcome("chat") == "answers"
        assert found.outcome("images") == "seen"

    async def test_chat_that_is_late_is_not_taken_for_chat_that_is_not_there(self) -> None:
        found = await examined(seconds=0.3, hangs={CHAT})
        assert found.outcome("completions") == "answers"
        assert found.card.findings["images"].said == "no answer within 1.2 s"

    async def test_one_that_is_always_busy_is_not_asked_for_long(self) -> None:
        found = await examined(busy=1000, headers={"retry-after": "0.01"})
        assert found.card.requests == 3 * 4
        assert found.card.findings["chat"].said == "the server is busy (HTTP 429: too many requests)"

    async def test_one_that_generates_nothing_says_so_on_every_line_that_needs_it(self) -> None:
        found = await examined(missing={CHAT, "/v1/completions"})
        assert found.card.findings["seed"].said == "neither chat completions nor completions answer"
        assert found.outcome("metrics") == "known"

    async def test_one_that_is_not_there_has_a_card_of_unknown_lines(self) -> None:
        card = await examined_at("http://127.0.0.1:9/v1")
        assert {finding.outcome for finding in card.findings.values()} == {UNKNOWN_OUTCOME}
        assert card.requests == 1
        assert card.findings["chat"].said == "nobody is there"

    async def test_one_that_wants_another_key_is_not_taken_for_one_that_can_nothing(self) -> None:
        async with played(Behaviour(key="right")) as server:
            card = await examined_at(server.base_url)
        assert card.findings["chat"].state is State.UNKNOWN
        assert card.findings["tools"].state is State.UNKNOWN
        assert "the key is refused (HTTP 401: no valid key)" in card.findings["images"].said

    async def test_a_slow_one_is_given_short_prompts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("benchwright.endpoint.card.load_behaviour.SLOW_SECONDS", 0.0)
        found = await examined()
        assert max(len(str(asked.body)) for asked in found.server.asked) < 3_000
        assert (
            found.card.findings["long_prompts"].said
            == "a prompt of some 5,000 tokens would take too long to read"
        )

    async def test_no_more_than_forty_requests_are_sent_whatever_a_server_does(self) -> None:
        found = await examined(
            owner="somebody", version=None, thinking="reasoning_content", tools="no_call", echo="none",
            tokenize="content", refusals={"min_p": (400, "min_p"), "stream_options": (400, "stream_options")},
        )  # fmt: skip
        assert found.card.requests == len(found.server.asked) == 40
        assert any(
            "the 40 requests of the check were used up" in finding.said
            for finding in found.card.findings.values()
        )


SHAPES: list[Any] = [
    None, 7, "text", [], {}, {"choices": None}, {"choices": "x"}, {"choices": [None]}, {"choices": [7]},
    {"choices": [{"message": 7}]}, {"choices": [{"message": {"content": 7}}]},
    {"choices": [{"message": {"tool_calls": 7}}]}, {"choices": [{"message": {"content": [7]}}], "usage": []},
    {"choices": [{"text": {}}], "usage": {"prompt_tokens": "x"}},
    {"choices": [{"message": {"content": "x"}, "logprobs": {"content": [7]}}], "usage": {"completion_tokens": -1}},
    {"data": 7}, {"data": [7, {"id": 8}]}, {"error": "no"}, {"error": {"message": ["\x1b[31m"]}},
    {"choices": [{"message": {"tool_calls": [{"function": 7, "id": {}}]}}], "usage": {"prompt_tokens": 1e99}},
]  # fmt: skip


class TestAnswersOfAnyShape:
    @pytest.mark.parametrize("content", SHAPES, ids=str)
    async def test_a_card_comes_of_it(self, content: Any) -> None:
        async with ScriptedServer([ASKED, json_answer(content), AGAIN]) as server:
            card = await examined_at(f"{server.url}/v1")
        assert list(card.findings) == list(CARD_LINES)

    @pytest.mark.parametrize("content", SHAPES, ids=str)
    async def test_a_card_comes_of_it_in_a_stream(self, content: Any) -> None:
        async with ScriptedServer([ASKED, sse_answer(content), AGAIN]) as server:
            card = await examined_at(f"{server.url}/v1")
        assert list(card.findings) == list(CARD_LINES)

    @pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"\xff\xfe", b"[" * 100_000])
    async def test_a_card_comes_of_what_is_no_json(self, body: bytes) -> None:
        async with ScriptedServer([ASKED, answer(body), AGAIN]) as server:
            card = await examined_at(f"{server.url}/v1")
        assert list(card.findings) == list(CARD_LINES)

    async def test_an_endless_answer_is_broken_off(self) -> None:
        async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            try:
                while True:
                    writer.write(b" " * 65_536)
                    await writer.drain()
            except ConnectionError:
                writer.transport.abort()

        listener = await asyncio.start_server(endless, "127.0.0.1", 0)
        async with listener:
            card = await examined_at(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1")
        assert card.findings["chat"].said == "the answer is larger than 8,388,608 bytes"
