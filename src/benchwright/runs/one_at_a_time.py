"""A server that serves one request at a time: how that is known, and how it is said."""

from __future__ import annotations

from benchwright.records import Record

MOST_GAIN = 1.15
"""A server that gains less by having several requests in flight than by having one serves them one after the other."""

LEAST_SLOWER = 0.8
"""Each request then takes as many times as long as there are in flight, or at least this share of that."""


class OneAtATime(Record, frozen=True):
    """With `in_flight` requests a server answered `gain` times as many per second as with one, and each took `slower`
    times as long."""

    in_flight: int
    gain: float
    slower: float

    @property
    def holds(self) -> bool:
        """Whether that is how a server does that serves one request at a time."""
        return self.gain < MOST_GAIN and LEAST_SLOWER <= self.slower / self.in_flight <= 1 / LEAST_SLOWER


def one_at_a_time_text(found: OneAtATime) -> str:
    """Return what was found and the evidence, without a full stop."""
    return (
        f"The server serves one request at a time: with {found.in_flight:,} in flight it answered {found.gain:.2f} "
        f"times as many per second as with 1, and each took {found.slower:.1f} times as long"
    )
