"""Progress on the terminal: a live block where there is one, a plain line now and then where there is not."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import click

from benchwright.engine.progress import Progress
from benchwright.engine.worker import Result
from benchwright.reports.text import duration, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

PLAIN_INTERVAL = 5.0
LIVE_INTERVAL = 0.125


class TerminalProgress:
    """A listener that shows `engine.progress.Progress` on stderr."""

    def __init__(self, progress: Progress, resume_note: str | None = None) -> None:
        self._progress = progress
        self._resume_note = resume_note
        self._live = sys.stderr.isatty()
        self._timer: asyncio.TimerHandle | None = None
        self._display: object | None = None
        self._shown = 0.0

    def started(self, total: int, done: int) -> None:
        """Shows what there is to do."""
        if done:
            click.echo(f"Resuming eval ({done}/{total} runs completed)", err=True)
            if self._resume_note is not None:
                click.echo(self._resume_note, err=True)
        if self._live:
            from rich.console import Console
            from rich.live import Live

            live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            live.start()
            self._display = live
        self._tick()

    def delivered(self, result: Result) -> None:
        """Nothing: the display follows the clock, not the results."""

    def said(self, text: str) -> None:
        """Prints a line above the display."""
        click.echo(plain(text), err=True)

    def ended(self) -> None:
        """Takes the display away; leaves the last state as a line where output is plain."""
        if self._timer is not None:
            self._timer.cancel()
        if self._display is not None:
            self._display.stop()  # type: ignore[attr-defined]
        else:
            click.echo(self._line(), err=True)

    def _tick(self) -> None:
        now = time.monotonic()
        if self._display is not None:
            self._display.update(self._block(), refresh=True)  # type: ignore[attr-defined]
        elif now - self._shown >= PLAIN_INTERVAL:
            if self._shown:
                click.echo(self._line(), err=True)
            self._shown = now
        self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL, self._tick)

    def _line(self) -> str:
        progress = self._progress
        parts = [f"[{progress.done:,}/{progress.total:,}]", f"{progress.rate:.1f}/s"]
        if progress.done < progress.total and progress.eta is not None:
            parts.append(f"{duration(progress.eta)} left")
        if progress.failed:
            parts.append(f"{progress.failed:,} failed")
        parts.extend(
            f"{plain(name)} {mean.mean:.3f} ±{mean.half_width:.3f}" for name, mean in progress.means.items()
        )
        return "  ".join(parts)

    def _block(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        progress = self._progress
        counts = "  ".join(
            f"{status.replace('_', ' ')} {count:,}" for status, count in progress.statuses.items()
        )
        bar = ProgressBar(max(1, progress.total), progress.done, width=40, complete_style="green")
        line = Table.grid(padding=(0, 2))
        line.add_row(bar, Text(self._line()))
        return Group(line, Text(counts, style="dim"))
