"""Departures of benchmarks whose judge is not the judge of published figures."""

from __future__ import annotations

from benchwright.catalog.benchmark import Options


def judge_departures(options: Options, official: str, without: str) -> tuple[str, ...]:
    """Return the judge's departure: none for the official model, `without` if there is no judge."""
    if "judge" not in options.roles:
        return (without,)
    judge = options.text("judge_model")
    if judge == official:
        return ()
    return (f"judged by {judge or 'another model'}; published figures use {official}",)
