"""Runs what was prepared, shows progress, prints the summary, and says what to do next."""

from __future__ import annotations

import click
import msgspec

from benchwright.analysis.summary import RunSummary, summarise
from benchwright.app.evaluate import EvalRun
from benchwright.app.launch import Ended, Launch
from benchwright.app.loop import run_async
from benchwright.cli.lines import header_lines, size_text
from benchwright.cli.options import say
from benchwright.cli.output import print_json, print_summary, results_on_stdout
from benchwright.cli.progress import TerminalProgress
from benchwright.engine.progress import Progress
from benchwright.engine.run import Listener
from benchwright.runs.manifest import read_manifest
from benchwright.text import plain


def run_and_report(run: EvalRun, *, as_json: bool, quiet: bool) -> int:
    """Returns the exit code: 0 done, 1 stopped early for an error, 130 interrupted."""
    if run.settings.dry_run:
        return _describe(run.request, as_json=as_json)
    progress = Progress()
    listeners: list[Listener] = [progress]
    if not quiet:
        listeners.append(_introduce(run, progress, as_json=as_json))
    with results_on_stdout(as_json=as_json):
        ended = run_async(run.launch(listeners, say))
    if ended.result is None and not quiet:
        say("Evaluation already completed (cached).")
    summary = summarise(read_manifest(ended.directory), ended.table)
    if as_json:
        print_json(summary)
    elif not quiet:
        say("")
        print_summary(summary)
    for path in run.write_outputs(ended):
        say(f"Written: {path}")
    return _conclude(run, ended, summary, quiet=quiet)


def _introduce(run: EvalRun, progress: Progress, *, as_json: bool) -> TerminalProgress:
    """Says what is about to be run; returns what shows how it goes."""
    settings, plan = run.settings, run.request.plan
    program = click.get_current_context().find_root().info_name
    command, doing = ("bench", "benchmark") if settings.anew else ("eval", "evaluation")
    for line in header_lines(f"{program}-{command}", settings):
        say(line)
    say("")
    size = size_text(plan.samples, plan.repeats, len(plan.targets), settings.concurrency)
    return TerminalProgress(
        progress,
        f"Running {doing} {size}...",
        run.coverage_note,
        each_trial=not as_json,
        tagged=len(plan.targets) > 1,
    )


def _conclude(run: EvalRun, ended: Ended, summary: RunSummary, *, quiet: bool) -> int:
    result = ended.result
    if not quiet:
        say(f"Run: {ended.directory}")
        say(f"Cache: {run.shelf.entry_path}")
    if result is None:
        if not quiet:
            say("Use --fresh to re-run from scratch.")
        return 0
    if result.finished:
        return 0
    progress = f"Progress: {summary.done:,}/{summary.planned or 0:,} runs."
    if result.interrupted:
        say(f"Evaluation interrupted. {progress}")
    else:
        say(f"Error: {plain(result.stop_reason or 'the run stopped')}")
        if run.unchanged.reason() is not None:
            return 1
        say(progress)
    say("Re-run the same command to resume from where you left off.")
    return 130 if result.interrupted else 1


def _describe(request: Launch, *, as_json: bool) -> int:
    plan = request.plan
    trials = plan.trial_count
    facts = {
        "task": plan.task.spec.name,
        "samples": plan.samples,
        "repeats": plan.repeats,
        "targets": [
            {"slot": target.slot, "model": target.model, "base_url": target.base_url}
            for target in plan.targets
        ],
        "trials": trials,
        "scorers": [scorer.name for scorer in plan.task.scorers],
        "concurrency": request.settings.concurrency,
        "limits": msgspec.to_builtins(plan.limits),
        "smallest_detectable_difference": _detectable(plan.samples),
    }
    if as_json:
        print_json(facts)
        return 0
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):32}{_plainly(value)}")
    say("No requests were sent (--dry-run).")
    return 0


def _plainly(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plainly(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_plainly(item) for item in value)
    return plain(str(value))


def _detectable(samples: int) -> float | None:
    """The difference from a model that is right half the time that this many 0/1 samples show (80 % power)."""
    from benchwright.stats.power import detectable_proportion

    rate = detectable_proportion(0.5, samples)
    return None if rate is None else round(rate - 0.5, 4)
