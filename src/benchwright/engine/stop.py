"""Stopping a run early: one mechanism for budgets, systemic errors, signals and early decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from time import monotonic, perf_counter_ns
from typing import Any, Protocol

from benchwright.endpoint.providers import ModelClient
from benchwright.endpoint.rate_limits import LIMITING
from benchwright.engine.worker import Result, Solved
from benchwright.records import Status, TrialRecord


class StopRule(Protocol):
    """Sees every result; a reason ends the run once what is in flight has ended."""

    def update(self, result: Result) -> str | None:
        """The reason to stop, or None to go on."""
        ...


class Until(StopRule, Protocol):
    """A rule that ends a run once its question is decided, or cannot be."""

    @property
    def decided(self) -> bool:
        """Whether it is decided."""
        ...


class Stop:
    """Whether the run is to stop, and why. `interrupted` tells a signal from a rule.

    `clients` are those that must not let the end of an interrupted run wait for nothing.
    """

    def __init__(self, clients: Sequence[ModelClient] = ()) -> None:
        self.reason: str | None = None
        self._sleepers: dict[int, list[asyncio.Future[None]]] = {}
        self._interrupt = asyncio.Event()
        self._clients = clients

    @property
    def interrupted(self) -> bool:
        """Whether it was a signal, or came after one."""
        return self._interrupt.is_set()

    def because(self, reason: str) -> None:
        """Asks the run to stop; the first reason stands."""
        if self.reason is None:
            self.reason = reason
            for moment in list(self._sleepers):
                self._wake(moment)

    def interrupt(self, reason: str) -> None:
        """Asks the run to stop because of a signal: requests that get nowhere are not waited for."""
        self._interrupt.set()
        self.because(reason)
        for client in self._clients:
            client.hurry()

    async def cut_short(self, work: Coroutine[Any, Any, None]) -> None:
        """Does this work; where a signal comes first, the work is cancelled."""
        doing = asyncio.ensure_future(work)
        interrupt = asyncio.ensure_future(self._interrupt.wait())
        try:
            await asyncio.wait({doing, interrupt}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupt.cancel()
            if not doing.done():
                doing.cancel()
                await asyncio.wait({doing})
        if not doing.cancelled():
            doing.result()

    async def sleep_until(self, moment: int) -> None:
        """Waits for a moment of `perf_counter_ns`, or until the run is asked to stop.

        Those who wait for the same moment are woken by one timer, so that they go on together.
        """
        seconds = (moment - perf_counter_ns()) / 1e9
        if seconds <= 0 or self.reason is not None:
            return
        loop = asyncio.get_running_loop()
        if moment not in self._sleepers:
            self._sleepers[moment] = []
            loop.call_later(seconds, self._wake, moment)
        woken = loop.create_future()
        self._sleepers[moment].append(woken)
        await woken

    def _wake(self, moment: int) -> None:
        for sleeper in self._sleepers.pop(moment, ()):
            if not sleeper.done():
                sleeper.set_result(None)


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
    by an ordinary 400, say). One bad row never stops a run. With `sheds`, a server that refuses what is too much for it
    (429, 503) does not either: under load, the share that it refuses is the result. However it says so, what began
    before the first failure may still be answered; alike failures count from when all of that has failed, too.
    """

    def __init__(self, alike: int = 10, *, sheds: bool = False) -> None:
        self._alike = alike
        self._sheds = sheds
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
        if not self._possible or (self._sheds and _was_refused(record)):
            return None
        if record.status is not Status.PROVIDER_ERROR or self._reason not in (None, record.reason):
            self._possible = False
            return None
        if self._sheds and result.earlier:
            self._failed = 0
            return None
        self._reason = record.reason
        self._failed += 1
        if self._failed < self._alike:
            return None
        return f"the first {self._failed} trials failed with the same error: {record.reason}"


def _was_refused(record: TrialRecord) -> bool:
    """Whether the server said that it has too much to do."""
    return bool(record.requests) and record.requests[-1].http_status in LIMITING
