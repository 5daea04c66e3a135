"""How a run goes on, for whoever called it: heard in the run's thread, told in the caller's."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections.abc import Mapping
from time import monotonic

from benchwright.engine.progress import Progress
from benchwright.reports.progress import status_line
from benchwright.secrets import SECRETS
from benchwright.text import plain

TICK = 0.2
"""Seconds between two lines about the run, of which each takes the place of the one before."""

LINE_INTERVAL = 5.0
"""Seconds between two lines where none can be taken away again: in a file, a pipe."""

logger = logging.getLogger("benchwright")
logger.addHandler(logging.NullHandler())  # a library says nothing unless the program has logging set up


class Watch(Progress):
    """A listener that keeps what there is to tell; `show` and `close` tell it on stderr, if it is to be shown.

    `notes` are the lines that commands print on stderr; they are logged, too.
    """

    def __init__(self, *, shown: bool) -> None:
        super().__init__()
        self.names: Mapping[str, str] = {}
        """What the models are called by their slots, where there are several."""
        self._shown = shown
        self._line = ""
        self._timer: asyncio.TimerHandle | None = None
        self._told = 0
        self._last = ""
        self._next_line = 0.0
        self._updating = sys.stderr.isatty() or "ipykernel" in sys.modules

    def say(self, text: str) -> None:
        """Takes a note."""
        note = plain(SECRETS.redact(text))
        self.notes.append(note)
        logger.info("%s", note)

    def started(self, total: int, done: int, again: int) -> None:
        """See `engine.run.Listener`."""
        super().started(total, done, again)
        if done:
            self.say(f"Going on: {done - again:,} of {total:,} trials are done.")
        if self._shown:
            self._tick()

    def said(self, text: str) -> None:
        """See `engine.run.Listener`."""
        self.say(text)

    def ended(self) -> None:
        """See `engine.run.Listener`."""
        super().ended()
        if self._timer is not None:
            self._timer.cancel()
            self._line = self._status()

    def _tick(self) -> None:
        self._line = self._status()
        self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _status(self) -> str:
        return SECRETS.redact(status_line(self, self.names))

    def show(self) -> None:
        """Tells what is new."""
        if not self._shown:
            return
        for note in self.notes[self._told :]:
            self._told += 1
            self._write(note, stays=True)
        if self._updating:
            self._write(self._line)
        elif monotonic() >= self._next_line:
            self._next_line = monotonic() + LINE_INTERVAL
            self._write(self._line, stays=True)

    def close(self) -> None:
        """Tells what is left to tell, and ends the line."""
        if self._shown:
            self._next_line = 0.0
            self.show()
            if self._updating and self._last:
                self._write(self._line, stays=True)

    def _write(self, text: str, *, stays: bool = False) -> None:
        """Writes a line; one that does not stay takes the place of the last one of its kind."""
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
