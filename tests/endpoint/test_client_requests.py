"""What the client sends."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import msgspec
import pytest
from tests.endpoint.http_kit import HELLO, OpenClient, ask, error_answer, refusal_of
from tests.endpoint.scripted_server import AGAIN, ASKED, Request, Serve

from benchwright import __version__
from benchwright.records import RequestRecord

KEY = "sk-abcdefghijkl"


@pytest.fixture
def sent(serve: Serve, open_client: OpenClient) -> Any:
    """Asks once, with settings and options of the client and fields of the body; what the server received."""

    async def send(
        settings: dict[str, Any] | None = None, *, body: dict[str, Any] | None = None, **options: Any
    ) -> Request:
        server = await serve([ASKED, HELLO])
        await ask(open_client(server.url, settings, **options), **(body or {}))
        (request,) = server.requests
        return request

    return send


class TestTheHead:
    @pytest.mark.parametrize("path", ["/chat/completions", "/completions"])
    async def test_goes_to_the_path_below_the_base_url(
        self, serve: Serve, open_client: OpenClient, path: str
    ) -> None:
        server = await serve([ASKED, HELLO])
        await open_client(server.url).ask(path, {"prompt": "Hi"})
        assert server.requests[0].line == f"POST /v1{path} HTTP/1.1"

    async def test_says_who_asks_and_what_is_understood(self, sent: Any) -> None:
        headers = (await sent()).headers
        assert re.fullmatch(r"127\.0\.0\.1:\d+", headers["host"])
        assert headers["user-agent"] == f"benchwright/{__version__}"
        assert headers["accept"] == "application/json, text/event-stream"
        assert headers["accept-encoding"] == "identity"
        assert headers["content-type"] == "application/json"

    async def test_carries_the_key(self, sent: Any) -> None:
        assert (await sent(key=KEY)).headers["authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("key", [None, "", "EMPTY"])
    async def test_carries_none_for_a_server_that_wants_none(self, sent: Any, key: str | None) -> None:
        assert "authorization" not in (await sent(key=key)).headers

    async def test_names_the_request_by_the_id_in_its_record(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await serve([ASKED, HELLO, AGAIN])
        client = open_client(server.url)
        records = [(await ask(client)).record for _ in range(20)]
        ids = [request.headers["x-request-id"] for request in server.requests]
        assert ids == [record.id for record in records]
        assert len(set(ids)) == 20
        assert all(str(UUID(each)) == each and UUID(each).version == 4 for each in ids)

    async def test_keeps_the_id_when_it_is_asked_again(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, error_answer("503 Busy"), ASKED, HELLO])
        await ask(open_client(server.url))
        first, second = (request.headers["x-request-id"] for request in server.requests)
        assert first == second


class TestTheBody:
    async def test_holds_the_model_the_settings_and_what_is_asked(self, sent: Any) -> None:
        assert (await sent({"temperature": 0, "seed": 7}, stream=False)).json == {
            "model": "m",
            "temperature": 0,
            "seed": 7,
            "messages": [{"role": "user", "content": "Hi"}],
        }

    async def test_what_is_asked_wins_over_the_settings(self, sent: Any) -> None:
        assert (await sent({"max_tokens": 5}, body={"max_tokens": 9})).json["max_tokens"] == 9

    async def test_a_field_that_is_none_is_left_out(self, sent: Any) -> None:
        body = (await sent({"seed": 7, "stop": None}, body={"seed": None})).json
        assert body.keys().isdisjoint({"seed", "stop"})

    async def test_fields_unknown_to_us_pass_through(self, sent: Any) -> None:
        extra = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 4, "guided_regex": r"\d+"}
        assert extra.items() <= (await sent(body=extra)).json.items()

    @pytest.mark.parametrize("words", [1, 200_000])
    async def test_messages_that_are_json_already_are_sent_as_they_lie(self, sent: Any, words: int) -> None:
        text = " long" * words
        messages = msgspec.Raw(b'[{"role":"user","content":"%b"}]' % text.encode())
        body = (await sent({"seed": 7}, body={"messages": messages}, stream=False)).json
        assert body == {"model": "m", "seed": 7, "messages": [{"role": "user", "content": text}]}

    async def test_a_long_prompt_arrives_whole(self, sent: Any) -> None:
        messages = [{"role": "user", "content": " löng" * 200_000}]
        request = await sent(body={"messages": messages})
        assert request.json["messages"] == messages
        assert int(request.headers["content-length"]) == len(request.body)

    async def test_image_and_audio_parts_pass_through(self, sent: Any) -> None:
        content = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0=", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        ]
        messages = [{"role": "user", "content": content}]
        assert (await sent(body={"messages": messages})).json["messages"] == messages

    async def test_tools_pass_through(self, sent: Any) -> None:
        tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
        assert (await sent(body={"tools": tools, "tool_choice": "auto"})).json["tools"] == tools

    async def test_text_outside_ascii_is_utf_8(self, sent: Any) -> None:
        request = await sent(body={"prompt": "日本 🎉"})
        assert "日本 🎉".encode() in request.body
        assert int(request.headers["content-length"]) == len(request.body)

    async def test_half_characters_are_replaced(self, sent: Any) -> None:
        prompt = ["lone \ud83c, pair \ud83c\udf89", {"\udf89": ("\ud800",)}]
        assert (await sent(body={"prompt": prompt})).json["prompt"] == [
            "lone \ufffd, pair 🎉",
            {"\ufffd": ["\ufffd"]},
        ]


class TestStreaming:
    async def test_is_asked_for_with_usage(self, sent: Any) -> None:
        body = (await sent()).json
        assert body["stream"] is True
        assert body["stream_options"] == {"include_usage": True}

    async def test_is_not_asked_for_where_it_is_not_wanted(self, sent: Any) -> None:
        assert (await sent(stream=False)).json.keys() == {"model", "messages"}

    async def test_options_of_the_user_are_kept(self, sent: Any) -> None:
        options = {"stream_options": {"continuous_usage_stats": True}}
        assert (await sent(options)).json["stream_options"] == {
            "include_usage": True,
            "continuous_usage_stats": True,
        }

    async def test_a_server_that_refuses_what_it_was_not_given_is_not_asked_for_ever(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        refusal = error_answer("400 Bad Request", "stream_options is what we always complain of")
        server = await serve([ASKED, refusal, AGAIN])
        for stream, requests in ((True, 2), (False, 3)):
            await refusal_of(open_client(server.url, stream=stream))
            assert len(server.requests) == requests


class TestTheKey:
    async def test_is_in_its_header_and_nowhere_else(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, error_answer("401 Unauthorized", "who are you"), AGAIN])
        client = open_client(server.url, key=KEY)
        records: list[RequestRecord] = []
        with pytest.raises(Exception, match="refused the key") as caught:
            await client.ask("/chat/completions", {"messages": []}, note=records.append)
        (request,) = server.requests
        assert [name for name, value in request.headers.items() if KEY in value] == ["authorization"]
        assert KEY.encode() not in request.body
        assert KEY not in f"{caught.value!r} {records} {client.target}"
