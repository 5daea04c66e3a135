"""Ctrl-C: the first signal ends a run in an orderly way. The second ends it at once, whatever the process is doing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

from benchwright.engine.stop_rules import StopRequest
from benchwright.text import Say

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

MAX_FINISH_SECONDS = 300.0
"""Maximum number of seconds for which trials in flight may go on after the first signal."""

MAX_REACTION_SECONDS = 1.0
"""Number of seconds after which the event loop is reported as blocked, if it has not processed the first signal."""

MAX_SHUTDOWN_SECONDS = 2.0
"""Maximum number of seconds that the run may take to end after the second signal."""

BLOCKED_LOOP_MESSAGE = (
    "Stopping, but an agent, tool or grader holds the event loop up. Press again to stop immediately.\n"
)
BLOCKED_STOP_MESSAGE = "Stopped while the event loop was held up; finished trials are saved.\n"
SHOW_CURSOR_SEQUENCE = "\x1b[?25h"
INTERRUPTED_EXIT_CODE = 130


class SignalHandler:
    """Context manager that handles SIGINT and SIGTERM.

    While the context is open, the first signal stops the run, and the second cancels trials in flight.
    Signals work even if an agent, a tool or a grader blocks the event loop. After the first signal, a thread
    reports a blocked event loop. After the second, the thread ends the process if the run does not end. This
    is safe: like `kill -9`, it leaves the journal complete. Outside the main thread, signals are not handled.
    """

    def __init__(self, stop: StopRequest, say: Say) -> None:
        self._stop = stop
        self._say = say
        self._count = 0
        self._before: dict[signal.Signals, Any] = {}
        self._heard, self._over = threading.Event(), threading.Event()

    def __enter__(self) -> SignalHandler:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._received) for number in STOP_SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: not one of Python's

    def _received(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal.

        Python calls this between two instructions of the main thread, whatever it is doing.
        """
        self._count += 1
        if self._count == 1:
            self._loop.call_soon_threadsafe(self._stop_soon, signal.Signals(number).name)
            threading.Thread(target=self._see_to_the_first, daemon=True).start()
        elif self._count == 2:
            self._loop.call_soon_threadsafe(self._stop_now, "Stopping now; finished trials are saved.")
            threading.Thread(target=self._see_to_the_second, daemon=True).start()

    def _stop_soon(self, name: str) -> None:
        self._heard.set()
        self._stop.interrupt(f"interrupted by {name}")
        minutes = MAX_FINISH_SECONDS / 60
        self._say(
            f"Stopping: finishing what is in flight and saving it, for up to {minutes:g} minutes. "
            "Press again to stop immediately."
        )
        text = f"What was in flight did not end within {minutes:g} minutes: stopping now; finished trials are saved."
        self._loop.call_later(MAX_FINISH_SECONDS, self._stop_now, text)

    def _stop_now(self, text: str) -> None:
        if self._task is not None and not self._over.is_set():
            self._say(text)
            self._task.cancel()

    def _see_to_the_first(self) -> None:
        if not self._heard.wait(MAX_REACTION_SECONDS) and not self._over.is_set():
            _write(BLOCKED_LOOP_MESSAGE)

    def _see_to_the_second(self) -> None:
        if not self._over.wait(MAX_SHUTDOWN_SECONDS):
            _write(BLOCKED_STOP_MESSAGE)
            os._exit(INTERRUPTED_EXIT_CODE)


def _write(text: str) -> None:
    """Write to stderr directly, because the main thread may be in the middle of a write."""
    shown = SHOW_CURSOR_SEQUENCE if sys.stderr is not None and sys.stderr.isatty() else ""
    os.write(2, f"\n{shown}{text}".encode())
