"""Runs benchmarks one after another. For each benchmark, shows the progress and a table, and writes a result file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.app.benchmark_results import BenchmarkReport
from benchwright.app.benchmarks import prepare_benchmark
from benchwright.app.cost_estimate import estimate_cost
from benchwright.app.event_loop import run_async
from benchwright.app.judging.labelling import read_labels_for_run
from benchwright.app.judging.labels_file import HumanLabel
from benchwright.app.launch import launch_run
from benchwright.app.prepared_run import PreparedRun, describe_run
from benchwright.app.shared_options import BenchmarkWithOptions, settings_of_each_benchmark
from benchwright.app.until.question import settings_with_shared_error
from benchwright.cli.cost_options import NO_RATES, CostRates
from benchwright.cli.judge_labelling import label_finished_run
from benchwright.cli.noise import print_noise
from benchwright.cli.output import echo, print_json, print_table, say
from benchwright.cli.progress import TerminalProgress
from benchwright.cli.run_ending import (
    VERDICT_EXIT_CODES,
    combined_exit_code,
    report_end,
    say_nothing_was_sent,
    session_error,
)
from benchwright.config import BenchmarkSettings
from benchwright.engine.progress import LiveProgress
from benchwright.engine.run import RunListener
from benchwright.formats import count_with_noun
from benchwright.reports.cost import cost_lines
from benchwright.text import make_safe, say_once


def run_benchmarks(
    names: Sequence[str],
    settings: BenchmarkSettings,
    rates: CostRates = NO_RATES,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check all benchmarks, then run one after another. Return the exit code; see `run_ending.combined_exit_code`."""
    settings = settings_with_shared_error(settings, len(names))
    alone = settings.catalog.option if len(names) == 1 else ()
    each = settings_of_each_benchmark([BenchmarkWithOptions(name, settings, alone) for name in names])
    told = say_once(say)
    runs = [prepare_benchmark(name, own, told) for name, own in zip(names, each, strict=True)]
    labels = [read_labels_for_run(prepared, settings.judge.judge_labels) for prepared in runs]
    if settings.execution.dry_run:
        return _describe(runs, rates, as_json=as_json)
    reports: list[BenchmarkReport] = []
    codes: list[int] = []
    for prepared, given in zip(runs, labels, strict=True):
        code, found = _run(prepared, given, settings.judge.judge_labels, as_json=as_json, quiet=quiet)
        reports += found
        codes.append(code)
        if code and code not in VERDICT_EXIT_CODES:
            break
    if as_json:
        print_json({"benchmarks": [_plain(report) for report in reports]})
    return combined_exit_code(codes)


def _run(
    prepared: PreparedRun[list[BenchmarkReport]],
    labels: Sequence[HumanLabel],
    labels_path: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> tuple[int, list[BenchmarkReport]]:
    progress = LiveProgress()
    listeners: list[RunListener] = [progress]
    if not quiet:
        name = prepared.description_facts["benchmark"]
        title = f"{name}: {count_with_noun(prepared.request.plan.trial_count, 'trial')}"
        names = prepared.request.display_names
        listeners.append(TerminalProgress(progress, title, each_trial=False, what=name, names=names))
    launched = run_async(launch_run(prepared, listeners, say))
    labelled = label_finished_run(prepared, launched, labels, labels_path, quiet=quiet)
    reports = prepared.write_report(launched)
    if not as_json:
        _print(reports, session_error(launched))
    for report in reports:
        if report.path is not None:
            say(f"Results: {report.path}")
    code = report_end(prepared, launched, reports[0].summary, printed=not as_json)
    return code or labelled, reports


def _print(reports: Sequence[BenchmarkReport], said: str) -> None:
    from benchwright.reports.benchmark import render_benchmark
    from benchwright.reports.summary import render_summary

    print_table(render_summary(reports[0].summary, said))
    for report in reports:
        echo()
        if len(reports) > 1:
            echo(make_safe(report.model))
        print_table(render_benchmark(report.manifest.about, report.totals, report.figures, report.target))


def _plain(report: BenchmarkReport) -> dict[str, Any]:
    return {
        "benchmark": report.manifest.about["benchmark"],
        "variant": report.manifest.about["variant"],
        "model": report.model,
        "accuracy": report.totals.documented_accuracy,
        "totals": report.totals,
        "figures": report.figures,
        "about": report.manifest.about,
        "summary": report.summary,
        "path": None if report.path is None else str(report.path),
    }


def _describe(runs: Sequence[PreparedRun[list[BenchmarkReport]]], rates: CostRates, *, as_json: bool) -> int:
    from rich.padding import Padding

    from benchwright.reports.benchmark import render_departures

    described = [describe_run(prepared) | {"cost": estimate_cost(prepared, *rates)} for prepared in runs]
    if as_json:
        print_json({"benchmarks": described})
        return 0
    for prepared, facts in zip(runs, described, strict=True):
        trials, data = prepared.request.plan.trial_count, prepared.request.data_files[0]
        echo(
            f"{prepared.description_facts['benchmark']}: {count_with_noun(trials, 'trial')}, data from {data.path}"
        )
        for line in cost_lines(facts["cost"]):
            echo(f"  {line}")
        if departures := prepared.description_facts["departures"]:
            print_table(Padding(render_departures(departures), (0, 0, 0, 2)))
        if "noise" in facts:
            print_noise(facts["noise"])
    say_nothing_was_sent()
    return 0
