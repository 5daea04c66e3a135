"""Makes collections by Python's garbage collector rare, because each collection blocks the event loop."""

from __future__ import annotations

import gc

MIN_COLLECTION_THRESHOLD = 10_000
OBJECTS_PER_TRIAL = 300


def raise_collection_threshold(in_flight: int = 0) -> None:
    """Raise the collector's threshold above the number of objects that trials in flight can account for.

    Objects of running trials are not garbage, but each collection would examine them: 50 ms per half a million
    objects. Everything imported so far is excluded from collection. Call this function only in processes that
    do little else.
    """
    gc.freeze()
    gc.set_threshold(MIN_COLLECTION_THRESHOLD + OBJECTS_PER_TRIAL * in_flight)
