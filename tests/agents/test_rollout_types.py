"""The documented types that agents are written with."""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import (
    DEFAULT_MAX_METADATA_SIZE_BYTES,
    CompletionsResult,
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutMetrics,
    RolloutRequest,
    set_max_metadata_size_bytes,
)


def request(**changes: Any) -> RolloutRequest:
    fields = {"rollout_id": "r-1", "server_url": "http://host", "messages": [], "completion_params": {}}
    return RolloutRequest(**(fields | changes))


class CountingModel:
    """A model that answers nothing but knows what it cost."""

    async def chat_completions(self, messages: Any, **kwargs: Any) -> CompletionsResult:
        self.asked = (messages, kwargs)
        return CompletionsResult({"role": "assistant", "content": "hi"}, [], [], {}, "stop")

    def get_metrics(self) -> RolloutMetrics:
        return RolloutMetrics(llm_latency_ms=7.5, num_llm_calls=2, prompt_tokens=30, response_tokens=4)


def context(**private: Any) -> RolloutContext:
    return RolloutContext(request=request(), tools=[], llm=CountingModel(), **private)


class TestRequest:
    def test_has_the_documented_defaults(self) -> None:
        made = request()
        assert (made.max_turns, made.max_tokens_total, made.metadata) == (10, 8192, {})
        assert (made.tool_server_url, made.api_key, made.idempotency_key) == (None, None, None)

    @pytest.mark.parametrize("rollout_id", ["", "   ", "x" * 257])
    def test_refuses_an_id_that_is_blank_or_too_long(self, rollout_id: str) -> None:
        with pytest.raises(ValidationError):
            request(rollout_id=rollout_id)

    @pytest.mark.parametrize("server_url", ["host:8000", "ftp://host", "http://"])
    def test_refuses_an_address_without_scheme_or_host(self, server_url: str) -> None:
        with pytest.raises(ValidationError):
            request(server_url=server_url)

    def test_refuses_metadata_that_is_not_json(self) -> None:
        with pytest.raises(ValidationError, match="must be JSON"):
            request(metadata={"when": object()})

    def test_refuses_metadata_beyond_the_limit_that_is_set(self) -> None:
        set_max_metadata_size_bytes(100)
        try:
            with pytest.raises(ValidationError, match="100 are allowed"):
                request(metadata={"text": "x" * 100})
        finally:
            set_max_metadata_size_bytes(DEFAULT_MAX_METADATA_SIZE_BYTES)
        assert request(metadata={"text": "x" * 100}).metadata

    def test_the_limit_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="positive"):
            set_max_metadata_size_bytes(0)


class TestTools:
    def test_a_tool_goes_on_the_wire_without_its_empty_fields(self) -> None:
        parameters = OpenAIFunctionParametersSchema(
            type="object", properties={"a": OpenAIFunctionPropertySchema(type="number")}, required=["a"]
        )
        function = OpenAIFunctionSchema(name="double", description="Doubles.", parameters=parameters)
        assert OpenAIFunctionToolSchema(type="function", function=function).model_dump(exclude_none=True) == {
            "type": "function",
            "function": {
                "name": "double",
                "description": "Doubles.",
                "parameters": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
                "strict": False,
            },
        }

    def test_a_function_without_parameters_takes_an_empty_object(self) -> None:
        made = OpenAIFunctionSchema(name="now", description="The time.")
        assert made.parameters.model_dump() == {"type": "object", "properties": {}, "required": []}


class TestCompletionsResult:
    def test_tells_whether_tools_are_wanted(self) -> None:
        call = {"id": "1", "function": {"name": "f", "arguments": "{}"}}
        wanted = CompletionsResult({"role": "assistant", "tool_calls": [call]}, [], [], {}, "tool_calls")
        assert (wanted.has_tool_calls, wanted.tool_calls, wanted.content) == (True, [call], None)

    def test_an_answer_in_words_has_no_tool_calls(self) -> None:
        spoken = CompletionsResult({"role": "assistant", "content": "4"}, [], [], {}, "stop")
        assert (spoken.has_tool_calls, spoken.tool_calls, spoken.content) == (False, [], "4")

    def test_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError):
            CompletionsResult({}, [], [], {}, "stop").finish_reason = "length"  # type: ignore[misc]


class TestContext:
    async def test_chat_asks_the_model_with_the_given_parameters(self) -> None:
        ctx = context()
        answer = await ctx.chat([{"role": "user", "content": "hello"}], temperature=0.5)
        assert answer.content == "hi"
        assert ctx.llm.asked == ([{"role": "user", "content": "hello"}], {"temperature": 0.5})  # type: ignore[attr-defined]

    def test_complete_carries_the_metrics_of_model_and_tools(self) -> None:
        ctx = context()
        ctx.record_tool_call(latency_ms=3.0)
        ctx.record_tool_call()
        result = ctx.complete([{"role": "assistant", "content": "4"}], reward=0.5)
        assert (result.status, result.finish_reason, result.reward) == ("COMPLETED", "stop", 0.5)
        assert result.metrics == RolloutMetrics(
            llm_latency_ms=7.5,
            tool_latency_ms=3.0,
            num_llm_calls=2,
            num_tool_calls=2,
            prompt_tokens=30,
            response_tokens=4,
        )

    def test_the_whole_time_counts_from_the_start(self) -> None:
        metrics = context(_start_time=1e-9).complete([]).metrics
        assert metrics is not None
        assert metrics.total_latency_ms > 0

    def test_error_keeps_its_message_and_has_no_messages_unless_given(self) -> None:
        result = context().error("no such page")
        assert (result.status, result.finish_reason) == ("ERROR", "error")
        assert (result.error_message, result.final_messages, result.reward) == ("no such page", [], None)
        assert result.metrics is not None

    def test_events_are_lines_of_json_in_the_rollouts_own_file(self, tmp_path: Path) -> None:
        ctx = context(_debug_dir=str(tmp_path / "debug"))
        assert ctx.debug_enabled
        ctx.log_event("turn", number=1)
        ctx.log_event("done", path=tmp_path)
        lines = [json.loads(line) for line in (tmp_path / "debug" / "r-1.jsonl").read_text().splitlines()]
        assert lines == [
            {"event": "turn", "rollout_id": "r-1", "number": 1},
            {"event": "done", "rollout_id": "r-1", "path": str(tmp_path)},
        ]

    def test_without_a_directory_events_go_nowhere(self) -> None:
        ctx = context()
        ctx.log_event("turn", number=1)
        assert not ctx.debug_enabled

    def test_events_that_cannot_be_written_are_only_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("in the way")
        with caplog.at_level(logging.WARNING):
            context(_debug_dir=str(tmp_path / "file")).log_event("turn")
        assert "cannot write the debug events of r-1" in caplog.text


class TestAgentLoop:
    def test_a_concrete_agent_must_have_a_name(self) -> None:
        with pytest.raises(TypeError, match="Nameless must define a 'name'"):

            class Nameless(RolloutAgentLoop):
                def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
                    return []

                async def run(self, ctx: RolloutContext) -> RolloutResult:
                    return ctx.complete([])

    def test_an_agent_that_is_not_concrete_needs_none(self) -> None:
        class Shared(RolloutAgentLoop):
            def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
                return []

            @abstractmethod
            async def run(self, ctx: RolloutContext) -> RolloutResult: ...

        with pytest.raises(TypeError, match="abstract"):
            Shared()  # type: ignore[abstract]

    def test_its_default_tools_are_those_of_an_empty_request(self, make_agent: Any) -> None:
        seen = []

        class Curious(type(make_agent())):  # type: ignore[misc]
            def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
                seen.append(request)
                return []

        assert Curious().get_default_tools() == []
        assert (seen[0].rollout_id, seen[0].server_url, seen[0].messages) == (
            "discovery",
            "http://localhost",
            [],
        )
