"""Assembly of LiveCodeBench from its rows, prompt and scorer."""

from __future__ import annotations

import datetime
from functools import partial

from benchwright.catalog.asking import AskOnce, PlainBenchmark
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.humaneval.grading import compute_pass_at_ks
from benchwright.catalog.livecodebench.about import DATASET
from benchwright.catalog.livecodebench.cheating_programs import checks
from benchwright.catalog.livecodebench.grading import TestsScorer
from benchwright.catalog.livecodebench.prompts import prompt_messages
from benchwright.catalog.livecodebench.rows import DateWindow, samples
from benchwright.errors import UserError


def make(about: About, options: Options) -> Benchmark:
    """Return the release that `about` describes, limited to the time window in `options`.

    Raises:
        UserError: If a day is not written as YYYY-MM-DD, or the window is empty.
    """
    window = DateWindow(_day(options, "from"), _day(options, "to"))
    if window.first_day and window.last_day and window.first_day > window.last_day:
        raise UserError(
            f"The window is empty: --option from={window.first_day} lies behind to={window.last_day}."
        )
    return PlainBenchmark(
        about=about,
        samples=partial(samples, release=about.variant or DATASET.evaluated_split, window=window),
        solver=AskOnce(prompt_messages),
        scorers=(TestsScorer(about.metric),),
        checks=checks,
        figures=compute_pass_at_ks,
        departures=() if window == DateWindow() else (_said(window),),
    )


def _day(options: Options, name: str) -> datetime.date | None:
    given = options.text(name)
    try:
        return datetime.date.fromisoformat(given) if given else None
    except ValueError:
        raise UserError(f"--option {name} is a day such as 2024-08-01, not {given!r}.") from None


def _said(window: DateWindow) -> str:
    bounds = [
        f"from {window.first_day}" if window.first_day else "",
        f"to {window.last_day}" if window.last_day else "",
    ]
    return f"problems of contests {' '.join(filter(None, bounds))} only: comparable to scores of this window alone"
