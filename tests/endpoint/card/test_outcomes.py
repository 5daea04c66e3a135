"""Each way in which a server can behave is told as what it is, on the line that it is about."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.endpoint.card.conftest import examined

from benchwright.endpoint.card import CARD_LINES
from benchwright.endpoint.card.outcomes import OUTCOMES

NO = (400, "this field is not supported")

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("server", "not_reported", {"owner": "somebody", "version": None, "metrics": None}),
    ("models", "not_listed", {"models": ("other",)}),
    ("models", "no_list", {"models": None}),
    ("context", "not_reported", {"entry": {}}),
    ("long_prompts", "refused", {"window": 2048}),
    ("long_prompts", "cut", {"window": 2048, "long_prompts": "cut"}),
    ("metrics", "none", {"metrics": None}),
    ("metrics", "other", {"metrics": "# TYPE python_gc_objects_total counter\npython_gc_objects_total 3\n"}),
    ("chat", "as_stream", {"always_streams": True}),
    ("chat", "other", {"refusals": {"/v1/chat/completions": (200, "odd")}}),
    ("chat", "missing", {"missing": {"/v1/chat/completions"}}),
    ("chat", "refused", {"refusals": {"/v1/chat/completions": (400, "the model has no chat template")}}),
    ("completions", "none", {"missing": {"/v1/completions"}}),
    ("completions", "answers", {"refusals": {"logprobs": NO}}),
    ("messages", "none", {"missing": {"/v1/messages"}}),
    ("responses", "refused", {"refusals": {"/v1/responses": (500, "it broke")}}),
    ("gemini", "none", {"missing": {"/v1beta/models/m:generateContent"}}),
    ("embeddings", "none", {"missing": {"/v1/embeddings"}}),
    ("streaming", "several_tokens", {"stream": "several_tokens"}),
    ("streaming", "one_piece", {"stream": "one_piece"}),
    ("streaming", "held_back", {"stream": "held_back", "token_seconds": 0.005}),
    ("streaming", "whole", {"stream": "whole"}),
    ("streaming", "refused", {"refusals": {"stream": NO}}),
    ("usage", "none", {"usage": "none"}),
    ("usage", "in_part", {"usage": "in_part"}),
    ("usage_in_stream", "none", {"stream_usage": "none"}),
    ("usage_in_stream", "nothing", {"stream_usage": "nothing"}),
    ("usage_in_stream", "refused", {"refusals": {"stream_options": (400, "stream_options: unknown field")},
                                    "stream_usage": "none"}),
    ("finish_reasons", "not_length", {"length_reason": "stop"}),
    ("finish_reasons", "not_length", {"length_reason": None}),
    ("finish_reasons", "not_bounded", {"honours_limit": False}),
    ("token_counting", "agree", {"tokenize": "content"}),
    ("token_counting", "one_more", {"extra_token": 1}),
    ("token_counting", "differ", {"extra_token": 3}),
    ("token_counting", "only_tokenize", {"missing": {"/v1/completions"}}),
    ("token_counting", "none", {"tokenize": "none"}),
    ("output_limit", "max_tokens", {"honours_other_limit": False}),
    ("output_limit", "max_completion_tokens",
     {"refusals": {"max_tokens": (400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.")}}),
    ("stop", "left_in", {"stop": "left_in"}),
    ("stop", "ignored", {"stop": "ignored"}),
    ("stop", "refused", {"refusals": {"stop": NO}}),
    ("n", "one", {"n": False}),
    ("n", "refused", {"refusals": {"n": NO}}),
    ("seed", "ignored", {"seed": "ignored"}),
    ("seed", "no_effect", {"seed": "no_effect"}),
    ("seed", "refused", {"refusals": {"seed": NO}}),
    ("sampling", "some_refused", {"refusals": {"min_p": (400, "min_p: extra inputs are not permitted")}}),
    ("sampling", "refused", {"refusals": {"min_p": (400, "bad request")}}),
    ("json_schema", "ignored", {"json_schema": "ignored"}),
    ("json_schema", "refused", {"refusals": {"response_format": NO}}),
    ("images", "not_seen", {"images": "not_seen"}),
    ("images", "no_chat", {"missing": {"/v1/chat/completions"}}),
    ("tools", "called_oddly", {"tools": "odd"}),
    ("tools", "only_required", {"tools": "only_required"}),
    ("tools", "function_call", {"tools": "function_call"}),
    ("tools", "as_text", {"tools": "as_text"}),
    ("tools", "not_passed_on", {"tools": "not_passed_on"}),
    ("tools", "no_call", {"tools": "no_call"}),
    ("tools", "refused", {"refusals": {"tools": (400, '"auto" tool choice requires --enable-auto-tool-choice')}}),
    ("several_tools", "one", {"calls": 1}),
    ("streamed_tools", "same_index", {"stream_tools": "no_index"}),
    ("streamed_tools", "misread", {"stream_tools": "misread"}),
    ("streamed_tools", "whole", {"stream_tools": "whole"}),
    ("streamed_tools", "none", {"stream_tools": "none"}),
    ("reasoning", "field", {"thinking": "reasoning_content"}),
    ("reasoning", "field", {"thinking": "reasoning"}),
    ("reasoning", "inline", {"thinking": "inline"}),
    ("reasoning", "only_its_end", {"thinking": "only_its_end"}),
    ("reasoning", "counted", {"thinking": "counted"}),
    ("reasoning_switch", "off", {"thinking": "reasoning_content", "switch": "chat_template_kwargs"}),
    ("reasoning_switch", "off", {"thinking": "inline", "switch": "reasoning_effort"}),
    ("reasoning_switch", "not_off", {"thinking": "reasoning_content"}),
    ("reasoning_switch", "on", {"switch": "chat_template_kwargs"}),
    ("reasoning_switch", "no_chat", {"missing": {"/v1/chat/completions"}}),
    ("logprobs", "completions", {"shape": "chat"}),
    ("logprobs", "chat", {"logprobs": {"chat"}}),
    ("logprobs", "none", {"logprobs": frozenset()}),
    ("logprobs", "refused", {"refusals": {"logprobs": NO}}),
    ("prompt_logprobs", "prompt_logprobs", {"echo": "none"}),
    ("prompt_logprobs", "none", {"echo": "none", "prompt_logprobs": False}),
    ("prompt_logprobs", "refused", {"refusals": {"echo": NO, "prompt_logprobs": NO}}),
    ("logprobs_agree", "agree", {"echo": "none"}),
    ("logprobs_agree", "late", {"echo": "late"}),
    ("logprobs_agree", "early", {"echo": "early"}),
    ("logprobs_agree", "differ", {"echo": "wrong"}),
    ("prompt_cache", "none", {"cache": "none"}),
    ("prompt_cache", "not_seen", {"cache": "not_reported"}),
    ("parallel", "some", {"slots": 2}),
    ("parallel", "one", {"slots": 1}),
    ("parallel", "one", {"slots": 1, "stream": "one_piece", "token_seconds": 0.05}),
    ("parallel", "broken_off", {"interrupts": True}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "outcome", "behaviour"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
async def test_what_a_server_does_is_told(key: str, outcome: str, behaviour: dict[str, Any]) -> None:
    found = await examined(**behaviour)
    assert found.outcome(key) == outcome
    assert found.card.requests <= 40


def test_every_outcome_is_one_of_a_line_and_has_its_texts() -> None:
    assert set(OUTCOMES) == set(CARD_LINES)
    for outcomes in OUTCOMES.values():
        for outcome in outcomes.values():
            assert outcome.text
            assert outcome.option_topic == "" or "{option}" in outcome.consequence


SHOWN_ELSEWHERE = {
    ("server", "known"), ("context", "known"), ("models", "listed"), ("messages", "answers"), ("messages", "other"),
    ("messages", "refused"), ("responses", "answers"), ("responses", "none"), ("responses", "other"),
    ("gemini", "answers"), ("gemini", "other"), ("gemini", "refused"), ("finish_reasons", "too_short"),
    ("stop", "not_met"), ("json_schema", "cut_off"), ("images", "refused"), ("streamed_tools", "refused"),
    ("prompt_cache", "not_reported"), ("parallel", "refused"), ("parallel", "not_seen"),
}  # fmt: skip
"""Outcomes of good servers (test_card_of_a_good_server.py), and those that are alike in several lines."""


def test_every_outcome_has_a_case() -> None:
    good = {
        "answers",
        "listed",
        "known",
        "read",
        "by_token",
        "reported",
        "length",
        "both",
        "honoured",
        "several",
        "accepted",
    }
    good |= {"seen", "called", "indexed", "none", "not_on", "echo", "all"}
    told = {(key, outcome) for key, outcome, _ in CASES} | SHOWN_ELSEWHERE
    every = {(key, outcome) for key, outcomes in OUTCOMES.items() for outcome in outcomes}
    assert {(key, outcome) for key, outcome in every - told if outcome not in good} == set()


class TestWhatFollows:
    async def test_it_names_the_option_of_the_server(self) -> None:
        found = await examined(
            refusals={"tools": (400, '"auto" tool choice requires --enable-auto-tool-choice')}
        )
        follows = found.card.findings["tools"].follows
        assert "Start vLLM with --enable-auto-tool-choice --tool-call-parser NAME." in follows

    async def test_it_names_the_options_of_several_servers_if_the_server_does_not_say_what_it_is(
        self,
    ) -> None:
        found = await examined(owner="me", version=None, metrics=None, tools="as_text")
        follows = found.card.findings["tools"].follows
        assert {"--tool-call-parser", "--jinja"} <= set(re.findall(r"--[\w-]+", follows))

    async def test_usage_in_whole_answers_is_a_way_out_where_streams_have_none(self) -> None:
        found = await examined(stream_usage="none")
        assert found.card.findings["usage_in_stream"].follows.endswith("--no-stream counts them.")
        found = await examined(stream_usage="none", usage="none")
        assert "--no-stream" not in found.card.findings["usage_in_stream"].follows


class TestThinkingModels:
    async def test_one_that_can_be_kept_from_thinking_is_for_all_that_its_answers_must_show(self) -> None:
        found = await examined(thinking="reasoning_content", switch="chat_template_kwargs")
        assert found.outcome("json_schema") == "honoured"
        assert found.outcome("images") == "seen"
        tools = [asked.body for asked in found.server.asked if "tools" in asked.body]
        assert all(body["chat_template_kwargs"]["enable_thinking"] is False for body in tools)

    async def test_one_that_cannot_has_room_to_think(self) -> None:
        found = await examined(thinking="reasoning_content")
        assert found.outcome("tools") == "called"
        assert all(asked.body["max_tokens"] > 256 for asked in found.server.asked if "tools" in asked.body)


class TestBaseModels:
    """A model without a chat template has completions only."""

    async def test_what_needs_no_chat_is_found_out_by_completions(self) -> None:
        found = await examined(missing={"/v1/chat/completions"})
        for key in (
            "streaming",
            "usage",
            "seed",
            "stop",
            "logprobs",
            "logprobs_agree",
            "prompt_cache",
            "parallel",
        ):
            assert found.outcome(key) != "unknown", key

    async def test_what_needs_it_is_not_known_for_that_reason(self) -> None:
        found = await examined(missing={"/v1/chat/completions"})
        assert found.card.findings["tools"].said == "chat completions do not answer"
