"""Requests that real command-line agents have made, asked again: each gets an answer with which it would go on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.endpoint.dialects.clients import events_in, read_gemini, read_messages, read_responses
from tests.endpoint.http_kit import Collected, OpenClient
from tests.endpoint.relay.relay_kit import Agent, LetIn
from tests.recorded_agents import RECORDED, recorded

from benchwright.endpoint.accumulator import ResponseAccumulator
from benchwright.endpoint.simulate import ScriptedCall, Settings, SimulatedEndpoint

AGENTS = (
    "aider", "claude-code", "claude-code-bare", "claude-code-token", "codex", "gemini-cli", "mini-swe-agent",
    "mini-swe-agent-step", "opencode", "opencode-anthropic", "opencode-openai", "openhands-sdk", "qwen-code",
    "qwen-code-anthropic",
)  # fmt: skip
KEYS = ("authorization", "x-api-key", "x-goog-api-key")


def call_in(response: dict[str, Any]) -> ScriptedCall | None:
    """The call that the recorded answer made."""
    if "events" not in response:
        message = response["body"]["choices"][0]["message"] if response["body"] else {}
        return _call_of(message.get("tool_calls") or [])
    events = response["events"]
    if "candidates" in events[0]:
        return next(iter(_gemini_calls(events)), None)
    if events[0].get("type") == "message_start":
        starts = (event["content_block"] for event in events if event["type"] == "content_block_start")
        name = next((block["name"] for block in starts if block["type"] == "tool_use"), None)
        pieces = (
            event["delta"].get("partial_json", "")
            for event in events
            if event["type"] == "content_block_delta"
        )
        return None if name is None else ScriptedCall(name, json.loads("".join(pieces)))
    if events[0].get("type") == "response.created":
        output = events[-1]["response"]["output"]
        return next(
            (
                ScriptedCall(item["name"], json.loads(item["arguments"]))
                for item in output
                if item["type"] == "function_call"
            ),
            None,
        )
    assembly = ResponseAccumulator()
    for event in events:
        assembly.take_decoded_chunk(event, 0)
    return _call_of(assembly.make_reply(None).tool_calls)


def _gemini_calls(events: list[dict[str, Any]]) -> list[ScriptedCall]:
    parts = read_gemini(events)["candidates"][0]["content"]["parts"]
    called = (part["functionCall"] for part in parts if "functionCall" in part)
    return [ScriptedCall(call["name"], call["args"]) for call in called]


def _call_of(calls: list[dict[str, Any]]) -> ScriptedCall | None:
    if not calls:
        return None
    return ScriptedCall(calls[0]["function"]["name"], json.loads(calls[0]["function"]["arguments"]))


def calls_in(path: str, answer: Collected) -> list[ScriptedCall]:
    """The calls that a client of the dialect finds in the answer."""
    if "/messages" in path:
        blocks = read_messages(events_in(answer.body))["content"]
        return [
            ScriptedCall(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"
        ]
    if "/responses" in path:
        items = read_responses(events_in(answer.body))["output"]
        return [
            ScriptedCall(item["name"], json.loads(item["arguments"]))
            for item in items
            if item["type"] == "function_call"
        ]
    if "/v1beta/" in path:
        return _gemini_calls(events_in(answer.body))
    assembly = ResponseAccumulator()
    if answer.body.startswith(b"data: "):
        *events, done, rest = answer.body.split(b"\n\n")
        assert (done, rest) == (b"data: [DONE]", b"")
        for event in events:
            assembly.take_chunk(event.removeprefix(b"data: "), 0)
    else:
        assembly.take_whole_body(answer.body)
    call = _call_of(assembly.make_reply(None).tool_calls)
    return [] if call is None else [call]


def missing(path: str, response: dict[str, Any], answer: Collected) -> Iterator[str]:
    """Fields that events of the recorded answer have, and those of the same type in this one lack."""
    if "events" not in response or "/chat/" in path:
        return
    ours = {event.get("type", ""): event for event in events_in(answer.body)}
    for event in response["events"]:
        told = ours.get(event.get("type", ""))
        if told is not None:
            yield from _missing(event.get("type", ""), event, told)


def _missing(name: str, expected: dict[str, Any], told: dict[str, Any]) -> Iterator[str]:
    if expected.get("type") != told.get("type") or expected.get("item", {}).get("type") != told.get(
        "item", {}
    ).get("type"):
        return
    for field, value in expected.items():
        if field not in told:
            yield f"{name}.{field}"
        elif isinstance(value, dict) and isinstance(told[field], dict):
            yield from _missing(f"{name}.{field}", value, told[field])


@asynccontextmanager
async def model_that_makes(call: ScriptedCall | None, chat_only: bool) -> AsyncIterator[SimulatedEndpoint]:
    settings = Settings(chat_only=chat_only, tool_calls=() if call is None else (call,), cache_blocks=10_000)
    async with SimulatedEndpoint(settings) as endpoint:
        yield endpoint


@pytest.mark.parametrize("chat_only", [False, True], ids=["passed on", "translated"])
@pytest.mark.parametrize("name", AGENTS)
async def test_each_request_is_answered_as_its_agent_needs_it(
    open_client: OpenClient, let_in: LetIn, name: str, chat_only: bool
) -> None:
    for exchange in recorded(name):
        request, response = exchange["request"], exchange["response"]
        call = call_in(response)
        async with model_that_makes(call, chat_only) as endpoint:
            agent = let_in(open_client(endpoint.base_url.removesuffix("/v1")))
            answer = await ask_again(agent, request)
            assert answer.status == 200, answer.body
            if request["method"] == "HEAD":
                continue
            assert calls_in(request["path"], answer) == ([] if call is None else [call])
            assert list(missing(request["path"], response, answer)) == []
            (truth,) = [truth for truth in endpoint.log if truth.complete]
            usage = agent.record.usage
            if usage.prompt_tokens is not None:  # a chat stream tells them only if it was asked to
                assert (usage.prompt_tokens, usage.completion_tokens) == (truth.prompt_tokens, truth.tokens)


async def ask_again(agent: Agent, request: dict[str, Any]) -> Collected:
    """Asks as the agent did, with a token in place of its key."""
    shown = [name for name in KEYS if name in request["headers"]]
    if request["method"] == "HEAD":
        return await agent.ask(b"", method="HEAD", path=request["path"], token="")
    assert shown
    headers = [f"{name}: {agent.token}" for name in shown if name != "authorization"]
    kept = [f"{name}: x" for name in ("anthropic-beta", "anthropic-version") if name in request["headers"]]
    token = agent.token if "authorization" in shown else ""
    return await agent.ask(request["body"], *headers, *kept, path=request["path"], token=token)


def test_every_recorded_agent_is_asked_again() -> None:
    if not RECORDED.exists():
        pytest.skip(f"no recorded requests at {RECORDED}; set BENCHWRIGHT_TEST_DATA")
    assert {path.stem for path in RECORDED.glob("*.jsonl")} == set(AGENTS)
