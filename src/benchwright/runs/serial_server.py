"""Evidence that a server processes only one request at a time, and a sentence that states the evidence."""

from __future__ import annotations

from benchwright.records import Record

MAX_SERIAL_GAIN = 1.15
"""Largest factor by which several requests in flight may raise the throughput if the server still counts as
processing one request at a time.
"""

SLOWDOWN_TOLERANCE = 0.8
"""Tolerance for the slow-down by which a server is recognised as processing one request at a time.

With n requests in flight, each request to such a server should take n times as long as a single one. A
slow-down from n * `SLOWDOWN_TOLERANCE` to n / `SLOWDOWN_TOLERANCE` is accepted.
"""


class SerialServing(Record, frozen=True):
    """Speed of a server with several requests in flight, compared with its speed with one request.

    With `in_flight` requests, the server answered `gain` times as many requests per second as with one, and
    each request took `slower` times as long.
    """

    in_flight: int
    gain: float
    slower: float

    @property
    def is_serial(self) -> bool:
        """True if the figures show that the server processes one request at a time."""
        return (
            self.gain < MAX_SERIAL_GAIN
            and SLOWDOWN_TOLERANCE <= self.slower / self.in_flight <= 1 / SLOWDOWN_TOLERANCE
        )


def serial_serving_text(found: SerialServing) -> str:
    """Return the finding and its evidence in one sentence, without a full stop."""
    return (
        f"The server serves one request at a time: with {found.in_flight:,} in flight it answered {found.gain:.2f} "
        f"times as many per second as with 1, and each took {found.slower:.1f} times as long"
    )
