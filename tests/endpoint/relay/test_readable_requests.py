"""What agents send that strict servers refuse is repaired, or refused in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.endpoint.dialects.clients import events_in
from tests.endpoint.http_kit import HELLO, OpenClient, error_answer
from tests.endpoint.relay.relay_kit import LetIn
from tests.endpoint.relay.test_relay_dialects import BODIES, NOT_THERE, STREAMED, ask, dialects
from tests.endpoint.scripted_server import AGAIN, ASKED, Serve

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "%b"}]}'


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"cut \ud83d", "cut \ufffd"),
        (rb"\ude00 rest", "\ufffd rest"),
        (rb"whole \ud83d\ude00", "whole \U0001f600"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"a path \\ud83d", "a path \\ud83d"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "\U0001f600"),
        (b"cut \xed\xa0\xbd", "cut \ufffd"),
        ("\U0001f600 é".encode(), "\U0001f600 é"),
    ],
)
async def test_halves_of_characters_are_joined_or_replaced(
    serve: Serve, open_client: OpenClient, let_in: LetIn, written: bytes, read: str
) -> None:
    server = await serve([ASKED, HELLO])
    answer = await let_in(open_client(server.url)).ask(BODY % written)
    assert answer.status == 200
    (request,) = server.requests
    assert json.loads(request.body.decode("utf-8"))["messages"][0]["content"] == read


@dialects
async def test_half_a_character_ends_no_conversation_that_is_translated(
    serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
) -> None:
    server = await serve([ASKED, NOT_THERE, ASKED, HELLO])
    body = json.dumps(BODIES[path]).replace("Say this again.", r"cut \ud83d").encode()
    answer = await let_in(open_client(server.url)).ask(body, path=path)
    assert answer.status == 200
    assert server.requests[-1].json["messages"][0]["content"] == "cut \ufffd"


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br"])
async def test_a_compressed_body_is_an_unsupported_media_type(
    serve: Serve, open_client: OpenClient, let_in: LetIn, coding: str
) -> None:
    server = await serve([ASKED, HELLO])
    agent = let_in(open_client(server.url))
    answer = await agent.ask(b"\x28\xb5\x2f\xfd", f"Content-Encoding: {coding}")
    assert answer.status == 415
    assert coding in json.loads(answer.body)["error"]["message"]
    assert (b"accept-encoding", b"identity") in answer.headers


async def test_a_body_that_says_that_it_is_not_compressed_is_read(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    server = await serve([ASKED, HELLO, AGAIN])
    agent = let_in(open_client(server.url))
    assert (await agent.ask(BODY % b"Hi", "Content-Encoding: identity")).status == 200


@pytest.mark.parametrize("name", ["m", "org/model", "org%2Fmodel"])
async def test_one_model_is_described_under_the_name_that_is_asked(
    open_client: OpenClient, let_in: LetIn, name: str
) -> None:
    agent = let_in(open_client("http://127.0.0.1:9"))
    answer = await agent.ask(b"", path=f"/v1/models/{name}", method="GET")
    assert answer.status == 200
    assert json.loads(answer.body)["id"] == name.replace("%2F", "/")
    assert json.loads(answer.body)["object"] == "model"


NOT_ASKED_AGAIN = {
    "messages": lambda event: event["error"]["type"] == "invalid_request_error",
    "responses": lambda event: event["response"]["error"]["code"] == "invalid_prompt",
    "gemini": lambda event: event["error"]["status"] == "INVALID_ARGUMENT",
}
"""Signs by which clients of each dialect know that an error stays."""


@dialects
async def test_an_error_400_after_a_ping_is_one_that_clients_do_not_ask_about_again(
    serve: Serve, open_client: OpenClient, let_in: LetIn, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.endpoint.relay.translated_answer.KEEP_ALIVE_SECONDS", 0.05)
    server = await serve([ASKED, NOT_THERE, ASKED, 0.12, error_answer("400 Bad Request", "too long")])
    answer = await ask(let_in(open_client(server.url)), path, stream=True)
    name = "gemini" if path in STREAMED else path.partition("?")[0].removeprefix("/v1/")
    last = events_in(answer.body)[-1]
    assert NOT_ASKED_AGAIN[name](last)
    assert "too long" in json.dumps(last)


@dialects
async def test_tools_that_were_left_out_are_told_with_the_request(
    serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
) -> None:
    server = await serve([ASKED, NOT_THERE, ASKED, HELLO])
    agent = let_in(open_client(server.url))
    of_the_provider: dict[str, Any] = (
        {"googleSearch": {}} if path in STREAMED else {"type": "web_search", "name": "search"}
    )
    body = {**BODIES[path], "tools": [*BODIES[path]["tools"], of_the_provider]}
    await agent.ask(body, path=path)
    assert [flag for flag in agent.record.flags if flag.startswith("tools_left_out: ")]
