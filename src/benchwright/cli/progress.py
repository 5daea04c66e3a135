"""Progress display of a run: a line for each trial and, on a terminal, a live block below these lines."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchwright.cli.output import clean_text, echo, join_cleaned
from benchwright.cli.output_lines import trial_line
from benchwright.engine.progress import LiveProgress
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.reports.progress import status_line
from benchwright.text import make_safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

LIVE_INTERVAL = 0.125
"""Seconds between two updates of the display."""

STATUS_INTERVAL = 5.0
STATUS_INTERVAL_WITH_LINES = 30.0
"""Seconds between two status lines if there is no terminal.

`STATUS_INTERVAL`: if trials have no lines of their own. `STATUS_INTERVAL_WITH_LINES`: if each trial also has a line.
"""


class TerminalProgress:
    """Listener that shows the progress of a run (`engine.progress.ProgressCallback`) and a line for each trial.

    `each_trial`: False to print no lines of trials. `title`: printed when a run starts. `resume_note`: printed instead
    if an earlier run is resumed. `what`: word for such a run. `names`: names of targets by slot; the line of a trial
    names its target if the slot is in `names`. `err`: False to print lines on stdout, as part of the command's output,
    instead of stderr. Messages always go to stderr. The live display is on the terminal to which lines go. If lines do
    not go to a terminal, it is on the terminal of the messages.
    """

    def __init__(
        self,
        progress: LiveProgress,
        title: str,
        resume_note: str | None = None,
        *,
        what: str = "eval",
        each_trial: bool = True,
        names: Mapping[str, str] = MappingProxyType({}),
        err: bool = True,
    ) -> None:
        self._progress = progress
        self._title = title
        self._resume_note = resume_note
        self._what = what
        self._each_trial = each_trial
        self._names = names
        self._err = err
        self._interval = STATUS_INTERVAL_WITH_LINES if each_trial else STATUS_INTERVAL
        self._solved: dict[str, SolvedWork] = {}
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._display: Live | None = None
        self._status_at = 0.0

    def on_start(self, total: int, done: int, again: int) -> None:
        """Print how many trials are to be done, and start the display. Called when the run starts."""
        if done:
            self._lines.append(f"Resuming {self._what} ({done}/{total} runs completed)")
            if self._resume_note is not None:
                self._lines.append(self._resume_note)
            if again:
                self._lines.append(f"{retried_message(again)}.")
        else:
            self._lines.append(self._title)
        self._flush()
        self._status_at = time.monotonic() + self._interval
        self._display = self._make_display()
        if self._display is not None:
            self._display.start()
        self._tick()

    def on_result(self, result: WorkResult) -> None:
        """Store the line of a finished trial, to be printed at the next update."""
        if not self._each_trial:
            return
        if isinstance(result, SolvedWork):
            self._solved[result.record.key] = result
            return
        place = self._progress.done, self._progress.total
        solved = self._solved.pop(result.trial.key, None)
        self._lines.append(trial_line(place, result, solved, self._names))

    def on_message(self, text: str) -> None:
        """Print a message of the run."""
        self._flush()
        self._write(make_safe(text), err=True)

    def on_level(self, level: int, settled: bool) -> None:
        """Report the concurrency that `--concurrency auto` has chosen, once its search is over."""
        if settled:
            self.on_message(f"Concurrency settled at {level}; timings count from now on.")

    def on_end(self) -> None:
        """Print the remaining lines, and remove the display. Called when the run ends."""
        if self._timer is not None:
            self._timer.cancel()
        if self._display is None and not self._each_trial:
            self._lines.append(self._status())
        self._flush()
        if self._display is not None:
            self._display.stop()

    def _tick(self) -> None:
        now = time.monotonic()
        if self._display is None and now >= self._status_at:
            self._lines.append(self._status())
            self._status_at = now + self._interval
        self._flush()
        if self._display is not None:
            self._display.update(self._block(), refresh=True)
        self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL, self._tick)

    def _flush(self) -> None:
        """Print the stored lines, above the display if there is one."""
        if not self._lines:
            return
        text = join_cleaned("\n", self._lines)
        self._lines.clear()
        with suppress(BrokenPipeError):  # the reader of the output is gone, but the run continues
            self._write(text, err=self._err)

    def _write(self, text: str, *, err: bool) -> None:
        """Print a text. If the live display is on the same terminal, print the text above the display."""
        if self._display is None or not _is_terminal(err=err):
            echo(text, err=err)
        else:
            from rich.text import Text

            self._display.console.print(Text.from_ansi(clean_text(text)), soft_wrap=True)

    def _make_display(self) -> Live | None:
        """Return the live display. None if neither stdout nor stderr is a terminal."""
        if not _is_terminal(err=self._err) and not _is_terminal(err=True):
            return None
        from rich.live import Live

        from benchwright.cli.console import PlainConsole

        return Live(
            console=PlainConsole(err=self._err or not _is_terminal(err=False)),
            auto_refresh=False,
            transient=True,
            redirect_stdout=_is_terminal(err=False),
            redirect_stderr=_is_terminal(err=True),
        )

    def _status(self) -> str:
        return status_line(self._progress, self._names)

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
        line.add_row(bar, Text(self._status()))
        return Group(line, Text(counts, style="dim"))


def _is_terminal(*, err: bool) -> bool:
    """Return True if stderr (or stdout, if not `err`) is a terminal."""
    return (sys.stderr if err else sys.stdout).isatty()


def retried_message(count: int) -> str:
    """Return a message on how many earlier trials are retried, for example because of provider errors."""
    return f"{count:,} of them {'is' if count == 1 else 'are'} asked again"
