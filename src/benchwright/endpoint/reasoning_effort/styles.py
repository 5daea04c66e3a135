"""Request fields for reasoning effort and thinking budget: a table of styles, each with the page that documents it.

Effort and budget are never converted into each other. A server that has levels of effort gets no invented
budget, and a server that has budgets gets no invented level. If a style has no field for what the user wants,
that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from benchwright.errors import UserError

BodyFields = dict[str, Any]


class ReasoningSettings(NamedTuple):
    """The thinking that the user wants: a level of effort, or a budget in tokens.

    Effort 'none' or budget 0 turns thinking off.
    """

    effort: str | None = None
    budget: int | None = None

    @property
    def is_off(self) -> bool:
        """True if thinking is to be turned off."""
        return self.effort == "none" or self.budget == 0


class RequestStyle(NamedTuple):
    """A style: one way to request thinking.

    `make_fields`: a function that makes the request fields. `documentation_url`: the page of the server's
    documentation.
    """

    make_fields: Callable[[ReasoningSettings], BodyFields]
    documentation_url: str


class _Unknown(ValueError):
    """Raised if a style has no field for what the user wants. The message names the alternative."""


def _without_budget(instead: str) -> Callable[[ReasoningSettings], None]:
    def check(thinking: ReasoningSettings) -> None:
        if thinking.budget:
            raise _Unknown(f"takes no --thinking-budget: {instead}")

    return check


def _effort(thinking: ReasoningSettings) -> BodyFields:
    return {"reasoning_effort": "none" if thinking.is_off else thinking.effort}


def _openai(thinking: ReasoningSettings) -> BodyFields:
    _without_budget("use --reasoning-effort")(thinking)
    return _effort(thinking)


def _openrouter(thinking: ReasoningSettings) -> BodyFields:
    _one_of_both(thinking)
    if thinking.is_off:
        return {"reasoning": {"effort": "none"}}
    if thinking.budget:
        return {"reasoning": {"max_tokens": thinking.budget}}
    return {"reasoning": {"effort": thinking.effort}}


def _one_of_both(thinking: ReasoningSettings) -> None:
    if thinking.budget and thinking.effort and not thinking.is_off:
        raise _Unknown("takes --reasoning-effort or --thinking-budget, not both")


def _template(on: bool, **more: Any) -> BodyFields:
    """Return the arguments for the chat template that turn thinking on or off.

    The argument is named `enable_thinking` in some templates and `thinking` in others. Both are sent, because
    a template ignores the name that it does not know.
    """
    return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on, **more}}


def _vllm(thinking: ReasoningSettings) -> BodyFields:
    if thinking.is_off:
        return _template(False)
    effort = {"reasoning_effort": thinking.effort} if thinking.effort else {}
    return effort | ({"thinking_token_budget": thinking.budget, **_template(True)} if thinking.budget else {})


def _sglang(thinking: ReasoningSettings) -> BodyFields:
    if thinking.is_off:
        return _template(False)
    effort = {"reasoning_effort": thinking.effort} if thinking.effort else {}
    return effort | (_template(True, thinking_budget=thinking.budget) if thinking.budget else {})


def _llama_cpp(thinking: ReasoningSettings) -> BodyFields:
    _without_budget("llama-server takes it when it starts, as --reasoning-budget")(thinking)
    return _effort(thinking)


def _anthropic(thinking: ReasoningSettings) -> BodyFields:
    if thinking.is_off:
        return {"thinking": {"type": "disabled"}}
    if thinking.effort:
        raise _Unknown("ignores levels of effort: use --thinking-budget")
    return {"thinking": {"type": "enabled", "budget_tokens": thinking.budget}}


def _gemini(thinking: ReasoningSettings) -> BodyFields:
    _one_of_both(thinking)
    if thinking.budget:
        return {"extra_body": {"google": {"thinking_config": {"thinking_budget": thinking.budget}}}}
    return _effort(thinking)


def _dashscope(thinking: ReasoningSettings) -> BodyFields:
    if thinking.is_off:
        return {"enable_thinking": False}
    if thinking.effort:
        raise _Unknown("has no levels of effort: use --thinking-budget, or --reasoning-effort none")
    return {"enable_thinking": True, "thinking_budget": thinking.budget}


def _deepseek(thinking: ReasoningSettings) -> BodyFields:
    _without_budget("use --reasoning-effort")(thinking)
    if thinking.is_off:
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled"}, "reasoning_effort": thinking.effort}


def _switch(thinking: ReasoningSettings) -> BodyFields:
    if not thinking.is_off:
        raise _Unknown("can only turn thinking off, by --reasoning-effort none; without it the model thinks")
    return {"thinking": {"type": "disabled"}}


def _litellm(thinking: ReasoningSettings) -> BodyFields:
    _one_of_both(thinking)
    if thinking.budget:
        return {"thinking": {"type": "enabled", "budget_tokens": thinking.budget}}
    return _effort(thinking)


REQUEST_STYLES: Mapping[str, RequestStyle] = {
    "openai": RequestStyle(_openai, "https://platform.openai.com/docs/api-reference/chat/create"),
    "openrouter": RequestStyle(_openrouter, "https://openrouter.ai/docs/use-cases/reasoning-tokens"),
    "vllm": RequestStyle(_vllm, "https://docs.vllm.ai/en/latest/features/reasoning_outputs/"),
    "sglang": RequestStyle(_sglang, "https://docs.sglang.io/docs/advanced_features/thinking_budget"),
    "llama.cpp": RequestStyle(
        _llama_cpp, "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"
    ),
    "anthropic": RequestStyle(_anthropic, "https://docs.anthropic.com/en/api/openai-sdk"),
    "gemini": RequestStyle(_gemini, "https://ai.google.dev/gemini-api/docs/openai"),
    "dashscope": RequestStyle(_dashscope, "https://www.alibabacloud.com/help/en/model-studio/deep-thinking"),
    "deepseek": RequestStyle(_deepseek, "https://api-docs.deepseek.com/guides/thinking_mode"),
    "zai": RequestStyle(_switch, "https://docs.z.ai/guides/overview/concept-param"),
    "kimi": RequestStyle(_switch, "https://platform.kimi.ai/docs/api/models-overview"),
    "litellm": RequestStyle(_litellm, "https://docs.litellm.ai/docs/reasoning_content"),
}
"""All styles: a mapping from the style's name, which is a value of `--thinking-style`, to the style."""


def body_fields(style: str, thinking: ReasoningSettings) -> BodyFields:
    """Return the request fields that ask for this thinking in a style.

    Raises:
        UserError: If the style has no field for this thinking. The message names the alternative.
    """
    try:
        return REQUEST_STYLES[style].make_fields(thinking)
    except _Unknown as error:
        raise UserError(
            f"--thinking-style {style} {error} (see {REQUEST_STYLES[style].documentation_url})."
        ) from None
