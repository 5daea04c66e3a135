"""The model as an agent sees it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchwright.agents.rollout.types import OpenAIFunctionSchema, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.agents.session_llm import SessionLLM
from benchwright.errors import ProviderError
from benchwright.records import NO_USAGE

TOOL = OpenAIFunctionToolSchema(
    type="function", function=OpenAIFunctionSchema(name="now", description="The time.")
)
HELLO = [{"role": "user", "content": "hello"}]


async def test_an_answer_has_the_documented_shape(scripted: Any) -> None:
    result = await SessionLLM(scripted(scripted.says("hi"))).chat_completions(HELLO)
    assert result.message == {"role": "assistant", "content": "hi"}
    assert result.usage == {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    assert (result.finish_reason, result.token_ids, result.logprobs) == ("stop", [], [])


async def test_a_message_has_no_empty_fields(scripted: Any) -> None:
    result = await SessionLLM(scripted(scripted.calls("now"))).chat_completions(HELLO)
    assert set(result.message) == {"role", "tool_calls"}
    assert result.has_tool_calls


async def test_what_the_server_did_not_say_has_a_default(scripted: Any) -> None:
    reply = msgspec.structs.replace(scripted.says("hi"), finish_reason=None, usage=NO_USAGE)
    result = await SessionLLM(scripted(reply)).chat_completions(HELLO)
    assert (result.finish_reason, result.usage["total_tokens"]) == ("stop", 0)


async def test_log_probabilities_are_those_of_the_tokens(scripted: Any) -> None:
    tokens = {"content": [{"token": "h", "logprob": -0.5}, {"token": "i", "logprob": -0.25}]}
    reply = msgspec.structs.replace(scripted.says("hi"), logprobs=tokens)
    result = await SessionLLM(scripted(reply)).chat_completions(HELLO)
    assert result.logprobs == [-0.5, -0.25]


async def test_keywords_are_fields_of_the_request(scripted: Any) -> None:
    session = scripted(scripted.says("hi"))
    await SessionLLM(session).chat_completions(HELLO, temperature=0.5, stop=["\n"])
    assert session.asked == [(HELLO, {"temperature": 0.5, "stop": ["\n"]})]


async def test_tools_are_offered_until_they_are_cleared_unless_a_call_brings_its_own(scripted: Any) -> None:
    session = scripted(*(scripted.says("hi") for _ in range(3)))
    llm = SessionLLM(session)
    llm.set_tools([TOOL])
    await llm.chat_completions(HELLO)
    await llm.chat_completions(HELLO, tools=[])
    llm.clear_tools()
    await llm.chat_completions(HELLO)
    offered = [params.get("tools") for _, params in session.asked]
    assert offered == [[TOOL.model_dump(exclude_none=True)], [], None]


async def test_metrics_add_up_until_they_are_reset(scripted: Any) -> None:
    llm = SessionLLM(scripted(scripted.calls("now"), scripted.says("hi")))
    await llm.chat_completions(HELLO)
    await llm.chat_completions(HELLO)
    assert llm.get_metrics() == RolloutMetrics(
        llm_latency_ms=5.0, num_llm_calls=2, prompt_tokens=30, response_tokens=13, max_context_tokens=28
    )
    llm.reset_metrics()
    assert llm.get_metrics() == RolloutMetrics()


async def test_metrics_that_were_handed_out_stay_as_they_are(scripted: Any) -> None:
    llm = SessionLLM(scripted(scripted.says("hi")))
    before = llm.get_metrics()
    await llm.chat_completions(HELLO)
    assert before == RolloutMetrics()


async def test_a_failure_is_remembered_until_the_next_answer(scripted: Any) -> None:
    failure = ProviderError("overloaded", http_status=503)
    llm = SessionLLM(scripted(failure, scripted.says("hi")))
    with pytest.raises(ProviderError):
        await llm.chat_completions(HELLO)
    assert llm.failure is failure
    await llm.chat_completions(HELLO)
    assert llm.failure is None
