"""Progress of a run started from Python: collected in the run's thread, and printed in the caller's thread."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections.abc import Mapping
from time import monotonic

from benchwright.engine.progress import LiveProgress
from benchwright.reports.progress import status_line
from benchwright.secrets import SECRETS
from benchwright.text import make_safe

UPDATE_INTERVAL_SECONDS = 0.2
"""Seconds between two updates of the status line, if each status line replaces the previous one (on a terminal)."""

LINE_INTERVAL_SECONDS = 5.0
"""Seconds between two status lines, if a line cannot be replaced (in a file or pipe)."""

logger = logging.getLogger("benchwright")
logger.addHandler(logging.NullHandler())  # a library logs nothing unless the program configures logging


class ProgressPrinter(LiveProgress):
    """Listener that collects the messages and the status of a run. `print_progress` and `close` print them on
    stderr if `shown`.

    `notes`: the collected messages, which are also logged.
    """

    def __init__(self, *, shown: bool) -> None:
        super().__init__()
        self.names: Mapping[str, str] = {}
        """Names of the models by slot, if there are several."""
        self._shown = shown
        self._line = ""
        self._timer: asyncio.TimerHandle | None = None
        self._told = 0
        self._last = ""
        self._next_line = 0.0
        self._updating = sys.stderr.isatty() or "ipykernel" in sys.modules

    def record_message(self, text: str) -> None:
        """Record a message and log it."""
        note = make_safe(SECRETS.redact(text))
        self.notes.append(note)
        logger.info("%s", note)

    def on_start(self, total: int, done: int, again: int) -> None:
        """Record the number of trials, and start updating the status line. Called when the run starts."""
        super().on_start(total, done, again)
        if done:
            self.record_message(f"Going on: {done - again:,} of {total:,} trials are done.")
        if self._shown:
            self._tick()

    def on_message(self, text: str) -> None:
        """Record a message of the run. Called for each message."""
        self.record_message(text)

    def on_end(self) -> None:
        """Stop updating the status line. Called when the run ends."""
        super().on_end()
        if self._timer is not None:
            self._timer.cancel()
            self._line = self._status()

    def _tick(self) -> None:
        self._line = self._status()
        self._timer = asyncio.get_running_loop().call_later(UPDATE_INTERVAL_SECONDS, self._tick)

    def _status(self) -> str:
        return SECRETS.redact(status_line(self, self.names))

    def print_progress(self) -> None:
        """Print the messages and the status that were not printed yet."""
        if not self._shown:
            return
        for note in self.notes[self._told :]:
            self._told += 1
            self._write(note, stays=True)
        if self._updating:
            self._write(self._line)
        elif monotonic() >= self._next_line:
            self._next_line = monotonic() + LINE_INTERVAL_SECONDS
            self._write(self._line, stays=True)

    def close(self) -> None:
        """Print the remaining messages, and end the status line."""
        if self._shown:
            self._next_line = 0.0
            self.print_progress()
            if self._updating and self._last:
                self._write(self._line, stays=True)

    def _write(self, text: str, *, stays: bool = False) -> None:
        """Write a line. The next line replaces it if `stays` is False."""
        if self._updating:
            width = shutil.get_terminal_size((100, 24)).columns - 1
            text = text[:width] if not stays else text
            if not stays and text == self._last:
                return
            print(f"\r{text.ljust(len(self._last))}", end="\n" if stays else "", file=sys.stderr, flush=True)
            self._last = "" if stays else text
        elif text and text != self._last:
            print(text, file=sys.stderr, flush=True)
            self._last = text
