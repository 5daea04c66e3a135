"""Runs an evaluation, and prints its progress, its summary, and what to do next.

All output goes to stdout, as documented. With `--json`, only the JSON object goes to stdout.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from benchwright.app.evaluate import EvalReport, prepare_eval
from benchwright.app.event_loop import run_async
from benchwright.app.judging.labelling import read_labels_for_run
from benchwright.app.launch import launch_run
from benchwright.app.prepared_run import PreparedRun, describe_run
from benchwright.cli.judge_labelling import label_finished_run
from benchwright.cli.noise import print_noise
from benchwright.cli.output import echo, print_json, print_summary, results_on_stdout, say
from benchwright.cli.output_lines import header_lines, run_size_text
from benchwright.cli.progress import TerminalProgress
from benchwright.cli.run_ending import (
    ALREADY_DECIDED_MESSAGE,
    report_end,
    say_nothing_was_sent,
    session_error,
)
from benchwright.config import EvalSettings
from benchwright.engine.progress import LiveProgress
from benchwright.engine.run import RunListener
from benchwright.text import make_safe

ALREADY_CACHED_MESSAGE = "Evaluation already completed (cached)."


def run_eval(settings: EvalSettings, *, as_json: bool, quiet: bool) -> int:
    """Run an evaluation. Return the exit code; see `run_ending.report_end`."""
    with results_on_stdout(as_json=as_json):
        prepared = prepare_eval(settings, say)
        labels = read_labels_for_run(prepared, settings.judge.judge_labels)
    if settings.execution.dry_run:
        return _print_description(describe_run(prepared), as_json=as_json)
    tell = partial(echo, err=as_json)
    progress = LiveProgress()
    listeners: list[RunListener] = [progress]
    if not quiet:
        listeners.append(_introduce(prepared, settings, progress, as_json=as_json))
    with results_on_stdout(as_json=as_json):
        launched = run_async(launch_run(prepared, listeners, say))
        labelled = label_finished_run(prepared, launched, labels, settings.judge.judge_labels, quiet=quiet)
    report = prepared.write_report(launched)
    if launched.session_result is None and not quiet:
        tell(ALREADY_CACHED_MESSAGE if launched.is_finished else ALREADY_DECIDED_MESSAGE)
    if as_json:
        print_json(report.summary)
    else:
        if not quiet:
            tell("")
        print_summary(report.summary, session_error(launched))
    for path in report.write_files():
        say(f"Written: {path}")
    if not quiet:
        tell(f"Run: {launched.directory}")
        tell(f"Cache: {report.cache_entry}")
        if launched.session_result is None:
            tell("Use --fresh to re-run from scratch.")
    return report_end(prepared, launched, report.summary, printed=not as_json) or labelled


def _introduce(
    prepared: PreparedRun[EvalReport], settings: EvalSettings, progress: LiveProgress, *, as_json: bool
) -> TerminalProgress:
    """Print which evaluation is about to run. Return the progress display."""
    plan = prepared.request.plan
    program = click.get_current_context().find_root().info_name
    command, doing = ("bench", "benchmark") if settings.resuming.anew else ("eval", "evaluation")
    for line in header_lines(f"{program}-{command}", settings):
        echo(line, err=as_json)
    echo("", err=as_json)
    size = run_size_text(plan.sample_count, plan.repeats, len(plan.targets), settings.execution.concurrency)
    return TerminalProgress(
        progress,
        f"Running {doing} {size}...",
        prepared.resume_note,
        each_trial=not as_json,
        names=prepared.request.display_names,
        err=as_json,
    )


def _print_description(facts: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(facts)
        return 0
    noise = facts.pop("noise", None)
    for name, value in facts.items():
        echo(f"{name.replace('_', ' '):32}{_plainly(value)}")
    if noise:
        echo("")
        print_noise(noise)
    say_nothing_was_sent()
    return 0


def _plainly(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plainly(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_plainly(item) for item in value)
    return make_safe(str(value))
