"""`InstrumentedClient`: what it sends, what it returns, and what it measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.catalog.documented.answering import answering

from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig, VLLMConfig
from benchwright.errors import ProviderError

MakeConfig = Callable[..., BenchmarkConfig]

HELLO = [{"role": "user", "content": "hello there"}]

CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": '{"zone": "UTC"}'}}


async def test_an_answer_is_its_text_and_what_was_measured(config: MakeConfig) -> None:
    async with answering(seconds=0.05) as server, InstrumentedClient(config(server.base_url)) as client:
        text, metrics = await client.chat_completion(HELLO)
    assert text == "hello there"
    assert (metrics.prompt_tokens, metrics.completion_tokens, metrics.error) == (10, 3, None)
    assert metrics.ttft_seconds is not None
    assert 0.05 <= metrics.ttft_seconds <= metrics.total_latency_seconds < 5


async def test_the_configurations_settings_go_with_every_request_and_keywords_before_them(
    config: MakeConfig,
) -> None:
    async with answering() as server:
        settings = config(server.base_url, temperature=0.5, max_tokens=100, seed=7)
        async with InstrumentedClient(settings) as client:
            await client.chat_completion(HELLO, temperature=0.9, stop=["x"])
    (body,) = server.bodies
    assert body == {
        "model": "some-model",
        "messages": HELLO,
        "temperature": 0.9,
        "max_tokens": 100,
        "seed": 7,
        "stop": ["x"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_no_seed_sends_none(config: MakeConfig) -> None:
    async with answering() as server, InstrumentedClient(config(server.base_url, seed=None)) as client:
        await client.chat_completion(HELLO)
    assert "seed" not in server.bodies[0]


async def test_without_streaming_nothing_is_streamed_and_there_is_no_first_token(config: MakeConfig) -> None:
    async with answering() as server, InstrumentedClient(config(server.base_url, streaming=False)) as client:
        text, metrics = await client.chat_completion(HELLO)
    assert text == "hello there"
    assert "stream" not in server.bodies[0]
    assert metrics.ttft_seconds is None
    assert metrics.completion_tokens == 3


async def test_the_raw_answer_has_tool_calls_and_is_never_streamed(config: MakeConfig) -> None:
    def calls(body: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [CALL]}

    async with answering(calls) as server, InstrumentedClient(config(server.base_url)) as client:
        response = await client.chat_completion_raw(HELLO, tools=[{"type": "function"}])
    (choice,) = response.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert (call.id, call.function.name, call.function.arguments) == ("call_1", "now", '{"zone": "UTC"}')
    assert response.usage.prompt_tokens == 10
    assert response.metrics.ttft_seconds is None
    assert response.raw["choices"][0]["message"]["tool_calls"] == [CALL]
    assert "stream" not in server.bodies[0]
    assert server.bodies[0]["tools"] == [{"type": "function"}]


async def test_a_message_of_an_answer_can_be_sent_back_as_it_is(config: MakeConfig) -> None:
    def calls(body: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [CALL]}

    async with answering(calls) as server, InstrumentedClient(config(server.base_url)) as client:
        response = await client.chat_completion_raw(HELLO)
        await client.chat_completion_raw([*HELLO, response.choices[0].message])
    assert server.bodies[1]["messages"][1] == {"role": "assistant", "content": None, "tool_calls": [CALL]}


async def test_an_answer_without_tool_calls_has_none(config: MakeConfig) -> None:
    async with answering() as server, InstrumentedClient(config(server.base_url)) as client:
        response = await client.chat_completion_raw(HELLO)
    assert response.choices[0].message.tool_calls is None
    assert response.choices[0].message.content == "hello there"


async def test_a_refused_request_is_raised_and_kept_among_the_metrics(config: MakeConfig) -> None:
    def refuse(body: dict[str, Any]) -> dict[str, Any]:
        return {"error": {"message": "too long"}}

    async with answering(refuse) as server, InstrumentedClient(config(server.base_url)) as client:
        with pytest.raises(ProviderError, match="too long"):
            await client.chat_completion(HELLO)
    (metrics,) = client.metrics
    assert metrics.error is not None
    assert "too long" in metrics.error


async def test_the_endpoints_configuration_alone_is_enough() -> None:
    async with answering() as server:
        client = InstrumentedClient(VLLMConfig(base_url=server.base_url, model="some-model"))
        await client.chat_completion(HELLO)
        await client.close()
    assert server.bodies[0]["max_tokens"] == 2048


async def test_check_says_whether_the_model_is_served(config: MakeConfig) -> None:
    async with answering() as server:
        async with InstrumentedClient(config(server.base_url)) as client:
            assert await client.list_models() == ["some-model"]
            assert await client.check()
        async with InstrumentedClient(config(server.base_url, model="another")) as client:
            assert not await client.check()


async def test_check_of_a_server_that_is_not_there_is_an_error(config: MakeConfig) -> None:
    client = InstrumentedClient(config("http://127.0.0.1:9/v1"))
    with pytest.raises(ProviderError, match="Cannot connect"):
        await client.check()


def test_the_key_is_shown_nowhere() -> None:
    assert "sk-1" not in repr(VLLMConfig(model="m", api_key="sk-1"))
