"""Stopping a run early: one mechanism for budgets, systemic errors, signals and early decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from time import monotonic
from typing import Any, Protocol

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.worker import Result, Solved
from benchwright.records import Status


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
        self._asked = asyncio.Event()
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
            self._asked.set()

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
