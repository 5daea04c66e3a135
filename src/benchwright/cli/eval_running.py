"""Runs an evaluation, and prints its progress, its summary, and what to do next.

All output goes to stdout, as documented. With `--json`, only the JSON object goes to stdout.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from benchwright.app.evaluate import EvalReport, prepare_eval
from benchwright.app.judging.labelling import labels_for
from benchwright.app.launch import launch
from benchwright.app.loop import run_async
from benchwright.app.prepared import PreparedRun, describe_run
from benchwright.cli.judge_labelling import take_labels
from benchwright.cli.noise import print_noise
from benchwright.cli.output import echo, print_json, print_summary, results_on_stdout, say
from benchwright.cli.output_lines import header_lines, size_text
from benchwright.cli.progress import TerminalProgress
from benchwright.cli.run_ending import DECIDED_MESSAGE, error_of, report_end, say_nothing_was_sent
from benchwright.config import EvalSettings
from benchwright.engine.progress import LiveProgress
from benchwright.engine.run import Listener
from benchwright.text import make_safe

CACHED_MESSAGE = "Evaluation already completed (cached)."


def run_eval(settings: EvalSettings, *, as_json: bool, quiet: bool) -> int:
    """Run an evaluation. Return the exit code; see `run_ending.report_end`."""
    with results_on_stdout(as_json=as_json):
        prepared = prepare_eval(settings, say)
        labels = labels_for(prepared, settings.judge.judge_labels)
    if settings.execution.dry_run:
        return _print_description(describe_run(prepared), as_json=as_json)
    tell = partial(echo, err=as_json)
    progress = LiveProgress()
    listeners: list[Listener] = [progress]
    if not quiet:
        listeners.append(_introduce(prepared, settings, progress, as_json=as_json))
    with results_on_stdout(as_json=as_json):
        launched = run_async(launch(prepared, listeners, say))
        labelled = take_labels(prepared, launched, labels, settings.judge.judge_labels, quiet=quiet)
    report = prepared.report(launched)
    if launched.result is None and not quiet:
        tell(CACHED_MESSAGE if launched.finished else DECIDED_MESSAGE)
    if as_json:
        print_json(report.summary)
    else:
        if not quiet:
            tell("")
        print_summary(report.summary, error_of(launched))
    for path in report.write_files():
        say(f"Written: {path}")
    if not quiet:
        tell(f"Run: {launched.directory}")
        tell(f"Cache: {report.cache_entry}")
        if launched.result is None:
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
    size = size_text(plan.samples, plan.repeats, len(plan.targets), settings.execution.concurrency)
    return TerminalProgress(
        progress,
        f"Running {doing} {size}...",
        prepared.resume_note,
        each_trial=not as_json,
        names=prepared.request.names,
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
