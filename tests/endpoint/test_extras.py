"""What a client sends besides what was asked of it, and how it learns what a strict server does not take."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.endpoint.http_kit import (
    STREAMED_HELLO,
    OpenClient,
    answer,
    ask,
    error_answer,
    json_answer,
)
from tests.endpoint.scripted_server import AGAIN, ASKED, Request, Serve
from tests.endpoint.strict_server import NO_WORD, OWN, refuses, silently, strict

from benchwright.endpoint.access import Access, Header
from benchwright.endpoint.failures import RetryPolicy
from benchwright.errors import ProviderError
from benchwright.records import RequestRecord


class TestARefusalThatNamesAField:
    @pytest.mark.parametrize(
        ("name", "said", "status"),
        [
            ("stream_options", "Unrecognized request argument supplied: stream_options", "400 Bad Request"),
            (
                "stream_options",
                "[{'loc': ('body', 'stream_options'), 'msg': 'Extra inputs'}]",
                "422 Unprocessable",
            ),
            (
                "seed",
                'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
                "400 Bad Request",
            ),
            (
                "seed",
                "ollama does not support parameters: {'seed': 1}, for model=m",
                "500 Internal Server Error",
            ),
        ],
    )
    async def test_has_it_left_out_from_then_on_and_counts_as_no_attempt(
        self, serve: Serve, open_client: OpenClient, name: str, said: str, status: str
    ) -> None:
        server = await strict(serve, refuses(name, said, status))
        client = open_client(server.url, {"seed": 1}, added=OWN)
        replies = [await ask(client), await ask(client)]
        assert [name in request.json for request in server.requests] == [True, False, False]
        assert [reply.text for reply in replies] == ["Hello"] * 2
        assert [reply.record.attempts for reply in replies] == [1, 1]
        assert [reply.record.flags for reply in replies] == [
            [f"without:{name}", "narrowed"],
            [f"without:{name}"],
        ]

    async def test_is_found_in_what_a_gateway_passes_on(self, serve: Serve, open_client: OpenClient) -> None:
        inner = json.dumps({"error": {"message": "must be verified to stream", "param": "stream"}})
        wrapped = {"error": {"message": "Provider returned error", "metadata": {"raw": inner}}}
        server = await strict(
            serve,
            lambda request: (
                json_answer(wrapped, status="400 Bad Request") if "stream" in request.json else None
            ),
        )
        record = (await ask(open_client(server.url))).record
        assert record.flags == ["not_streamed", "without:stream", "narrowed"]
        assert record.ttft is None

    async def test_may_meet_many_at_once(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, refuses("stream_options", "stream_options: extra fields not permitted"))
        client = open_client(server.url, connections=5)
        replies = await asyncio.gather(*(ask(client) for _ in range(5)))
        assert [reply.text for reply in replies] == ["Hello"] * 5
        assert len(server.requests) == 10

    async def test_of_a_seed_is_kept_in_the_record_as_none(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await strict(serve, refuses("seed", "seed: unexpected"))
        record = (await ask(open_client(server.url, {"seed": 1}, added=OWN))).record
        assert record.seed is None

    async def test_of_the_users_own_field_is_an_error(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, refuses("seed", "seed is not supported"))
        with pytest.raises(ProviderError, match="seed is not supported"):
            await ask(open_client(server.url, {"seed": 1}))
        assert len(server.requests) == 1

    async def test_of_stream_options_that_the_user_gave_is_an_error(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await strict(serve, refuses("stream_options", "no stream_options here"))
        with pytest.raises(ProviderError, match="no stream_options here"):
            await ask(open_client(server.url, {"stream_options": {"continuous_usage_stats": True}}))

    async def test_that_repeats_the_request_teaches_nothing(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        def too_long(request: Request) -> bytes | None:
            if "long" not in request.json["messages"][0]["content"]:
                return None
            return json_answer({"detail": "too long", "input": request.json}, status="400 Bad Request")

        server = await strict(serve, too_long)
        client = open_client(server.url, {"seed": 1}, added=OWN)
        with pytest.raises(ProviderError, match="too long"):
            await client.ask("/chat/completions", {"messages": [{"role": "user", "content": "long"}]})
        assert (await ask(client)).record.flags == []
        assert {"seed", "stream_options"} <= server.requests[-1].json.keys()

    async def test_for_another_name_has_the_field_renamed_the_users_own_too(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        said = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        server = await strict(serve, refuses("max_tokens", said))
        client = open_client(server.url, {"max_tokens": 7})
        for _ in range(2):
            await ask(client)
        assert [request.json.get("max_completion_tokens") for request in server.requests] == [None, 7, 7]

    async def test_for_a_shorter_answer_renames_nothing(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, refuses("max_tokens", "max_tokens is too large: 7"))
        with pytest.raises(ProviderError, match="too large"):
            await ask(open_client(server.url, {"max_tokens": 7}))
        assert len(server.requests) == 1


class TestARefusalWithoutAReason:
    async def test_has_the_request_id_left_out_first(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, silently("X-Request-Id"))
        client = open_client(server.url, {"seed": 1}, added=OWN)
        replies = [await ask(client), await ask(client)]
        assert ["x-request-id" in request.headers for request in server.requests] == [True, False, False]
        assert all({"seed", "stream_options"} <= request.json.keys() for request in server.requests)
        assert [reply.record.attempts for reply in replies] == [1, 1]

    async def test_has_all_fields_of_ours_left_out_next(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, silently("seed"))
        client = open_client(server.url, {"seed": 1, "temperature": 0}, added=OWN)
        await ask(client)
        assert sorted(server.requests[-1].json) == ["messages", "model", "temperature"]
        assert len(server.requests) == 3

    async def test_that_stays_names_all_that_was_sent(self, serve: Serve, open_client: OpenClient) -> None:
        server = await strict(serve, lambda request: NO_WORD)
        access = Access(headers=(Header("X-Team", "blue"),))
        with pytest.raises(ProviderError) as caught:
            await ask(open_client(server.url, {"temperature": 0, "seed": 1}, added=OWN, access=access))
        assert str(caught.value).endswith(
            "answered HTTP 400 without a reason; sent beyond the minimum: X-Request-Id, X-Team, temperature, seed, "
            "stream, stream_options (and refused without X-Request-Id, seed, stream, stream_options, too)"
        )
        assert len(server.requests) == 3

    async def test_that_stays_is_not_told_as_one_of_what_was_left_out(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server = await strict(serve, lambda request: NO_WORD)
        records: list[RequestRecord] = []
        with pytest.raises(ProviderError):
            await open_client(server.url).ask("/chat/completions", {"messages": []}, note=records.append)
        assert [record.flags for record in records] == [["narrowed"]]

    async def test_after_an_answer_has_another_cause(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, STREAMED_HELLO, ASKED, NO_WORD])
        client = open_client(server.url)
        await ask(client)
        with pytest.raises(ProviderError, match="sent beyond the minimum: X-Request-Id"):
            await ask(client)
        assert len(server.requests) == 2

    async def test_with_another_status_has_another_cause(self, serve: Serve, open_client: OpenClient) -> None:
        server = await serve([ASKED, answer(status="404 Not Found"), AGAIN])
        with pytest.raises(ProviderError, match="does not serve the model"):
            await ask(open_client(server.url))
        assert len(server.requests) == 1


async def test_the_time_that_learning_takes_is_not_waiting(serve: Serve, open_client: OpenClient) -> None:
    refusal = error_answer("400 Bad Request", "stream_options")
    server = await serve([ASKED, 0.05, refusal, ASKED, STREAMED_HELLO])
    record = (await ask(open_client(server.url, retry=RetryPolicy(retries=0)))).record
    assert record.waited < 25_000_000
