"""Flags that are raised while a trial runs, and how they come into the details of its scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.records import Outcome
from benchwright.runs.flags import FLAGS, Flag

__all__ = ["FLAGS", "Flag", "flags_of", "with_flags"]


def flags_of(outcome: Outcome) -> list[Flag]:
    """The flags that were raised while the trial ran."""
    return msgspec.convert(outcome.artifacts.get(FLAGS) or [], list[Flag])


def with_flags(details: dict[str, Any], flags: Iterable[Flag]) -> dict[str, Any]:
    """The details of a score with these flags, each once; unchanged where there are none."""
    told = [msgspec.to_builtins(flag) for flag in dict.fromkeys(flags)]
    return details | {FLAGS: told} if told else details
