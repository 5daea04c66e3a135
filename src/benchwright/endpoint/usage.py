"""Token counts of a response, from the `usage` objects that servers send."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from benchwright.records import MAX_COUNT, NO_USAGE, Usage

_SIDES = frozenset({"prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens"})


class TotalTokensGap(NamedTuple):
    """The number of tokens by which `total_tokens` exceeds the sum of prompt and completion tokens.

    `are_reasoning_tokens`: True if these tokens count as reasoning tokens. False if another count of the same usage,
    such as that of a prompt cache, explains these tokens.
    """

    tokens: int
    are_reasoning_tokens: bool


def read_usage(usage: Any) -> Usage:
    """Return the token counts of a response's `usage` object.

    Counts that are missing, invalid or too large are None.

    Reasoning tokens are a part of the completion tokens. Some servers (xAI's) count them separately, and
    others (gateways before Gemini) include them only in `total_tokens`. In both cases the reasoning tokens
    are added to the completion tokens, so that the count means the same everywhere. A count of cached tokens
    that is above the count of prompt tokens is invalid.
    """
    if not isinstance(usage, dict):
        return NO_USAGE
    prompt, completion = _sides(usage)
    cached, reasoning = _cached(usage), _reasoning(usage)
    if completion is not None and reasoning:
        total = _count(usage.get("total_tokens"))
        if reasoning > completion or total == (prompt or 0) + completion + reasoning:
            completion += reasoning
    elif completion is not None and (gap := total_gap(usage)) and gap.are_reasoning_tokens:
        completion, reasoning = completion + gap.tokens, gap.tokens
    if cached is not None and prompt is not None and cached > prompt:
        cached = None
    return Usage(
        prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, reasoning_tokens=reasoning
    )


def total_gap(usage: Any) -> TotalTokensGap | None:
    """Return the number of tokens by which `total_tokens` exceeds the sum of prompt and completion tokens.

    Return None if it does not exceed that sum, or if reasoning tokens are counted.
    """
    if not isinstance(usage, dict):
        return None
    total, (prompt, completion) = _count(usage.get("total_tokens")), _sides(usage)
    if total is None or prompt is None or completion is None or total <= prompt + completion:
        return None
    gap = total - prompt - completion
    counts = dict(_counts(usage))
    if any(value for name, value in counts.items() if name.endswith("reasoning_tokens")):
        return None
    others = [value for name, value in counts.items() if name not in _SIDES]
    return TotalTokensGap(gap, gap not in others and gap != sum(others))


def with_reasoning_estimate(usage: Usage, reasoning: str, rest: str) -> Usage:
    """Return the usage, with an estimate of the reasoning tokens if reasoning was sent but not counted.

    A count of 0 for reasoning that was sent is treated as not counted.
    """
    if usage.reasoning_tokens or not reasoning or usage.completion_tokens is None:
        return usage
    share = len(reasoning) / (len(reasoning) + len(rest))
    estimate = round(usage.completion_tokens * share)
    return msgspec.structs.replace(usage, reasoning_tokens=None, estimated_reasoning_tokens=estimate)


def _sides(usage: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the numbers of (prompt tokens, completion tokens). Each is None if unknown.

    The numbers may also be in Anthropic's fields, which some gateways send.
    """
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None:
        prompt = _count(usage.get("input_tokens"))
    if completion is None:
        completion = _count(usage.get("output_tokens"))
    return prompt, completion


def _cached(usage: dict[str, Any]) -> int | None:
    """Return the number of cached tokens. Return None if it is unknown.

    The number may also be in the fields of Moonshot, DeepSeek and Anthropic.
    """
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    for name in (
        () if cached is not None else ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    ):
        if name in usage:
            return _count(usage[name])
    return cached


def _reasoning(usage: dict[str, Any]) -> int | None:
    """Return the number of reasoning tokens. Return None if it is unknown.

    SGLang sends the number outside of the details, and sends 0 if it does not count reasoning tokens.
    """
    details = usage.get("completion_tokens_details")
    reasoning = _count(details.get("reasoning_tokens")) if isinstance(details, dict) else None
    if reasoning is None and "reasoning_tokens" in usage:
        return _count(usage["reasoning_tokens"]) or None
    return reasoning


def _counts(usage: dict[str, Any]) -> list[tuple[str, int]]:
    """Return (name, value) of each count in a usage object, including its details."""
    nested = [pair for value in usage.values() if isinstance(value, dict) for pair in value.items()]
    return [
        (name, count) for name, value in (*usage.items(), *nested) if (count := _count(value)) is not None
    ]


def _count(value: Any) -> int | None:
    if type(value) is int:
        return value if 0 <= value <= MAX_COUNT else None
    return _count(int(value)) if type(value) is float and value.is_integer() else None
