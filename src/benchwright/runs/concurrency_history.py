"""History of an adaptive concurrency (`--concurrency auto`), read from a run's journal.

Requests that were made while the concurrency was settling are excluded from timings.
"""

from __future__ import annotations

import msgspec

from benchwright.endpoint.flags import RESENT_WITHOUT_PART_FLAG
from benchwright.records import RequestRecord, RunEvent
from benchwright.runs.serial_server import SerialServing
from benchwright.runs.standstills import STANDSTILL_FLAG

SETTLING_FLAG = "settling"
"""Flag of a request that began before the concurrency had settled, or while it was settling again."""


def counts_in_throughput(request: RequestRecord) -> bool:
    """Return True if a request counts for the throughput: answered, timed, and sent at a settled concurrency.

    Return False for a request that the server refused because of one of its parts and that was sent again
    without that part, because the refusal delayed it. Return False for a total of 0, which is not a time:
    another program made the request and did not time it.
    """
    timed = request.error is None and request.total > 0
    return timed and SETTLING_FLAG not in request.flags and RESENT_WITHOUT_PART_FLAG not in request.flags


def counts_in_timings(request: RequestRecord) -> bool:
    """Return True if a request counts for latencies.

    That is so if `counts_in_throughput` is True and no standstill affected the request.
    """
    return counts_in_throughput(request) and STANDSTILL_FLAG not in request.flags


class ConcurrencyHistory:
    """The concurrency levels of a run with adaptive concurrency, from `concurrency` events of its journal.

    - `settled`: the levels at which the concurrency settled, in order.
    - `last`: the latest level.
    - `spans`: the periods (wall-clock ns) in which the concurrency was not settled.
    - `found`: True if a session of the run adapted its concurrency.
    - `given`: True if a session of the run had a fixed concurrency.
    - `one_at_a_time`: the evidence that the server processes one request at a time, or None.
    """

    def __init__(self) -> None:
        self.settled: list[int] = []
        self.last: int | None = None
        self.spans: list[tuple[int, int]] = []
        self.found = self.given = False
        self.one_at_a_time: SerialServing | None = None
        self._in_session = False
        self._since: int | None = None

    def add_event(self, event: RunEvent, session_start: int) -> None:
        """Process a `concurrency` event of a session that began at `session_start` (wall-clock ns)."""
        level: int = event.detail["level"]
        self.last = level
        if not self._in_session:
            self._in_session, self._since = True, session_start
        if not event.detail["settled"]:
            self._since = event.at if self._since is None else self._since
            return
        self._add_seconds(event.at)
        alone = event.detail.get("alone")
        self.one_at_a_time = None if alone is None else msgspec.convert(alone, SerialServing)
        if self.settled[-1:] != [level]:
            self.settled.append(level)

    def end_session(self, at: int) -> None:
        """Process the end of a session at `at` (wall-clock ns).

        If the concurrency was not settled, this period also ends.
        """
        self._add_seconds(at)
        self.found = self.found or self._in_session
        self.given = self.given or not self._in_session
        self._in_session = False

    def _add_seconds(self, until: int) -> None:
        if self._since is not None:
            self.spans.append((self._since, until))
        self._since = None

    @property
    def settling_seconds(self) -> float:
        """Total seconds in which the concurrency was not settled."""
        return sum(end - begin for begin, end in self.spans) / 1e9
