"""Probes of thinking: in which field of a response it is, and which request fields turn it off or on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchwright.endpoint.card.examination import EXTRA_THINKING_TOKENS, Examination
from benchwright.endpoint.card.probe_response import ProbeResponse, ResponseContent, read_count
from benchwright.endpoint.card.prober import ProbeUnanswered
from benchwright.endpoint.reasoning_effort import REQUEST_STYLES, ReasoningSettings, body_fields

SUM_QUESTION = "What is 7 + 5? Answer with the number only."
SUM_ANSWER_TOKENS = 48
"""Number of tokens within which a model that does not think has answered the question of `probe_thinking`."""

OPENING_THINKING_TAGS = (
    *("<think>", "<thinking>", "<thought>", "[THINK]", "<seed:think>"),
    *("<|channel|>analysis", "<|channel>thought"),
)
CLOSING_THINKING_TAGS = ("</think>", "</thinking>", "</thought>", "<channel|>", "[/THINK]", "</seed:think>")
"""`OPENING_THINKING_TAGS`: tags that begin the thinking in an answer's text.

`CLOSING_THINKING_TAGS`: tags that end the thinking in an answer's text.
"""

THINKING_OFF_STYLES = ("vllm", "openai", "deepseek", "dashscope", "openrouter")
"""Styles of request fields (see `reasoning_effort.styles`) that are tried in order to turn thinking off."""

THINKING_ON_FIELDS: Mapping[str, Any] = {
    "chat_template_kwargs": {"enable_thinking": True, "thinking": True},
    "reasoning_effort": "low",
}
"""Request fields that turn thinking on in models that do not think by default."""


def thinking_place(answer: ProbeResponse) -> str | None:
    """Return where a response holds its thinking, as the name of an outcome of the line `reasoning`.

    Return None if the response holds no thinking.
    """
    said = answer.content
    if said.reasoning:
        return "field"
    if said.text.lstrip().startswith(OPENING_THINKING_TAGS):
        return "inline"
    if any(mark in said.text for mark in CLOSING_THINKING_TAGS):
        return "only_its_end"
    return "counted" if _is_counted(said) else None


def _is_counted(said: ResponseContent) -> bool:
    """Return True if the response's usage counts the tokens of thinking.

    Such a usage has a separate count of thinking tokens, or a total that is larger than prompt and completion
    tokens together.
    """
    if read_count(said.usage.get("completion_tokens_details"), "reasoning_tokens"):
        return True
    counts = [said.token_count(name) for name in ("total_tokens", "prompt_tokens", "completion_tokens")]
    total, *parts = (count or 0 for count in counts)
    return None not in counts and total > sum(parts)


async def probe_thinking(known: Examination) -> None:
    """Find out whether the model thinks: ask it for a small sum, with enough tokens to think."""
    answer = await known.ask(SUM_QUESTION, EXTRA_THINKING_TOKENS, **known.stream_fields)
    if not answer.is_accepted:
        raise ProbeUnanswered(answer.refusal)
    known.settled = answer
    seen = [each for each in (answer, known.first_response) if thinking_place(each) is not None]
    known.thinks = bool(seen)
    place = thinking_place(seen[0]) if seen else None
    if place == "field":
        known.record_outcome("reasoning", "field", field=seen[0].content.reasoning_field)
    else:
        known.record_outcome("reasoning", place or "none")


async def probe_thinking_switch(known: Examination) -> None:
    """Find out which request fields turn thinking off or on: try the fields of each style until some have an effect."""
    if known.settled is None:
        raise ProbeUnanswered("whether the model thinks is not known")
    if not known.supports_chat:
        known.record_outcome("reasoning_switch", "no_chat")
        return
    tried: list[str] = []
    for way, fields in _ways(known):
        answer = await known.ask(SUM_QUESTION, SUM_ANSWER_TOKENS, **fields)
        tried.append(way)
        if answer.is_accepted and _has_effect(answer, off=known.thinks):
            _note_switch(known, way, fields)
            return
    known.record_outcome("reasoning_switch", "not_off" if known.thinks else "not_on", tried=", ".join(tried))


def _note_switch(known: Examination, way: str, fields: Mapping[str, Any]) -> None:
    """Record the request fields that had an effect on thinking. If they turn thinking off, later probes send them."""
    if known.thinks:
        known.quiet = fields
        known.record_outcome("reasoning_switch", "off", way=way)
        return
    ((name, value),) = fields.items()
    told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    known.record_outcome("reasoning_switch", "on", way=way, param=f"{name}={told}")


def _has_effect(answer: ProbeResponse, *, off: bool) -> bool:
    place = thinking_place(answer)
    if not off:
        return place is not None
    return place is None and bool(answer.content.text.strip()) and answer.content.finish_reason != "length"


def _ways(known: Examination) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, request fields) for each attempt to turn thinking off, or on if the model does not think.

    The server's own style comes first. No style comes twice.
    """
    if not known.thinks:
        for name, value in THINKING_ON_FIELDS.items():
            yield name, {name: value}
        return
    seen: list[Mapping[str, Any]] = []
    own = [name for name in REQUEST_STYLES if name == known.server.name]
    for style in dict.fromkeys([*own, *THINKING_OFF_STYLES]):
        fields = body_fields(style, ReasoningSettings(effort="none"))
        if fields not in seen:
            seen.append(fields)
            yield style, fields
