"""Runs what was prepared, shows progress, prints the summary, and says what to do next."""

from __future__ import annotations

import click
import msgspec

from benchwright.app.launch import Ended, Launch, launch
from benchwright.app.loop import run_async
from benchwright.app.results import summary_of
from benchwright.cli.options import say
from benchwright.cli.output import print_json, print_summary
from benchwright.cli.progress import TerminalProgress
from benchwright.engine.progress import Progress
from benchwright.engine.run import Listener
from benchwright.engine.summary import RunSummary
from benchwright.reports.text import plain


def run_and_report(request: Launch, *, as_json: bool, quiet: bool) -> int:
    """Returns the exit code: 0 done, 1 stopped early for an error, 130 interrupted."""
    if request.settings.dry_run:
        return _describe(request, as_json=as_json)
    progress = Progress()
    listeners: list[Listener] = [progress] if quiet else [progress, TerminalProgress(progress)]
    ended = run_async(launch(request, listeners, say))
    if ended.result is None and not quiet:
        say("Evaluation already completed (cached). Use --fresh to run it again from scratch.")
    summary = summary_of(ended.directory)
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)
    return _conclude(ended, summary)


def _conclude(ended: Ended, summary: RunSummary) -> int:
    result = ended.result
    say(f"Run: {ended.directory}")
    if result is None or result.finished:
        return 0
    left = (summary.planned or 0) - summary.done
    say(f"Stopped: {plain(result.stop_reason or 'unknown reason')}")
    say(f"{left:,} trials are left. Run the same command again to go on from here.")
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
        click.echo(f"{name.replace('_', ' '):32}{value}")
    say("Nothing was asked (--dry-run).")
    return 0


def _detectable(samples: int) -> float | None:
    """The difference from a model that is right half the time that this many 0/1 samples show (80 % power)."""
    from benchwright.stats.power import detectable_proportion

    rate = detectable_proportion(0.5, samples)
    return None if rate is None else round(rate - 0.5, 4)
