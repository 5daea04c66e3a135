"""Runs a load measurement and shows its progress. Prints the results, also after an interruption."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from benchwright.analysis.load.comparison.compare import compare_loads
from benchwright.analysis.load.comparison.records import LoadComparison, LoadComparisonResult
from benchwright.analysis.load.comparison.references import find_load
from benchwright.analysis.load.comparison.rules import LoadRules
from benchwright.analysis.load.records import LevelResult, LoadLevel, LoadReport
from benchwright.analysis.no_scores import remove_reason
from benchwright.analysis.shortfalls import too_many_failures_sentence
from benchwright.app.event_loop import run_async
from benchwright.app.load.levels import due_times
from benchwright.app.load.load_test import LoadTest, prepare_load_tests
from benchwright.app.load.sections import RegressionSettings
from benchwright.app.load.self_test import capacity_warnings, self_test
from benchwright.app.load.settings import LoadSettings
from benchwright.app.prepared_run import describe_run
from benchwright.cli.compare_loads import RULE_FAILED_EXIT_CODE
from benchwright.cli.output import (
    CLEAR_LINE,
    clean_text,
    echo,
    print_json,
    print_table,
    results_on_stdout,
    say,
)
from benchwright.cli.run_ending import INCOMPLETE, INTERRUPTED, STOPPED, say_nothing_was_sent
from benchwright.engine.run import RunListener
from benchwright.engine.worker import ScoredWork, WorkResult
from benchwright.errors import BenchwrightError
from benchwright.files import write_atomically
from benchwright.formats import count_with_noun, format_milliseconds
from benchwright.records import FAILED_STATUSES
from benchwright.reports.load.sentences import failure_reasons, level_text, self_test_text
from benchwright.reports.load.tables import rate_text
from benchwright.text import Say, make_safe

STATUS_INTERVAL = 1.0
STATUS_INTERVAL_IN_LOGS = 10.0
"""Seconds between two status lines on a level in progress.

`STATUS_INTERVAL`: if stderr is a terminal. `STATUS_INTERVAL_IN_LOGS`: if stderr is not a terminal.
"""


def measure_and_report(settings: LoadSettings, *, as_json: bool, quiet: bool) -> int:
    """Run a load measurement and print its results. Return the exit code; see docs/formats.md."""
    with results_on_stdout(as_json=as_json):
        loads = prepare_load_tests(settings, say)
        before = None if settings.regression.against is None else find_load(settings.regression.against)
    if settings.execution.dry_run:
        return _describe(loads, as_json=as_json)
    with results_on_stdout(as_json=as_json):
        ended: BaseException | None = None
        try:
            if settings.load.self_test:
                _test_first(loads, quiet=quiet)
            in_flight = max(
                settings.load.max_in_flight, *(level.concurrency or 0 for level in loads[0].first_levels)
            )
            run_async(_measure(loads, quiet=quiet), in_flight)
        except (KeyboardInterrupt, BenchwrightError) as error:  # between two levels, when no run handles it
            ended = error
    measured = [load.make_report() for load in loads if load.levels]
    failed = False
    if measured:
        compared = _compared(measured, before, settings.regression)
        alone = len(settings.endpoint.models_under_test) < 2 and compared is None
        failed = _give(measured, compared, settings.report.output, alone=alone, as_json=as_json)
    if isinstance(ended, BenchwrightError):
        raise ended
    if ended is not None or any(load.interrupted for load in loads):
        say("Interrupted." if measured else "Interrupted before the first level was measured.")
        return INTERRUPTED
    several = len(loads) > 1
    judged = max(
        _judge(report, settings.limits.max_failures, named=several, printed=not as_json)
        for report in measured
    )
    return judged or (RULE_FAILED_EXIT_CODE if failed else 0)


def run_self_test(*, as_json: bool, quiet: bool) -> int:
    """Run only the self-test of this machine, and print its results. Return the exit code."""
    with results_on_stdout(as_json=as_json):
        found = self_test(_unless(quiet))
    if as_json:
        print_json(found)
    else:
        echo(self_test_text(found))
    return 0


def _test_first(loads: Sequence[LoadTest], *, quiet: bool) -> None:
    """Run the self-test. Report what this machine can handle, and which load levels exceed that."""
    found = self_test(_unless(quiet))
    for load in loads:
        load.self_test = found
    say(self_test_text(found))
    for sentence in capacity_warnings(found, loads[0].first_levels):
        say(f"Warning: {sentence}.")


def _unless(quiet: bool) -> Say:
    return (lambda _: None) if quiet else say


def _judge(report: LoadReport, most: str | None, *, named: bool, printed: bool) -> int:
    """Report missing figures of the levels, and too many failed requests. Return the exit code.

    `most`: number or share of requests that may fail. `named`: True if messages must name the model. `printed`: True if
    the report was printed. Reasons that it contains are then not repeated.
    """
    levels, of_whom = report.levels, f"{report.model}: " if named else ""
    silent = [level for level in levels if not level.answered_requests]
    failed, done = (sum(getattr(level, name) for level in levels) for name in ("failed", "counted"))
    wrong = [f"Level {level_text(level.level)} has no figures: {_silence(level)}" for level in silent]
    answered = [level for level in levels if level.answered_requests]
    wrong += [f"{level_text(level.level)}: {sentence}" for level in answered for sentence in level.shortfalls]
    wrong += too_many_failures_sentence(failed, done, most, "requests")
    told = [reason for level in levels if printed for reason in failure_reasons(level)]
    for sentence in wrong:
        say(f"Error: {make_safe(of_whom + remove_reason(sentence, told))}")
    if any(level.state != "finished" for level in silent):
        return STOPPED
    return INCOMPLETE if wrong else 0


def _silence(level: LevelResult) -> str:
    """Return the reason why a level has no figures."""
    requests = f"its {count_with_noun(level.requests, 'request')}"
    if level.requests and level.requests == level.disturbed:
        return "this client stood still all the time"
    if level.requests and not level.counted:
        return f"what --warmup, --cooldown or --window leave has none of {requests}"
    if level.requests == 1:
        return f"its only request was not answered{_why(level)}"
    which = requests if level.overall is None else f"the {level.counted:,} that count of {requests}"
    return f"none of {which} was answered{_why(level)}"


def _why(level: LevelResult) -> str:
    """Return the most frequent reason why the requests of a level failed, with a colon before it.

    Empty if none is known.
    """
    reason = next(iter(level.failures), level.stop_reason)
    return "" if reason is None else f": {reason}"


async def _measure(loads: Sequence[LoadTest], *, quiet: bool) -> None:
    """Run the measurements of all models one after another, until interrupted."""

    def listeners(level: LoadLevel) -> Sequence[RunListener]:
        return [] if quiet else [LevelProgress(level)]

    for load in loads:
        await load.probe_endpoints()
    for repeat in range(1, loads[0].settings.load.repeats + 1):
        for load in loads if repeat % 2 else reversed(loads):
            if len(loads) > 1 and not quiet:
                say(f"{load.model}:")
            async for result in load.measure_levels(listeners, repeat):
                if not quiet:
                    say(level_line(result))
            if load.interrupted:
                return


def _give(
    reports: Sequence[LoadReport],
    compared: LoadComparisonResult | None,
    output: Path | None,
    *,
    alone: bool,
    as_json: bool,
) -> bool:
    """Print the results of the measurements, and write them to `output` if it is given.

    Return True if the loss exceeds `--max-regression`. Return False otherwise, or if nothing was compared.
    """
    first = reports[0]
    found = first if alone else LoadComparison(first.id, list(reports), compared)
    if as_json:
        print_json(found)
    else:
        from benchwright.reports.terminal import render_load, render_loads

        print_table(render_load(found) if isinstance(found, LoadReport) else render_loads(found))
    if output is not None:
        import msgspec

        from benchwright.analysis.json_documents import encode_document

        write_atomically(output, msgspec.json.format(encode_document(found), indent=2) + b"\n")
        say(f"Written: {output}")
    say(f"Runs: benchwright runs --tag {first.id}")
    say(f"Plots: benchwright report {first.id}")
    return compared is not None and compared.failed


def _compared(
    reports: Sequence[LoadReport], before: LoadReport | None, regression: RegressionSettings
) -> LoadComparisonResult | None:
    """Compare the first measurement with the other measurements. Return None if there is only one measurement.

    `before`: the earlier measurement that `--against` names; if it is given, it is the first.
    """
    everything = [*([] if before is None else [before]), *reports]
    if len(everything) < 2:
        return None
    return compare_loads(everything, LoadRules((), regression.max_regression, regression.prove))


def level_line(result: LevelResult) -> str:
    """Return one line with the main figures of a finished level."""
    ttft = "" if result.ttft is None else f", TTFT p50 {format_milliseconds(result.ttft.p50.value)} ms"
    latency = (
        "" if result.latency is None else f", latency p50 {format_milliseconds(result.latency.p50.value)} ms"
    )
    failed = f", {result.failed:,} failed" if result.failed else ""
    rate = "no steady rate" if result.answered_requests else "no answer"
    if result.achieved is not None:
        rate = f"{rate_text(result.achieved)} answers/s"
    return f"{level_text(result.level)}: {rate}{ttft}{latency}{failed}"


class LevelProgress:
    """Listener that prints a status line on stderr at intervals. On a terminal, each line replaces the previous one."""

    def __init__(self, level: LoadLevel) -> None:
        self._level = level
        self._done = self._failed = 0
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._live = sys.stderr.isatty()
        self._every = STATUS_INTERVAL if self._live else STATUS_INTERVAL_IN_LOGS

    def on_start(self, total: int, done: int, again: int) -> None:
        """Start the timer of the status line. Called when the run of a level starts."""
        self._begun = asyncio.get_running_loop().time()
        self._timer = asyncio.get_running_loop().call_later(self._every, self._tick)

    def on_result(self, result: WorkResult) -> None:
        """Count a finished or failed trial."""
        if isinstance(result, ScoredWork):
            self._done += 1
            self._failed += result.status in FAILED_STATUSES

    def on_message(self, text: str) -> None:
        """Print a message of the run."""
        self._clear()
        echo(make_safe(text), err=True)

    def on_end(self) -> None:
        """Stop the timer and remove the status line. Called when the run of a level ends."""
        if self._timer is not None:
            self._timer.cancel()
        self._clear()

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        elapsed = loop.time() - self._begun
        failed = f", {self._failed:,} failed" if self._failed else ""
        text = f"{level_text(self._level)}: {self._done:,} done{failed}, {elapsed:.0f} s"
        if self._live:
            echo(clean_text(CLEAR_LINE, text), err=True, end="")
        else:
            echo(text, err=True)
        self._timer = loop.call_later(self._every, self._tick)

    def _clear(self) -> None:
        if self._live:
            echo(CLEAR_LINE, err=True, end="")


def _describe(loads: Sequence[LoadTest], *, as_json: bool) -> int:
    """Print the description of the measurements for `--dry-run`. Return the exit code."""
    load, levels = loads[0], loads[0].first_levels
    if as_json:
        print_json(
            {
                "levels": [
                    describe_run(one.prepare_level(level, at))
                    for one in loads
                    for at, level in enumerate(levels, 1)
                ]
            }
        )
        return 0
    echo(
        f"{make_safe(load.workload.description)}, sent to {make_safe(' and then '.join(one.model for one in loads))}"
    )
    for level in levels:
        due = due_times(level, load.settings, load.trace)
        begun = "conversations" if load.trace is not None and load.trace.has_turns else "requests"
        size = "" if due is None else f": {len(due):,} {begun} in {due[-1]:.1f} s"
        echo(f"  {level_text(level)}{size}")
    say_nothing_was_sent()
    return 0
