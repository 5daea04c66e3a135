"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` with the known name that is nearest to `name`, ignoring case.

    Empty if none is near.
    """
    from difflib import get_close_matches

    spelled = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f" Did you mean '{spelled[close[0]]}'?" if close else ""
