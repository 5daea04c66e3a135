"""Evidence that a server serves one request at a time, and its wording."""

from __future__ import annotations

from benchwright.records import Record

MOST_GAIN = 1.15
"""Largest gain in throughput from several requests in flight if a server serves one at a time."""

LEAST_SLOWER = 0.8
"""Tolerance for the slow-down of such a server.

Each request takes `in_flight` times as long; this share of that number is accepted, and its inverse.
"""


class OneAtATime(Record, frozen=True):
    """A comparison with one request in flight.

    With `in_flight` requests, the server answered `gain` times as many per second as with one, and each took
    `slower` times as long.
    """

    in_flight: int
    gain: float
    slower: float

    @property
    def holds(self) -> bool:
        """True if the figures are those of a server that serves one request at a time."""
        return self.gain < MOST_GAIN and LEAST_SLOWER <= self.slower / self.in_flight <= 1 / LEAST_SLOWER


def one_at_a_time_text(found: OneAtATime) -> str:
    """Return the finding and its evidence as a sentence without a full stop."""
    return (
        f"The server serves one request at a time: with {found.in_flight:,} in flight it answered {found.gain:.2f} "
        f"times as many per second as with 1, and each took {found.slower:.1f} times as long"
    )
