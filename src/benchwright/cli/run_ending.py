"""Last step of all commands that run something: reports how the run ended, and returns the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.analysis.no_scores import remove_shown_reason
from benchwright.analysis.run_figures import cache_figures
from benchwright.analysis.shortfalls import count_failed_trials, too_many_failures_sentence
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.prepared_run import LaunchedRun, PreparedRun
from benchwright.cli.output import say
from benchwright.text import make_safe

STOPPED, INCOMPLETE, INTERRUPTED = 1, 4, 130
"""Exit codes. `STOPPED`: the run stopped early. `INCOMPLETE`: it lacks a wanted figure. `INTERRUPTED`: by Ctrl-C.

See docs/formats.md.
"""

WORSE, UNDECIDED = 3, 5
"""Exit codes of runs with `--until`. `WORSE`: the new model is worse.

`UNDECIDED`: the question is still undecided after all samples.
"""

VERDICT_EXIT_CODES = (UNDECIDED, WORSE)
"""Exit codes that are verdicts of `--until`, from the mildest (undecided) to the worst (worse)."""

ALREADY_DECIDED_MESSAGE = "Already decided. The same command without --until asks the remaining samples."

INTERRUPTION_WORDS = {
    "eval": ("Evaluation interrupted.", "runs"),
    "benchmark": ("Interrupted.", "trials"),
    "pack": ("Interrupted.", "cells"),
}
"""For each kind of run: the message that is printed after an interruption, and the word for trials in that message."""


def report_end(
    prepared: PreparedRun[Any],
    launched: LaunchedRun,
    summary: RunSummary,
    missing: Sequence[str] = (),
    *,
    go_on: str = "Re-run the same command to resume from where you left off.",
    printed: bool = False,
) -> int:
    """Report how the session ended: what failed, what is missing, and what to do. Return the exit code.

    `missing`: missing figures besides those in the summary. `go_on`: how to resume an unfinished run. `printed`: True
    if the summary was printed. Reasons that it contains are then not repeated.
    """
    cache_figures(launched.table, summary)
    result = launched.session_result
    if launched.is_finished or result is None or (summary.decision is not None and summary.decision.over):
        return _judge(prepared, summary, missing, printed=printed) or _by_decision(summary)
    interrupted, trials = INTERRUPTION_WORDS[prepared.request.kind]
    progress = f"Progress: {summary.done:,}/{summary.planned or 0:,} {trials}."
    if result.is_interrupted:
        say(f"{interrupted} {progress}")
    else:
        reason = result.stop_reason or "the run stopped"
        told = remove_shown_reason(reason, summary.targets) if printed else reason
        say(f"Error: {make_safe(told or reason)}")
        if prepared.find_change_reason() is not None:
            return STOPPED
        say(progress)
    if go_on:
        say(go_on)
    return INTERRUPTED if result.is_interrupted else STOPPED


def session_error(launched: LaunchedRun) -> str:
    """Return the error that `report_end` reports if the session was stopped. Return "" if it was not stopped."""
    result = launched.session_result
    stopped = result is not None and not launched.is_finished and not result.is_interrupted
    return result.stop_reason or "" if result is not None and stopped else ""


def _by_decision(summary: RunSummary) -> int:
    if summary.decision is None or summary.decision.is_decided:
        worse = summary.decision is not None and summary.decision.verdict == "worse"
        return WORSE if worse else 0
    return UNDECIDED


def combined_exit_code(codes: Sequence[int]) -> int:
    """Return the exit code of a command with several runs, given the exit code of each run.

    It is the last code that is neither 0 nor a verdict of `--until`. If there is no such code, it is the worst verdict.
    If there is no verdict, it is 0.
    """
    others = [code for code in codes if code and code not in VERDICT_EXIT_CODES]
    verdicts = [code for code in codes if code in VERDICT_EXIT_CODES]
    return others[-1] if others else max(verdicts, key=VERDICT_EXIT_CODES.index, default=0)


def _judge(prepared: PreparedRun[Any], summary: RunSummary, missing: Sequence[str], *, printed: bool) -> int:
    """Report failures and missing figures of a finished run. Return the exit code."""
    failed = sum(count_failed_trials(target.statuses) for target in summary.targets)
    trials = INTERRUPTION_WORDS[prepared.request.kind][1]
    wrong = [
        *summary.shortfalls,
        *missing,
        *too_many_failures_sentence(
            failed, summary.done, prepared.request.settings.limits.max_failures, trials
        ),
    ]
    for sentence in wrong:
        say(f"Error: {make_safe(remove_shown_reason(sentence, summary.targets) if printed else sentence)}")
    if failed and not wrong:
        say(f"Warning: {failed:,} of {summary.done:,} {trials} failed.")
    if failed:
        only = " --errors" if prepared.request.kind == "pack" else ""
        say(f"To repeat only what failed: benchwright retry {summary.run}{only}")
    return INCOMPLETE if wrong else 0


def say_nothing_was_sent() -> None:
    """Print the last line of `--dry-run`, which says that nothing was sent."""
    say("No requests were sent (--dry-run).")
