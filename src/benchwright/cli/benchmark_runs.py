"""Runs benchmarks one after the other: progress, a table and a result file for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from benchwright.app.benchmark_results import BenchmarkReport, report
from benchwright.app.benchmarks import BenchmarkRun, prepare_benchmark
from benchwright.app.launch import Ended
from benchwright.app.loop import run_async
from benchwright.app.prometheus import Scrape
from benchwright.cli.output import print_json, print_table
from benchwright.cli.progress import TerminalProgress
from benchwright.config import BenchmarkSettings
from benchwright.engine.progress import Progress
from benchwright.engine.run import Listener
from benchwright.text import Say, plain


def run_benchmarks(
    names: Sequence[str], settings: BenchmarkSettings, say: Say, *, as_json: bool, quiet: bool
) -> int:
    """Checks all benchmarks, then runs one after the other; the exit code: 0 done, 1 stopped, 130 interrupted."""
    runs = [prepare_benchmark(name, settings, say) for name in names]
    if settings.dry_run:
        return _describe(runs, as_json=as_json)
    reports: list[BenchmarkReport] = []
    code = 0
    for run in runs:
        code, made = _run(run, say, as_json=as_json, quiet=quiet)
        reports.append(made)
        if code:
            break
    if as_json:
        print_json({"benchmarks": [_plain(made) for made in reports]})
    return code


def _run(run: BenchmarkRun, say: Say, *, as_json: bool, quiet: bool) -> tuple[int, BenchmarkReport]:
    progress = Progress()
    listeners: list[Listener] = [progress]
    if not quiet:
        title = f"{run.benchmark.about.full_name}: {run.request.plan.trial_count:,} trials"
        listeners.append(
            TerminalProgress(progress, title, each_trial=False, what=run.benchmark.about.full_name)
        )
    ended, metrics = run_async(_launch(run, listeners, say))
    finished = ended.result is None or ended.result.finished
    made = report(run, ended.table, finished=finished, more=metrics)
    if not as_json and not quiet:
        _print(made)
    if made.path is not None:
        say(f"Results: {made.path}")
    return _conclude(ended, made, say), made


async def _launch(run: BenchmarkRun, listeners: Sequence[Listener], say: Say) -> tuple[Ended, dict[str, Any]]:
    settings = run.settings
    if not settings.scrape_prometheus:
        return await run.launch(listeners, say), {}
    scrape = Scrape(run.request.plan.targets[0].base_url, settings.prometheus_url, say)
    await scrape.begin()
    ended = await run.launch(listeners, say)
    return ended, await scrape.end()


def _print(made: BenchmarkReport) -> None:
    from benchwright.reports.benchmark import render_benchmark
    from benchwright.reports.summary import render_summary

    print_table(render_summary(made.summary))
    click.echo()
    print_table(render_benchmark(made.manifest.about, made.totals, made.figures, made.summary))


def _conclude(ended: Ended, made: BenchmarkReport, say: Say) -> int:
    result = ended.result
    if result is None or result.finished:
        return 0
    progress = f"Progress: {made.summary.done:,}/{made.summary.planned or 0:,} trials."
    if result.interrupted:
        say(f"Interrupted. {progress}")
    else:
        say(f"Error: {plain(result.stop_reason or 'the run stopped')}")
        say(progress)
    say("Re-run the same command to resume from where you left off.")
    return 130 if result.interrupted else 1


def _plain(made: BenchmarkReport) -> dict[str, Any]:
    return {
        "benchmark": made.manifest.about["benchmark"],
        "variant": made.manifest.about["variant"],
        "accuracy": made.totals.accuracy,
        "totals": made.totals,
        "figures": made.figures,
        "about": made.manifest.about,
        "summary": made.summary,
        "path": None if made.path is None else str(made.path),
    }


def _describe(runs: Sequence[BenchmarkRun], *, as_json: bool) -> int:
    described = [
        {
            "benchmark": run.benchmark.about.full_name,
            "trials": run.request.plan.trial_count,
            "data": run.request.about["data"],
            "departures": run.request.about["departures"],
            "targets": [
                {"slot": target.slot, "model": target.model, "base_url": target.base_url, **target.settings}
                for target in [*run.request.plan.targets, *run.request.plan.helpers]
            ],
        }
        for run in runs
    ]
    if as_json:
        print_json({"benchmarks": described})
        return 0
    for run, facts in zip(runs, described, strict=True):
        data = run.request.data[0]
        click.echo(f"{facts['benchmark']}: {facts['trials']:,} trials, data from {data.path}")
        for departure in run.request.about["departures"]:
            click.echo(f"  not comparable to published scores: {departure}")
    click.echo("No requests were sent (--dry-run).", err=True)
    return 0
