"""What benchmarks say of a judge that is not the one of published figures."""

from __future__ import annotations

from benchwright.catalog.benchmark import Options


def judge_departures(options: Options, official: str, without: str) -> tuple[str, ...]:
    """Nothing if the official model judges, `without` if there is no judge, else that another one does."""
    if "judge" not in options.roles:
        return (without,)
    judge = options.text("judge_model")
    if judge == official:
        return ()
    return (f"judged by {judge or 'another model'}; published figures use {official}",)
