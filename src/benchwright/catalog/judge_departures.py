"""The departure of a benchmark whose judge model differs from the judge of the published figures."""

from __future__ import annotations

from benchwright.catalog.benchmark import Options


def judge_departures(options: Options, official: str, without: str) -> tuple[str, ...]:
    """Return the departure that the choice of the judge causes, as a tuple of at most one sentence.

    If no judge is set, the sentence is `without`. If the judge is another model than the `official` one, the
    sentence names both models. If the judge is the `official` model, the tuple is empty.
    """
    if "judge" not in options.roles:
        return (without,)
    judge = options.text("judge_model")
    if judge == official:
        return ()
    return (f"judged by {judge or 'another model'}; published figures use {official}",)
