"""Flags that are raised while a trial runs, and their way into the details of its scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.records import Outcome
from benchwright.runs.flags import FLAGS, Flag

__all__ = ["FLAGS", "Flag", "flags_of", "with_flags"]


def flags_of(outcome: Outcome) -> list[Flag]:
    """Return the flags that were raised while the trial ran."""
    return msgspec.convert(outcome.artifacts.get(FLAGS) or [], list[Flag])


def with_flags(details: dict[str, Any], flags: Iterable[Flag]) -> dict[str, Any]:
    """Add flags to the details of a score, each once. Without flags, the details are unchanged."""
    told = [msgspec.to_builtins(flag) for flag in dict.fromkeys(flags)]
    return details | {FLAGS: told} if told else details
