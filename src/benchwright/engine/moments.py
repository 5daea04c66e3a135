"""Moments at which something is to happen."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns

LEAD_NS = 10_000_000
"""How long before its intended start a trial is taken up, so that its first request can leave at that moment."""


async def until(moment: int) -> None:
    """Waits until a moment of `perf_counter_ns`, although uvloop's timers may be half a millisecond early."""
    while (wait := moment - perf_counter_ns()) > 0:  # noqa: ASYNC110 - time is the only event
        await asyncio.sleep(wait / 1e9)
