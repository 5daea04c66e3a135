"""What goes through the relay to the target: the agent's fields, the target's model, the real key."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.endpoint.http_kit import HELLO, OpenClient
from tests.endpoint.relay.relay_kit import CHAT, HI, LetIn, error_in
from tests.endpoint.scripted_server import AGAIN, ASKED, Request, Serve

Pass = Callable[..., Awaitable[Request]]
"""Sends a request through the relay and returns it as the target got it; the fixture `passed`."""


@pytest.fixture
def passed(serve: Serve, open_client: OpenClient, let_in: LetIn) -> Pass:
    """Sends a request through the relay and returns it as the target got it."""

    async def send(
        body: Any = HI, settings: dict[str, Any] | None = None, key: str | None = None, **options: Any
    ) -> Request:
        server = await serve([ASKED, HELLO, AGAIN])
        agent = let_in(open_client(server.url, settings, key=key))
        assert (await agent.ask(body, **options)).status == 200
        (request,) = server.requests
        return request

    return send


class TestBody:
    async def test_names_the_targets_model(self, passed: Pass) -> None:
        request = await passed({"model": "gpt-5", "messages": []})
        assert request.json == {"model": "m", "messages": []}

    async def test_gets_the_settings_of_the_user_in_place_of_the_agents(self, passed: Pass) -> None:
        request = await passed({**HI, "temperature": 0.7, "top_p": 0.9}, {"temperature": 0.0, "seed": 7})
        assert request.json == {**HI, "model": "m", "temperature": 0.0, "top_p": 0.9, "seed": 7}

    @pytest.mark.parametrize("own", ["max_tokens", "max_completion_tokens"])
    async def test_has_at_most_the_tokens_of_the_user(self, passed: Pass, own: str) -> None:
        request = await passed({**HI, own: 32_000}, {"max_tokens": 777})
        assert request.json == {**HI, "model": "m", own: 777}

    @pytest.mark.parametrize("sent", ["max_tokens", "max_completion_tokens"])
    @pytest.mark.parametrize("setting", ["max_tokens", "max_completion_tokens"])
    async def test_has_one_largest_number_of_tokens(self, passed: Pass, sent: str, setting: str) -> None:
        request = await passed({**HI, sent: 5}, {setting: 9})
        assert request.json == {**HI, "model": "m", sent: 5}

    async def test_keeps_a_null_that_the_agent_sent(self, passed: Pass) -> None:
        request = await passed({**HI, "stop": None}, {"max_tokens": 9})
        assert request.json["stop"] is None

    @pytest.mark.parametrize(
        "value", ["1.0e0", "123456789012345678901234567890", '{"x":  [1,\n 2]}', '"\\u00e9\\/"', "1e400"]
    )
    async def test_keeps_every_value_as_it_is_written(self, passed: Pass, value: str) -> None:
        request = await passed(f'{{"model": "x", "field": {value}}}'.encode())
        assert f'"field":{value}'.encode() in request.body

    @pytest.mark.parametrize("body", [b"", b"hello", b"[1]", b'{"model": "x"', b"[" * 5000, b'{"a": NaN}'])
    async def test_must_be_a_json_object(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, body: bytes
    ) -> None:
        server = await serve([ASKED, HELLO])
        agent = let_in(open_client(server.url))
        answer = await agent.ask(body)
        assert answer.status == 400
        assert "not a JSON object" in error_in(answer)["message"]
        assert server.requests == []


class TestKey:
    async def test_is_the_real_one_and_the_token_stays_here(self, passed: Pass) -> None:
        request = await passed(key="sk-real-key")
        assert request.headers["authorization"] == "Bearer sk-real-key"
        assert "benchwright-" not in str(request.headers)

    async def test_is_not_sent_to_a_server_without_one(self, passed: Pass) -> None:
        assert "authorization" not in (await passed()).headers


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [f"/v1{CHAT}", CHAT, f"/v1/v1{CHAT}", f"//v1/{CHAT}", f"/v1{CHAT}/", f"/v1{CHAT}?api-version=1"],
    )
    async def test_may_be_put_together_in_any_way(self, passed: Pass, path: str) -> None:
        assert (await passed(path=path)).line == "POST /v1/chat/completions HTTP/1.1"

    async def test_of_completions_are_served(self, passed: Pass) -> None:
        assert (
            await passed({"prompt": "2 + 2 ="}, path="/v1/completions")
        ).line == "POST /v1/completions HTTP/1.1"

    async def test_of_models_name_the_target_and_nothing_else(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = await agent.ask(b"", path="/v1/models", method="GET")
        (model,) = json.loads(answer.body)["data"]
        assert model["id"] == "m"
        assert agent.relayed == []

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("POST", "/v1/embeddings", 404),
            ("GET", f"/v1{CHAT}", 405),
            ("POST", "/v1/models", 405),
            ("GET", "/", 404),
        ],
    )
    async def test_that_are_not_there_are_refused(
        self, open_client: OpenClient, let_in: LetIn, method: str, path: str, status: int
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = await agent.ask(method=method, path=path)
        assert answer.status == status
        assert path in error_in(answer)["message"] or CHAT in error_in(answer)["message"] or status == 405
        assert agent.relayed == []
