"""Progress display of a pack's run: a live matrix of scenarios by models on a terminal, or else a line per trial."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from benchwright.app.pack_observer import PackObserver
from benchwright.cli.output import echo
from benchwright.cli.progress import retried_message
from benchwright.engine.progress import LiveProgress
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.formats import format_duration
from benchwright.runs.counting_rules import is_counted
from benchwright.text import make_safe

if TYPE_CHECKING:
    from rich.live import Live

LIVE_INTERVAL = 0.125


class PackProgress:
    """Listener that shows the state of all cells (scenario, model) of a pack's run on stderr."""

    def __init__(self, progress: LiveProgress, watch: PackObserver) -> None:
        self._progress = progress
        self._watch = watch
        self._solved = 0
        self._display: Live | None = None
        self._timer: asyncio.TimerHandle | None = None

    def on_start(self, total: int, done: int, again: int) -> None:
        """Print how many trials are to be done, and start the live display. Called when the run starts."""
        self._solved = done - again
        if done:
            but = f", {retried_message(again)}" if again else ""
            echo(f"Resuming: {done:,} of {total:,} cells are done{but}.", err=True)
        if not sys.stderr.isatty():
            return
        from rich.live import Live

        from benchwright.cli.console import PlainConsole

        self._display = Live(console=PlainConsole(err=True), auto_refresh=False, transient=True)
        self._display.start()
        self._tick()

    def on_result(self, result: WorkResult) -> None:
        """Print a line for a finished trial. If there is a live display, print nothing."""
        setup = self._watch.setup
        if self._display is not None or setup is None or not isinstance(result, SolvedWork):
            return
        record = result.record
        self._solved += is_counted(record.status)
        cell = self._watch.cells.get((record.target, record.sample))
        status = cell.attempts[-1] if cell is not None and cell.attempts else str(record.status)
        label = make_safe(setup.models[record.target].label)
        progress = f"[{self._solved:,}/{self._progress.total:,}]"
        reason = f"  {make_safe(record.reason)}" if record.reason else ""
        echo(
            f"{progress} {label}  {make_safe(record.sample)}  {status} "
            f"({format_duration(record.duration / 1e9)}){reason}",
            err=True,
        )

    def on_message(self, text: str) -> None:
        """Print a message of the run, above the display."""
        echo(make_safe(text), err=True)

    def on_end(self) -> None:
        """Remove the live display. Called when the run ends."""
        if self._timer is not None:
            self._timer.cancel()
        if self._display is not None:
            self._display.stop()

    def _tick(self) -> None:
        setup = self._watch.setup
        if self._display is not None and setup is not None:
            from rich.console import Group
            from rich.text import Text

            from benchwright.reports.pack_live import render_live
            from benchwright.reports.progress import status_line

            columns, lines = self._display.console.size
            status = Text(status_line(self._progress, {}), no_wrap=True, overflow="ellipsis")
            matrix = render_live(setup.models, setup.scenarios, self._watch.cells, columns, lines - 2)
            self._display.update(Group(status, matrix), refresh=True)
        self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL, self._tick)
