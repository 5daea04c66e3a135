"""Flags that requests get on their way, besides those of what reads them."""

from __future__ import annotations

from collections.abc import Sequence

TRANSLATED = "translated"
"""Flag of a request in another dialect than the target's."""

UNDECIDED = "dialect_undecided"
"""Flag of a translated request of which nobody knows whether the target would have understood it as it was."""

WITHOUT = "without:"
"""Begins the flag of a request that left out a header or a field which the server had refused; its name follows."""


def left_out_of(flags: Sequence[str]) -> list[str]:
    """Return the names of what a request with these flags left out."""
    return [flag.removeprefix(WITHOUT) for flag in flags if flag.startswith(WITHOUT)]


NARROWED = "narrowed"
"""Flag of a request from whose refusal that was learned. It enters no timing."""
