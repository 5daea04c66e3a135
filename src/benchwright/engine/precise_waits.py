"""Waiting for exact moments."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns

from benchwright.engine.kernel_timer import kernel_timer

START_LEAD_NS = 10_000_000
"""Number of ns before its intended start at which a trial is begun, so that its first request leaves on time."""


async def wait_until(moment: int) -> None:
    """Wait until a moment of `perf_counter_ns`, accurate to about 0.1 ms on Linux and to 1 ms elsewhere."""
    while (wait := moment - perf_counter_ns()) > 0:
        if not await kernel_timer().wait_until(moment):
            await asyncio.sleep(wait / 1e9)
