"""Suggests what a misspelt name may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the nearest known name, whatever its case; empty where none is near."""
    from difflib import get_close_matches

    spelled = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f" Did you mean '{spelled[close[0]]}'?" if close else ""
