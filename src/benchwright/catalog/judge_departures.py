"""Departure of a benchmark whose judge model differs from the judge of the published figures."""

from __future__ import annotations

from benchwright.catalog.benchmark import Options


def judge_departures(options: Options, official: str, without: str) -> tuple[str, ...]:
    """Return the departure that the judge causes, as a tuple of at most one sentence.

    Empty for the `official` model. `without` if no judge is set.
    """
    if "judge" not in options.roles:
        return (without,)
    judge = options.text("judge_model")
    if judge == official:
        return ()
    return (f"judged by {judge or 'another model'}; published figures use {official}",)
