"""Stores people's labels of a run's answers once the run is finished, and corrects its judge's score by them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.app.event_loop import run_async
from benchwright.app.judging.labelling import label_run
from benchwright.app.judging.labels_file import HumanLabel
from benchwright.app.prepared_run import LaunchedRun, PreparedRun
from benchwright.cli.output import say
from benchwright.cli.progress import TerminalProgress
from benchwright.cli.run_ending import INTERRUPTED, STOPPED
from benchwright.engine.progress import LiveProgress
from benchwright.engine.run import RunResult
from benchwright.formats import count_with_noun
from benchwright.text import make_safe


def label_finished_run(
    prepared: PreparedRun[Any],
    launched: LaunchedRun,
    labels: Sequence[HumanLabel],
    path: Path | None,
    *,
    quiet: bool,
) -> int:
    """Store people's labels of judged answers with a run, once it is finished. Return the exit code.

    The exit code is not 0 if the judge could not be asked about all labelled answers.
    """
    if path is None or not launched.is_finished:
        return 0
    return report_judging(label_answers(prepared, launched.directory, labels, path, quiet=quiet))


def label_answers(
    prepared: PreparedRun[Any], directory: Path, labels: Sequence[HumanLabel], path: Path, *, quiet: bool
) -> RunResult | None:
    """Store people's labels of judged answers with a run.

    If some answers are not from the run, the judge is asked about them, and the result is returned. Return None
    otherwise.
    """
    listeners = (
        [] if quiet else judging_listeners(f"Asking the judge about {count_with_noun(len(labels), 'answer')}")
    )
    return run_async(label_run(prepared, directory, labels, path.name, listeners, say))


def judging_listeners(title: str) -> list[Any]:
    """Return listeners that display the judge's progress."""
    progress = LiveProgress()
    return [progress, TerminalProgress(progress, title, each_trial=False, what="judging")]


def report_judging(result: RunResult | None) -> int:
    """Return the exit code of asking the judge. Report the reason if the judge was not asked about all answers."""
    if result is None or result.is_finished:
        return 0
    say(f"Error: {make_safe(result.stop_reason or 'the judge was not asked to the end')}")
    say("Re-run the same command to resume from where you left off.")
    return INTERRUPTED if result.is_interrupted else STOPPED
