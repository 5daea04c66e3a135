"""Flags (suspicions about a pass). They are raised while a trial runs, and copied to the details of its score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.records import Outcome
from benchwright.runs.flags import FLAGS_KEY, Flag

__all__ = ["FLAGS_KEY", "Flag", "flags_of", "with_flags"]


def flags_of(outcome: Outcome) -> list[Flag]:
    """Return the flags that were raised while the trial ran."""
    return msgspec.convert(outcome.artifacts.get(FLAGS_KEY) or [], list[Flag])


def with_flags(details: dict[str, Any], flags: Iterable[Flag]) -> dict[str, Any]:
    """Return score details with the flags added, without duplicates.

    If there are no flags, return the details unchanged.
    """
    told = [msgspec.to_builtins(flag) for flag in dict.fromkeys(flags)]
    return details | {FLAGS_KEY: told} if told else details
