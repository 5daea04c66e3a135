"""Stopping a run early: one mechanism for budgets, systemic errors, signals and early decisions."""

from __future__ import annotations

import asyncio
import signal
from time import monotonic
from typing import Protocol

from benchwright.engine.worker import Result, Solved
from benchwright.records import Status
from benchwright.text import Say


class StopRule(Protocol):
    """Sees every result; a reason ends the run once what is in flight has ended."""

    def update(self, result: Result) -> str | None:
        """The reason to stop, or None to go on."""
        ...


class Stop:
    """Whether the run is to stop, and why. `interrupted` tells a signal from a rule."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.interrupted = False
        self._asked = asyncio.Event()

    def because(self, reason: str) -> None:
        """Asks the run to stop; the first reason stands."""
        if self.reason is None:
            self.reason = reason
            self._asked.set()

    async def sleep(self, seconds: float) -> None:
        """Waits so long, or until the run is asked to stop."""
        try:
            await asyncio.wait_for(self._asked.wait(), seconds)
        except TimeoutError:
            pass


class TokenBudget:
    """Stops when the requests of the run have used this many tokens."""

    def __init__(self, tokens: int) -> None:
        self._budget = tokens
        self._used = 0

    def update(self, result: Result) -> str | None:
        """Counts the tokens of every request, the judge's included."""
        if isinstance(result, Solved):
            self._used += sum(request.usage.total_tokens for request in result.record.requests)
        else:
            self._used += sum(
                request.usage.total_tokens for score in result.scores for request in score.requests
            )
        if self._used < self._budget:
            return None
        return f"the budget of {self._budget:,} tokens is used up ({self._used:,} used)"


class TimeBudget:
    """Stops when the run has taken this many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = monotonic() + seconds

    def update(self, result: Result) -> str | None:
        """Looks at the clock."""
        return f"the budget of {self._seconds:g} seconds is used up" if monotonic() >= self._end else None


class SystemicErrors:
    """Stops when further requests would fail like those before.

    That is so at the first error that every request must meet (wrong key, closed port), and when the first
    `alike` trials failed for the same reason and none was answered (a server that tells of an unknown model
    by an ordinary 400, say). One bad row never stops a run.
    """

    def __init__(self, alike: int = 10) -> None:
        self._alike = alike
        self._failed = 0
        self._reason: str | None = None
        self._possible = True

    def update(self, result: Result) -> str | None:
        """Looks for a systemic error."""
        if not isinstance(result, Solved):
            return None
        record = result.record
        if result.systemic:
            return record.reason
        if not self._possible:
            return None
        if record.status is not Status.PROVIDER_ERROR or self._reason not in (None, record.reason):
            self._possible = False
            return None
        self._reason = record.reason
        self._failed += 1
        if self._failed < self._alike:
            return None
        return f"the first {self._failed} trials failed with the same error: {record.reason}"


class Signals:
    """While entered, the first SIGINT or SIGTERM stops the run, the second cancels what is in flight."""

    def __init__(self, stop: Stop, say: Say) -> None:
        self._stop = stop
        self._say = say
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Signals:
        self._task = asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                asyncio.get_running_loop().add_signal_handler(number, self._received, number)
            except (NotImplementedError, RuntimeError, ValueError):  # not the main thread: no signals there
                return self
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(number)

    def _received(self, number: signal.Signals) -> None:
        if self._stop.interrupted:
            self._say("Stopping now; finished trials are saved.")
            if self._task is not None:
                self._task.cancel()
            return
        self._stop.interrupted = True
        self._stop.because(f"interrupted by {signal.Signals(number).name}")
        self._say("Stopping: finishing what is in flight and saving it. Press again to stop immediately.")
