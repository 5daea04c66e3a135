"""The fields by which each kind of server is told how much to think, as its documentation has them."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from benchwright.cli.thinking_options import REASONING_EFFORTS
from benchwright.cli.thinking_options import THINKING_STYLES as OPTION_STYLES
from benchwright.config import ReasoningEffort, ThinkingStyle
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.endpoint.reasoning_effort import (
    REQUEST_STYLES,
    ReasoningSettings,
    body_fields,
    style_of_host,
)
from benchwright.errors import UserError

LOW, BUDGET, OFF = ReasoningSettings("low"), ReasoningSettings(budget=2000), ReasoningSettings("none")


def template(on: bool, **more: Any) -> dict[str, Any]:
    return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on, **more}}


@pytest.mark.parametrize(
    ("style", "thinking", "fields"),
    [
        ("openai", LOW, {"reasoning_effort": "low"}),
        ("openai", OFF, {"reasoning_effort": "none"}),
        ("openrouter", LOW, {"reasoning": {"effort": "low"}}),
        ("openrouter", BUDGET, {"reasoning": {"max_tokens": 2000}}),
        ("openrouter", OFF, {"reasoning": {"effort": "none"}}),
        ("vllm", LOW, {"reasoning_effort": "low"}),
        ("vllm", BUDGET, {"thinking_token_budget": 2000, **template(True)}),
        ("vllm", OFF, template(False)),
        ("vllm", ReasoningSettings(budget=0), template(False)),
        ("sglang", BUDGET, template(True, thinking_budget=2000)),
        (
            "sglang",
            ReasoningSettings("high", 500),
            {"reasoning_effort": "high", **template(True, thinking_budget=500)},
        ),
        ("llama.cpp", OFF, {"reasoning_effort": "none"}),
        ("anthropic", BUDGET, {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
        ("anthropic", OFF, {"thinking": {"type": "disabled"}}),
        ("gemini", LOW, {"reasoning_effort": "low"}),
        ("gemini", BUDGET, {"extra_body": {"google": {"thinking_config": {"thinking_budget": 2000}}}}),
        ("dashscope", BUDGET, {"enable_thinking": True, "thinking_budget": 2000}),
        ("dashscope", OFF, {"enable_thinking": False}),
        ("deepseek", LOW, {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
        ("deepseek", OFF, {"thinking": {"type": "disabled"}}),
        ("zai", OFF, {"thinking": {"type": "disabled"}}),
        ("kimi", OFF, {"thinking": {"type": "disabled"}}),
        ("litellm", BUDGET, {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
    ],
)
def test_each_server_is_told_in_its_own_fields(
    style: str, thinking: ReasoningSettings, fields: dict[str, Any]
) -> None:
    assert body_fields(style, thinking) == fields


@pytest.mark.parametrize(
    ("style", "thinking", "words"),
    [
        ("openai", BUDGET, "takes no --thinking-budget: use --reasoning-effort"),
        ("llama.cpp", BUDGET, "--reasoning-budget"),
        ("deepseek", BUDGET, "takes no --thinking-budget"),
        ("anthropic", LOW, "use --thinking-budget"),
        ("dashscope", LOW, "use --thinking-budget"),
        ("openrouter", ReasoningSettings("low", 2000), "not both"),
        ("gemini", ReasoningSettings("low", 2000), "not both"),
        ("kimi", LOW, "can only turn thinking off"),
    ],
)
def test_what_a_server_has_no_field_for_is_an_error_that_says_what_to_use(
    style: str, thinking: ReasoningSettings, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        body_fields(style, thinking)


@pytest.mark.parametrize(
    ("base_url", "style"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        (LITELLM_BASE_URL, "litellm"),
    ],
)
def test_a_known_host_says_its_style(base_url: str, style: str) -> None:
    found = style_of_host(base_url)
    assert found is not None
    assert found.style == style


def test_an_unknown_host_says_nothing() -> None:
    assert style_of_host("http://localhost:8000/v1") is None


def test_options_and_settings_know_the_same_styles_and_levels() -> None:
    assert set(OPTION_STYLES) == set(get_args(ThinkingStyle)) == set(REQUEST_STYLES)
    assert set(REASONING_EFFORTS) == set(get_args(ReasoningEffort))
