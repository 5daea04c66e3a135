"""Python's garbage collector looks for cycles seldom: the event loop stands still while it does."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 10_000
OBJECTS_OF_A_TRIAL = 300


def collect_seldom(in_flight: int = 0) -> None:
    """Has the collector look when so many objects have come that the trials `in_flight` cannot be the reason.

    What trials under way keep is not garbage, and to find that out takes 50 ms for each half a million objects. What
    was imported so far is taken out of the collector's sight. For processes that have little else to do.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS + OBJECTS_OF_A_TRIAL * in_flight)
