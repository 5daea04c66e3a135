"""The gate before a target: while its server asks for a pause, no request is sent to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from benchwright.errors import ProviderError, RunStopped

LIMITING = frozenset({429, 503, 529})
"""Statuses by which a server says, with Retry-After, that it wants no requests for a while."""

SHORTEST_WAIT = 0.1
"""Seconds that are waited at least, so that a server that asks for less is not asked in a loop."""


class Waits:
    """How long one trial has waited for rate limits, in seconds; requests that wait at once wait once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._waiting = 0
        self._since = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts what is within as waiting."""
        if not self._waiting:
            self._since = monotonic()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self.seconds += monotonic() - self._since


class Gate:
    """Shut for as long as a rate limit says; a trial waits before it for `longest` seconds in all."""

    def __init__(self, longest: float) -> None:
        self.on_shut: Callable[[float], None] = lambda seconds: None
        """Called with the seconds for which it is shut from now on; for others to set."""
        self._longest = longest
        self._opens_at = 0.0
        self._stopped = asyncio.Event()
        self._why: ProviderError = ProviderError("")

    def shut(self, error: ProviderError, waits: Waits) -> bool:
        """Shuts for as long as an error asks for, which is then no failure; false where it asks for nothing.

        Raises:
            ProviderError: it asks for longer than the trial may wait.
        """
        if error.retry_after is None or error.http_status not in LIMITING:
            return False
        seconds = max(error.retry_after, SHORTEST_WAIT)
        self._check(seconds, waits, error)
        if monotonic() + seconds > self._opens_at:
            self._opens_at = monotonic() + seconds
            self._why = error
            self.on_shut(seconds)
        return True

    async def passed(self, waits: Waits) -> None:
        """Returns when requests may be sent.

        Raises:
            ProviderError: the trial would have waited for longer than it may.
            RunStopped: the run is to stop.
        """
        while (seconds := self._opens_at - monotonic()) > 0:
            if self._stopped.is_set():
                raise RunStopped(f"{self._why}; not waited for, as the run was stopped")
            self._check(seconds, waits, self._why)
            with waits.counted(), suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), seconds)

    @property
    def is_shut(self) -> bool:
        """Whether requests have to wait."""
        return self._opens_at > monotonic()

    def stop(self) -> None:
        """Has nobody wait any more."""
        self._stopped.set()

    def _check(self, seconds: float, waits: Waits, error: ProviderError) -> None:
        if waits.seconds + seconds > self._longest:
            raise ProviderError(
                f"{str(error).rstrip('.')} and asks to wait {seconds:,g} s; "
                f"a trial waits {self._longest:g} s in all (--max-wait)",
                http_status=error.http_status,
            )
