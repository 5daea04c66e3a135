"""The settings of the user are what the server gets, in every dialect, and what was sent is recorded."""

from __future__ import annotations

from typing import Any

import pytest
from tests.endpoint.http_kit import HELLO, OpenClient, error_answer, json_answer
from tests.endpoint.relay.relay_kit import LetIn
from tests.endpoint.scripted_server import ASKED, Serve

Json = dict[str, Any]

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
GEMINI = "/v1beta/models/m:generateContent"
OWN: dict[str, Json] = {
    CHAT: {
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 1,
        "top_p": 0.95,
        "max_tokens": 32_000,
    },
    MESSAGES: {
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 1,
        "top_p": 0.95,
        "max_tokens": 32_000,
        "output_config": {"effort": "high", "format": {"type": "text"}},
    },
    RESPONSES: {
        "input": "Hi",
        "temperature": 1,
        "top_p": 0.95,
        "max_output_tokens": 32_000,
        "reasoning": {"effort": "high", "summary": "auto"},
    },
    GEMINI: {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "generationConfig": {
            "temperature": 1,
            "topP": 0.95,
            "maxOutputTokens": 32_000,
            "thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True},
        },
    },
}
"""Requests of agents that have settings of their own, as Gemini CLI and opencode do."""

GIVEN: Json = {"temperature": 0.0, "top_p": 0.5, "max_tokens": 777, "seed": 7, "reasoning_effort": "low"}
NATIVE: dict[str, Json] = {
    MESSAGES: {
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 777,
        "output_config": {"effort": "low", "format": {"type": "text"}},
    },
    RESPONSES: {
        "temperature": 0.0,
        "top_p": 0.5,
        "max_output_tokens": 777,
        "reasoning": {"effort": "low", "summary": "auto"},
    },
    GEMINI: {
        "generationConfig": {
            "temperature": 0.0,
            "topP": 0.5,
            "maxOutputTokens": 777,
            "seed": 7,
            "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
        }
    },
}
"""What a server gets that speaks the dialect itself."""

NOT_THERE = error_answer("404 Not Found")
SPOKEN = error_answer("400 Bad Request")


@pytest.mark.parametrize("path", OWN)
class TestTranslated:
    async def test_the_users_win(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        probe = [] if path == CHAT else [ASKED, NOT_THERE]
        server = await serve([*probe, ASKED, HELLO])
        agent = let_in(open_client(server.url, GIVEN))
        assert (await agent.ask({"model": "x", **OWN[path]}, path=path)).status == 200
        assert server.requests[-1].json.items() >= GIVEN.items()
        assert agent.record.settings == {name: one for name, one in GIVEN.items() if name != "seed"}
        assert agent.record.seed == 7

    async def test_the_agents_own_are_recorded_if_none_were_given(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        probe = [] if path == CHAT else [ASKED, NOT_THERE]
        server = await serve([*probe, ASKED, HELLO])
        agent = let_in(open_client(server.url))
        await agent.ask({"model": "x", **OWN[path]}, path=path)
        assert agent.record.settings == {"temperature": 1, "top_p": 0.95, "max_tokens": 32_000}
        assert agent.record.seed is None

    async def test_a_smaller_maximum_of_the_agent_stays(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        probe = [] if path == CHAT else [ASKED, NOT_THERE]
        server = await serve([*probe, ASKED, HELLO])
        agent = let_in(open_client(server.url, {"max_tokens": 64_000}))
        await agent.ask({"model": "x", **OWN[path]}, path=path)
        assert server.requests[-1].json["max_tokens"] == 32_000


@pytest.mark.parametrize("path", NATIVE)
class TestPassedOn:
    async def test_the_users_win(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, SPOKEN, ASKED, json_answer({})])
        agent = let_in(open_client(server.url, GIVEN))
        await agent.ask({"model": "x", **OWN[path]}, path=path)
        assert server.requests[-1].json.items() >= NATIVE[path].items()

    async def test_what_the_dialect_has_no_place_for_is_not_recorded_as_sent(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, SPOKEN, ASKED, json_answer({})])
        agent = let_in(open_client(server.url, GIVEN))
        await agent.ask({"model": "x", **OWN[path]}, path=path)
        (relayed,) = agent.relayed
        assert relayed.record.seed == (7 if path == GEMINI else None)
        assert relayed.record.settings == {name: one for name, one in GIVEN.items() if name != "seed"}


@pytest.mark.parametrize(
    ("limit", "thinking"),
    [
        (20_000, {"type": "enabled", "budget_tokens": 16_000}),
        (4_000, {"type": "enabled", "budget_tokens": 3_999}),
        (777, {"type": "disabled"}),
    ],
)
async def test_a_budget_of_thinking_fits_into_the_users_limit(
    serve: Serve, open_client: OpenClient, let_in: LetIn, limit: int, thinking: Json
) -> None:
    server = await serve([ASKED, SPOKEN, ASKED, json_answer({})])
    agent = let_in(open_client(server.url, {"max_tokens": limit}))
    asked = {**OWN[MESSAGES], "thinking": {"type": "enabled", "budget_tokens": 16_000}}
    await agent.ask({"model": "x", **asked}, path=MESSAGES)
    assert server.requests[-1].json["thinking"] == thinking
