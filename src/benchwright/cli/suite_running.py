"""Runs a suite. Prints a result line for each run, and a table of all runs at the end."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from benchwright.analysis.cost import Cost, total_cost
from benchwright.analysis.run_figures import run_figures_of
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.cost_estimate import estimate_cost
from benchwright.app.evaluate import EvalReport
from benchwright.app.event_loop import run_async
from benchwright.app.launch import launch_run
from benchwright.app.pack_observer import PackObserver
from benchwright.app.packs import PackReport, describe_pack_run, prepare_pack
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, describe_run
from benchwright.app.run_lookup.unfinished_runs import is_reported
from benchwright.app.suite_session import (
    SuiteOutcome,
    SuitePart,
    SuiteRun,
    find_problems,
    prepare_part,
    run_all_parts,
)
from benchwright.app.suites import Suite
from benchwright.cli.cost_options import NO_RATES, CostRates
from benchwright.cli.output import echo, print_json, print_table, results_on_stdout, say
from benchwright.cli.pack_running import unscored_messages
from benchwright.cli.progress import TerminalProgress
from benchwright.cli.run_ending import INCOMPLETE, INTERRUPTED, STOPPED, report_end, say_nothing_was_sent
from benchwright.cli.table import leaderboard_of_suite, print_leaderboard
from benchwright.config import ModelEntry, PackSettings, Settings
from benchwright.engine.progress import LiveProgress
from benchwright.engine.run import RunListener
from benchwright.errors import BenchwrightError
from benchwright.formats import count_with_noun, format_duration
from benchwright.reports.comparison.sentences import ExternalText, Line
from benchwright.reports.cost import PartCost, render_costs
from benchwright.reports.run_list import score_text
from benchwright.runs.manifest import read_manifest
from benchwright.text import make_safe, say_once

EXIT_CODES: Mapping[SuiteOutcome, int] = {
    "interrupted": INTERRUPTED, "failed": STOPPED, "stopped": STOPPED, "incomplete": INCOMPLETE,
}  # fmt: skip
"""Mapping from the outcome of a run to the exit code, the most serious outcome first."""

OUTCOMES_BY_EXIT_CODE: Mapping[int, SuiteOutcome] = {
    INTERRUPTED: "interrupted",
    STOPPED: "stopped",
    INCOMPLETE: "incomplete",
}
"""Mapping from the exit code of a run to its outcome."""


def run_suite(
    suite: Suite,
    parts: Sequence[SuitePart],
    rates: CostRates = NO_RATES,
    *,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the parts of a suite that are not finished. Return the exit code.

    Exit codes: 0 if all parts are done, 1 or 4 if some are not, and 130 after an interruption.
    """
    if suite.missing_benchmarks:
        say(
            f"Not in this version, and left out of {suite.given_name}: {', '.join(suite.missing_benchmarks)}."
        )
    with results_on_stdout(as_json=as_json):
        problems = find_problems(parts, say_once(say))
    for name, problem in problems.items():
        say(f"Error: {make_safe(name)}: {problem}")
    if dry_run:
        return _describe(suite, parts, problems, rates, as_json=as_json)
    count, number = len(parts) * len(parts[0].models), 0

    def run_one(part: SuitePart, model: ModelEntry, cell: SuiteRun) -> SuiteRun:
        nonlocal number
        number += 1
        if problem := problems.get(part.title):
            return _ended(cell, "failed", problem=problem)
        title = f"[{number}/{count}] {part.title}, {model.title}"
        try:
            return _run(part, part.settings_for_one_model(model), cell, title, as_json=as_json, quiet=quiet)
        except KeyboardInterrupt:
            return _ended(cell, "interrupted")
        except BenchwrightError as error:
            say(f"Error: {make_safe(part.title)}, {make_safe(model.title)}: {error}")
            return _ended(cell, "failed", problem=str(error))

    runs = list(run_all_parts(parts, run_one))
    code = next((EXIT_CODES[one] for one in EXIT_CODES if any(run.outcome == one for run in runs)), 0)
    board = None if code == INTERRUPTED else leaderboard_of_suite(suite.name)
    if as_json:
        print_json({"suite": suite.name, "runs": runs, **({} if board is None else {"table": board})})
    elif board is not None:
        echo()
        print_leaderboard(board)
    _say_the_end(suite, runs, code, has_table=board is not None, quiet=quiet)
    return code


def _run(
    part: SuitePart, settings: Settings, cell: SuiteRun, title: str, *, as_json: bool, quiet: bool
) -> SuiteRun:
    progress = LiveProgress()
    listeners: list[RunListener] = [progress]
    if not quiet:
        listeners.append(TerminalProgress(progress, title, each_trial=False, what=title))
    with results_on_stdout(as_json=as_json):
        prepared, launched = _launched(part, settings, listeners)
        missing = _report(prepared, launched)
    summary = summarise(read_manifest(launched.directory), launched.table)
    if not as_json and not quiet:
        echo(f"{make_safe(title)}: {_in_short(summary, again=launched.session_result is None)}")
    code = report_end(prepared, launched, summary, missing, go_on="")
    as_it_was: SuiteOutcome = "already finished" if launched.session_result is None else "finished"
    return _ended(cell, OUTCOMES_BY_EXIT_CODE.get(code, as_it_was), run=launched.directory.name)


def _launched(
    part: SuitePart, settings: Settings, listeners: Sequence[RunListener]
) -> tuple[PreparedRun[Any], LaunchedRun]:
    if not isinstance(settings, PackSettings):
        prepared = prepare_part(part.entry, settings, _said_already)
        return prepared, run_async(launch_run(prepared, listeners, say))
    watch = PackObserver()

    async def run() -> tuple[PreparedRun[Any], LaunchedRun]:
        prepared = await prepare_pack(part.entry.name, settings, watch, say)
        return prepared, await launch_run(prepared, [watch, *listeners], say)

    return run_async(run())


def _said_already(text: str) -> None:
    """Discard a message, because `find_problems` has already printed it."""


def _report(prepared: PreparedRun[Any], launched: LaunchedRun) -> list[str]:
    """Write the results of a run. If they were written before, do nothing.

    Return messages about requested figures that a pack's run could not compute. The run's one-line summary does not
    show them.
    """
    if launched.session_result is None and is_reported(launched.directory):
        return []
    report = prepared.write_report(launched)
    if isinstance(report, EvalReport):
        report.write_files()
    return unscored_messages(report) if isinstance(report, PackReport) else []


def _in_short(summary: RunSummary, *, again: bool) -> str:
    figures = run_figures_of(summary)
    failed = f", {figures.failed:,} failed" if figures.failed else ""
    return (
        f"{'already finished, ' if again else ''}{score_text(figures.targets[0])}, "
        f"{count_with_noun(figures.done, 'trial')}{failed}, {format_duration(figures.seconds)}"
    )


def _ended(cell: SuiteRun, outcome: SuiteOutcome, *, run: str | None = None, problem: str = "") -> SuiteRun:
    from msgspec.structs import replace

    return replace(cell, outcome=outcome, run=run, problem=problem)


def _say_the_end(suite: Suite, runs: Sequence[SuiteRun], code: int, *, has_table: bool, quiet: bool) -> None:
    """Report the outcomes of all runs, and what to do next.

    If `quiet` is True and all runs are done, print nothing.
    """
    counts = Counter(run.outcome for run in runs)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    if code or not quiet:
        say(f"Suite {make_safe(suite.name)}, {count_with_noun(len(runs), 'run')}: {told}.")
    again = _command("run", suite.given_name) if suite.given_name and suite.models else "the same command"
    if code in (INTERRUPTED, STOPPED):
        say(f"To go on: {again}")
    elif code == INCOMPLETE:
        say(f"To repeat all that failed: {again} --retry-failed")
    if has_table and not quiet:
        say(f"The table again: {_command('table', suite.name)}")
        say(f"Its page:        {_command('view', suite.name)}")


def _command(name: str, suite: str) -> str:
    program = click.get_current_context().find_root().info_name or "benchwright"
    return make_safe(shlex.join([program, name, "--suite", suite]))


def _describe(
    suite: Suite, parts: Sequence[SuitePart], problems: Mapping[str, str], rates: CostRates, *, as_json: bool
) -> int:
    usable = [part for part in parts if part.title not in problems]
    with results_on_stdout(as_json=as_json):
        facts = {part.title: _described_for_all(part, rates) for part in usable}
    total = total_cost([described["cost"] for described in facts.values()])
    if as_json:
        print_json(
            {"suite": suite.name, "benchmarks": facts, "cost": total, "missing": suite.missing_benchmarks}
        )
    else:
        models = ", ".join(model.title for model in parts[0].models)
        title = Line(
            "verdict",
            [
                ExternalText(suite.name),
                f": {count_with_noun(len(parts), 'part')}, for ",
                ExternalText(models),
            ],
        )
        each = {name: PartCost(described["trials"], described["cost"]) for name, described in facts.items()}
        print_table(render_costs(title, each, len(parts) - len(usable)))
    say_nothing_was_sent()
    return STOPPED if problems else 0


def _described_for_all(part: SuitePart, rates: CostRates) -> dict[str, Any]:
    settings = part.settings_for_all_models
    if isinstance(settings, PackSettings):
        described = run_async(describe_pack_run(part.entry.name, settings, say))
        return {**described, "cost": Cost(basis="packs say nothing of their prompts before they run")}
    prepared = prepare_part(part.entry, settings, _said_already)
    return {**describe_run(prepared), "cost": estimate_cost(prepared, *rates)}
