"""What the commands that run something share: saying how it ended."""

from __future__ import annotations

from typing import Any

from benchwright.analysis.summary import RunSummary
from benchwright.app.prepared import LaunchedRun, PreparedRun
from benchwright.cli.options import say
from benchwright.text import plain

INTERRUPTED = 130
"""The exit code of a run that was interrupted; 0 is finished, 1 stopped."""

WORDS = {
    "eval": ("Evaluation interrupted.", "runs"),
    "benchmark": ("Interrupted.", "trials"),
    "pack": ("Interrupted.", "cells"),
}
"""What is said of an interruption, and what trials are called, by the kind of run."""


def conclude(prepared: PreparedRun[Any], launched: LaunchedRun, summary: RunSummary) -> int:
    """Says how a session that did not finish ended, and what to do; returns the exit code."""
    result = launched.result
    if result is None or result.finished:
        return 0
    interrupted, trials = WORDS[prepared.request.kind]
    progress = f"Progress: {summary.done:,}/{summary.planned or 0:,} {trials}."
    if result.interrupted:
        say(f"{interrupted} {progress}")
    else:
        say(f"Error: {plain(result.stop_reason or 'the run stopped')}")
        if prepared.changed() is not None:
            return 1
        say(progress)
    say("Re-run the same command to resume from where you left off.")
    return INTERRUPTED if result.interrupted else 1


def say_nothing_was_sent() -> None:
    """The last line of `--dry-run`."""
    say("No requests were sent (--dry-run).")
