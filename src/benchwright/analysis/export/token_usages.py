"""Token counts as Inspect, and the formats that follow Inspect, write them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchwright.records import Usage


def sum_of_usages(usages: Sequence[Usage]) -> Usage:
    """Sum the known token counts. A count that no server reported stays unknown."""
    fields = msgspec.structs.fields(Usage)
    known = {
        field.name: [count for one in usages if (count := getattr(one, field.name)) is not None]
        for field in fields
    }
    return Usage(**{name: sum(counts) for name, counts in known.items() if counts})


def token_counts(usage: Usage) -> dict[str, int]:
    """Return the token counts under Inspect's names. The input count excludes cached tokens."""
    cached = usage.cached_tokens or 0
    found = {
        "input_tokens": max(0, (usage.prompt_tokens or 0) - cached),
        "output_tokens": usage.completion_tokens or 0,
        "total_tokens": usage.total_tokens,
    }
    if usage.cached_tokens is not None:
        found["input_tokens_cache_read"] = cached
    if usage.reasoning_tokens is not None:
        found["reasoning_tokens"] = usage.reasoning_tokens
    return found
