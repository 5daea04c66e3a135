"""Runs tasks of other evaluation programs, and shows their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.analysis.quality_and_speed.run_views import run_with_views
from benchwright.analysis.shortfalls import count_failed_trials, too_many_failures_sentence
from benchwright.app.event_loop import run_async
from benchwright.app.external_programs import run_external_task
from benchwright.cli.output import echo, print_json, print_summary, say
from benchwright.cli.run_ending import INCOMPLETE, INTERRUPTED, STOPPED
from benchwright.config import BenchmarkSettings
from benchwright.text import make_safe, say_once


def run_foreign_tasks(
    names: Sequence[str], settings: BenchmarkSettings, *, as_json: bool, quiet: bool
) -> int:
    """Run tasks of other evaluation programs one after another. Return the exit code.

    0: done; 1: stopped; 4: incomplete; 130: interrupted.
    """
    from benchwright.analysis.comparison.sides_from_table import RunSides

    found: list[Any] = []
    told = say_once(say)
    code = 0
    for name in names:
        ended = run_async(run_external_task(name, settings, (lambda line: None) if quiet else told))
        for directory in ended.run_directories:
            summary = run_with_views(RunSides(directory, str(directory)))
            found.append(summary)
            if not as_json:
                print_summary(summary)
                echo()
            failed = sum(count_failed_trials(target.statuses) for target in summary.targets)
            for sentence in (
                *summary.shortfalls,
                *too_many_failures_sentence(failed, summary.done, settings.limits.max_failures, "trials"),
            ):
                say(f"Error: {make_safe(sentence)}")
                code = INCOMPLETE
            say(f"Run: {summary.run}")
        if ended.failure is not None:
            say(f"Error: {make_safe(ended.failure)}")
        if ended.was_interrupted or ended.failure is not None:
            code = INTERRUPTED if ended.was_interrupted else STOPPED
            break
    if as_json:
        print_json({"runs": found})
    return code
