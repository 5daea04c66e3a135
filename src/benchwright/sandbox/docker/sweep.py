"""`python -m benchwright.sandbox.docker.sweep`: removes what this user's killed processes left in the engine.

It is run by a process that watches for the death of the process that it was started for (`orphans`).
"""

from __future__ import annotations

import asyncio

from benchwright.errors import UserError
from benchwright.sandbox.docker.cleanup import remove_leftovers
from benchwright.sandbox.docker.engine import connect_without_cleanup
from benchwright.sandbox.docker.errors import EngineError

SWEEP_DELAYS = (0.0, 3.0)
"""Seconds to wait before each sweep. The second sweep finds what the engine was still creating during the first."""


async def remove_all_leftovers() -> None:
    """Remove the leftovers of killed processes in the engine, twice."""
    for pause in SWEEP_DELAYS:
        await asyncio.sleep(pause)
        async with connect_without_cleanup() as engine:
            await remove_leftovers(engine)


if __name__ == "__main__":
    try:
        asyncio.run(remove_all_leftovers())
    except (EngineError, UserError):
        pass  # nobody is left to read the error; leftovers are removed at the next start
