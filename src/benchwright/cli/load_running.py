"""Measures under load, shows how it goes, and prints what there is, also when it is interrupted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from benchwright.analysis.load.records import Level, LevelResult, LoadComparison, LoadReport
from benchwright.analysis.shortfalls import too_many
from benchwright.app.load.levels import due_times
from benchwright.app.load.measure import LoadTest, load_tests
from benchwright.app.load.settings import LoadSettings
from benchwright.app.loop import run_async
from benchwright.app.prepared import describe
from benchwright.cli.output import CLEARED_LINE, clean, echo, print_json, print_table, results_on_stdout, say
from benchwright.cli.running import INCOMPLETE, INTERRUPTED, STOPPED, say_nothing_was_sent
from benchwright.engine.run import Listener
from benchwright.engine.worker import Result, Scored
from benchwright.errors import BenchwrightError
from benchwright.files import write_whole
from benchwright.formats import milliseconds
from benchwright.records import FAILED
from benchwright.reports.load.words import level_text
from benchwright.text import plain

STATUS_INTERVAL = 1.0
STATUS_INTERVAL_IN_LOGS = 10.0
"""Seconds between two lines about a level under way, on a terminal and elsewhere."""


def measure_and_report(settings: LoadSettings, *, as_json: bool, quiet: bool) -> int:
    """Returns the exit code, see docs/formats.md."""
    with results_on_stdout(as_json=as_json):
        loads = load_tests(settings, say)
    if settings.dry_run:
        return _describe(loads, as_json=as_json)
    with results_on_stdout(as_json=as_json):
        ended: BaseException | None = None
        try:
            run_async(_measure(loads, quiet=quiet))
        except (KeyboardInterrupt, BenchwrightError) as error:  # between two levels, where no run listens
            ended = error
    measured = [load.report() for load in loads if load.levels]
    if measured:
        _give(measured, settings, as_json=as_json)
    if isinstance(ended, BenchwrightError):
        raise ended
    if ended is not None or any(load.interrupted for load in loads):
        say("Interrupted." if measured else "Interrupted before the first level was measured.")
        return INTERRUPTED
    several = len(loads) > 1
    return max(_judge(report, settings.max_failures, named=several) for report in measured)


def _judge(report: LoadReport, most: str | None, *, named: bool) -> int:
    """Says which figures levels lack, and whether too many requests failed; returns the exit code."""
    levels, of_whom = report.levels, f"{report.model}: " if named else ""
    silent = [level for level in levels if not level.answered]
    failed, done = (sum(getattr(level, name) for level in levels) for name in ("failed", "counted"))
    wrong = [
        f"Level {level_text(level.level)} has no figures: none of its {level.requests:,} requests was answered"
        f"{_why(level)}"
        for level in silent
    ]
    answered = [level for level in levels if level.answered]
    wrong += [f"{level_text(level.level)}: {sentence}" for level in answered for sentence in level.shortfalls]
    wrong += too_many(failed, done, most, "requests")
    for sentence in wrong:
        say(f"Error: {plain(of_whom + sentence)}")
    if any(level.state != "finished" for level in silent):
        return STOPPED
    return INCOMPLETE if wrong else 0


def _why(level: LevelResult) -> str:
    """The most frequent reason for which requests failed."""
    reason = next(iter(level.failures), level.stop_reason)
    return "" if reason is None else f": {reason}"


async def _measure(loads: Sequence[LoadTest], *, quiet: bool) -> None:
    """Measures one model after the other, until the user has had enough."""

    def listeners(level: Level) -> Sequence[Listener]:
        return [] if quiet else [LevelProgress(level)]

    for load in loads:
        await load.probe()
    for load in loads:
        if len(loads) > 1 and not quiet:
            say(f"{load.model}:")
        async for result in load.measure(listeners):
            if not quiet:
                say(level_line(result))
        if load.interrupted:
            return


def _give(reports: Sequence[LoadReport], settings: LoadSettings, *, as_json: bool) -> None:
    first = reports[0]
    found = LoadComparison(first.id, list(reports)) if len(settings.tried) > 1 else first
    if as_json:
        print_json(found)
    else:
        from benchwright.reports.terminal import render_load, render_loads

        print_table(render_load(found) if isinstance(found, LoadReport) else render_loads(found))
    if settings.output is not None:
        import msgspec

        from benchwright.runs.journal import encode_json

        write_whole(settings.output, msgspec.json.format(encode_json(found), indent=2) + b"\n")
        say(f"Written: {settings.output}")
    say(f"Runs: benchwright runs --tag {first.id}")


def level_line(result: LevelResult) -> str:
    """A level that is done, in a line."""
    ttft = "" if result.ttft is None else f", TTFT p50 {milliseconds(result.ttft.p50.value)} ms"
    latency = "" if result.latency is None else f", latency p50 {milliseconds(result.latency.p50.value)} ms"
    failed = f", {result.failed:,} failed" if result.failed else ""
    return f"{level_text(result.level)}: {result.achieved:,.2f} answers/s{ttft}{latency}{failed}"


class LevelProgress:
    """A listener: a line now and then on stderr, which on a terminal is always the same one."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._done = self._failed = 0
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._live = sys.stderr.isatty()
        self._every = STATUS_INTERVAL if self._live else STATUS_INTERVAL_IN_LOGS

    def started(self, total: int, done: int, again: int) -> None:
        """The level begins."""
        self._begun = asyncio.get_running_loop().time()
        self._timer = asyncio.get_running_loop().call_later(self._every, self._tick)

    def delivered(self, result: Result) -> None:
        """Counts."""
        if isinstance(result, Scored):
            self._done += 1
            self._failed += result.status in FAILED

    def said(self, text: str) -> None:
        """Shows a line."""
        self._clear()
        echo(plain(text), err=True)

    def ended(self) -> None:
        """Takes the line away."""
        if self._timer is not None:
            self._timer.cancel()
        self._clear()

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        elapsed = loop.time() - self._begun
        failed = f", {self._failed:,} failed" if self._failed else ""
        text = f"{level_text(self._level)}: {self._done:,} done{failed}, {elapsed:.0f} s"
        if self._live:
            echo(clean(CLEARED_LINE, text), err=True, end="")
        else:
            echo(text, err=True)
        self._timer = loop.call_later(self._every, self._tick)

    def _clear(self) -> None:
        if self._live:
            echo(CLEARED_LINE, err=True, end="")


def _describe(loads: Sequence[LoadTest], *, as_json: bool) -> int:
    """What would be run."""
    load, levels = loads[0], loads[0].first_levels
    if as_json:
        print_json(
            {
                "levels": [
                    describe(one.prepare(level, at)) for one in loads for at, level in enumerate(levels, 1)
                ]
            }
        )
        return 0
    echo(f"{plain(load.workload.about)}, sent to {plain(' and then '.join(one.model for one in loads))}")
    for level in levels:
        due = due_times(level, load.settings)
        size = "" if due is None else f": {len(due):,} requests in {due[-1]:.1f} s"
        echo(f"  {level_text(level)}{size}")
    say_nothing_was_sent()
    return 0
