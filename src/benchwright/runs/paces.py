"""A concurrency that finds itself, as a journal tells of it. Requests made while it settled enter no timing."""

from __future__ import annotations

import msgspec

from benchwright.endpoint.flags import NARROWED
from benchwright.records import RequestRecord, RunEvent
from benchwright.runs.one_at_a_time import OneAtATime
from benchwright.runs.standstills import STOOD_STILL

SETTLING = "settling"
"""Flag of a request that began before the concurrency had settled, or while it settled again."""


def in_throughput(request: RequestRecord) -> bool:
    """Whether a request enters the throughput: it was answered, at a concurrency that stood, and timed.

    One from whose refusal a client learned what its server does not take was held up by that.
    A total of 0 is not a time: that of a request which another program made, and did not time.
    """
    timed = request.error is None and request.total > 0
    return timed and SETTLING not in request.flags and NARROWED not in request.flags


def in_timings(request: RequestRecord) -> bool:
    """Return whether a request enters latencies: it is in the throughput, and our process did not stand still."""
    return in_throughput(request) and STOOD_STILL not in request.flags


class Paces:
    """At which concurrency a run went that found it by itself, from the events `concurrency` of its journal.

    `settled` are the levels at which it stood, in their order, `last` the one that it came to in the end, and
    `spans` (wall-clock ns) when it was not settled. `found` and `given` tell whether sessions found it, or were given
    it. `one_at_a_time` is what showed that the server serves one request at a time, if something did.
    """

    def __init__(self) -> None:
        self.settled: list[int] = []
        self.last: int | None = None
        self.spans: list[tuple[int, int]] = []
        self.found = self.given = False
        self.one_at_a_time: OneAtATime | None = None
        self._in_session = False
        self._since: int | None = None

    def add(self, event: RunEvent, session_start: int) -> None:
        """Takes in what an event says of the level."""
        level: int = event.detail["level"]
        self.last = level
        if not self._in_session:
            self._in_session, self._since = True, session_start
        if not event.detail["settled"]:
            self._since = event.at if self._since is None else self._since
            return
        self._add_seconds(event.at)
        alone = event.detail.get("alone")
        self.one_at_a_time = None if alone is None else msgspec.convert(alone, OneAtATime)
        if self.settled[-1:] != [level]:
            self.settled.append(level)

    def end_session(self, at: int) -> None:
        """A session has ended."""
        self._add_seconds(at)
        self.found = self.found or self._in_session
        self.given = self.given or not self._in_session
        self._in_session = False

    def _add_seconds(self, until: int) -> None:
        if self._since is not None:
            self.spans.append((self._since, until))
        self._since = None

    @property
    def seconds(self) -> float:
        """How long it was not settled."""
        return sum(end - begin for begin, end in self.spans) / 1e9
