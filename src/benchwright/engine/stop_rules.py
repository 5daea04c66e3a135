"""Early stops of a run: one mechanism for budgets, systemic errors, signals and decided questions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from time import monotonic, perf_counter_ns
from typing import Any, Protocol

from benchwright.endpoint.providers import ModelClient
from benchwright.endpoint.rate_limits import RATE_LIMIT_STATUSES
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.records import Status, TrialRecord


class StopRule(Protocol):
    """Examines every result and may give a reason to stop the run.

    Once a rule has given a reason, the trials in flight end, but no further trials begin.
    """

    def update(self, result: WorkResult) -> str | None:
        """Return the reason to stop. Return None to go on."""
        ...


class DecisionRule(StopRule, Protocol):
    """A rule that stops a run once its statistical question is decided or proves undecidable."""

    @property
    def is_decided(self) -> bool:
        """True if the statistical question is decided."""
        ...


class StopRequest:
    """Holds the reason to stop a run, if there is one. `is_interrupted`: True if a signal stopped the run.

    When a signal arrives, `clients` no longer wait for stalled requests, so that these do not delay the end of
    the run.
    """

    def __init__(self, clients: Sequence[ModelClient] = ()) -> None:
        self.reason: str | None = None
        self._sleepers: dict[int, list[asyncio.Future[None]]] = {}
        self._interrupt = asyncio.Event()
        self._clients = clients

    @property
    def is_interrupted(self) -> bool:
        """True if a signal has arrived, even if the run was already stopping."""
        return self._interrupt.is_set()

    def request_stop(self, reason: str) -> None:
        """Ask the run to stop. Only the first reason is kept."""
        if self.reason is None:
            self.reason = reason
            for moment in list(self._sleepers):
                self._wake(moment)

    def interrupt(self, reason: str) -> None:
        """Ask the run to stop because of a signal, without waiting for stalled requests."""
        self._interrupt.set()
        self.request_stop(reason)
        for client in self._clients:
            client.stop_waiting()

    async def run_unless_interrupted(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine. Cancel it if a signal arrives first."""
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
        """Wait for a moment of `perf_counter_ns`, or until the run is asked to stop.

        All waiters for the same moment share one timer, so that they continue together.
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
    """Rule that stops the run when its requests have used this many tokens in total."""

    def __init__(self, tokens: int) -> None:
        self._budget = tokens
        self._used = 0

    def update(self, result: WorkResult) -> str | None:
        """Add the tokens of all requests of a result (model and judges).

        Return the reason to stop if the budget is used up. Return None otherwise.
        """
        if isinstance(result, SolvedWork):
            self._used += sum(request.usage.total_tokens for request in result.record.requests)
        else:
            self._used += sum(
                request.usage.total_tokens for score in result.scores for request in score.requests
            )
        if self._used < self._budget:
            return None
        return f"the budget of {self._budget:,} tokens is used up ({self._used:,} used)"


class TimeBudget:
    """Rule that stops the run this many seconds after the rule was created."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = monotonic() + seconds

    def update(self, result: WorkResult) -> str | None:
        """Return the reason to stop if the time is over. Return None otherwise."""
        return f"the budget of {self._seconds:g} seconds is used up" if monotonic() >= self._end else None


class SystemicErrorRule:
    """Rule that stops the run when further requests would fail in the same way as those before.

    There are two such cases. The first is an error that every request must meet (wrong key, closed port). In
    the second, the first `alike` trials failed for the same reason and no trial was answered (for example, a
    server reports an unknown model by an ordinary 400). One bad row never stops a run.

    If `sheds` is True, two things differ. Refusals because of overload (429, 503) do not stop the run: under
    load, the share of refused requests is a result. And equal failures count only after all trials that began
    before the first failure have failed too, because these trials may still be answered.
    """

    def __init__(self, alike: int = 10, *, sheds: bool = False) -> None:
        self._alike = alike
        self._sheds = sheds
        self._failed = 0
        self._reason: str | None = None
        self._possible = True

    def update(self, result: WorkResult) -> str | None:
        """Return the reason to stop once the errors so far show that further requests would fail too.

        Return None before that.
        """
        if not isinstance(result, SolvedWork):
            return None
        record = result.record
        if result.is_systemic:
            return record.reason
        if not self._possible or (self._sheds and _was_refused(record)):
            return None
        if record.status is not Status.PROVIDER_ERROR or self._reason not in (None, record.reason):
            self._possible = False
            return None
        if self._sheds and result.earlier_in_flight:
            self._failed = 0
            return None
        self._reason = record.reason
        self._failed += 1
        if self._failed < self._alike:
            return None
        return f"the first {self._failed} trials failed with the same error: {record.reason}"


def _was_refused(record: TrialRecord) -> bool:
    """Return True if the server refused the trial's last request because of overload or a rate limit (429, 503
    or 529).
    """
    return bool(record.requests) and record.requests[-1].http_status in RATE_LIMIT_STATUSES
