"""Gate that holds back all requests to a target while its server asks for a pause."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from benchwright.errors import ProviderError, RunStopped

RATE_LIMIT_STATUSES = frozenset({429, 503, 529})
"""HTTP statuses with which a server, if it also sends Retry-After, asks for a pause of all requests."""

MIN_WAIT_SECONDS = 0.1
"""Minimum wait in seconds, even if a server asks for a shorter wait. It prevents a fast loop of requests."""


class RateLimitWaits:
    """Time that one trial has waited for rate limits, in seconds.

    If several requests of the trial wait at the same time, that time counts once.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._waiting = 0
        self._since = 0.0

    @contextmanager
    def count_wait(self) -> Iterator[None]:
        """Count the time spent in this context as waiting for rate limits."""
        if not self._waiting:
            self._since = monotonic()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self.seconds += monotonic() - self._since


class RateLimitGate:
    """Gate that holds requests back until the pause of a rate limit is over.

    A trial waits at the gate for at most `longest` seconds in total.
    """

    def __init__(self, longest: float) -> None:
        self.on_shut: Callable[[float], None] = lambda seconds: None
        """Callback, called with the seconds for which the gate is shut from now on. Other objects set it."""
        self._longest = longest
        self._opens_at = 0.0
        self._stopped = asyncio.Event()
        self._why: ProviderError = ProviderError("")

    def shut(self, error: ProviderError, waits: RateLimitWaits) -> bool:
        """Shut the gate for the pause that an error asks for.

        Return True if the error asks for a pause. Such an error does not count as a failed attempt. Return
        False otherwise.

        Raises:
            ProviderError: If the pause is longer than the trial may wait.
        """
        if error.retry_after is None or error.http_status not in RATE_LIMIT_STATUSES:
            return False
        seconds = max(error.retry_after, MIN_WAIT_SECONDS)
        self._check(seconds, waits, error)
        if monotonic() + seconds > self._opens_at:
            self._opens_at = monotonic() + seconds
            self._why = error
            self.on_shut(seconds)
        return True

    async def wait_until_open(self, waits: RateLimitWaits) -> None:
        """Wait until the gate is open.

        Raises:
            ProviderError: If the trial would have to wait for longer than it may.
            RunStopped: If the run is to stop.
        """
        while (seconds := self._opens_at - monotonic()) > 0:
            if self._stopped.is_set():
                raise RunStopped(f"{self._why}; not waited for, as the run was stopped")
            self._check(seconds, waits, self._why)
            with waits.count_wait(), suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), seconds)

    @property
    def is_shut(self) -> bool:
        """True while requests have to wait at the gate."""
        return self._opens_at > monotonic()

    def stop(self) -> None:
        """Let requests at the shut gate fail from now on, instead of waiting."""
        self._stopped.set()

    def _check(self, seconds: float, waits: RateLimitWaits, error: ProviderError) -> None:
        if waits.seconds + seconds > self._longest:
            raise ProviderError(
                f"{str(error).rstrip('.')} and asks to wait {seconds:,g} s; "
                f"a trial waits {self._longest:g} s in all (--max-wait)",
                http_status=error.http_status,
            )
