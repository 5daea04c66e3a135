"""`python -m benchwright.sandbox.docker.sweep`: removes what this user's killed processes left in the engine.

It is run by the process that watches for the death of another (`orphans`).
"""

from __future__ import annotations

import asyncio

from benchwright.errors import UserError
from benchwright.sandbox.docker.cleanup import remove_leftovers
from benchwright.sandbox.docker.engine import connection
from benchwright.sandbox.docker.errors import EngineError

PAUSES = (0.0, 3.0)
"""Seconds before each sweep. The second one finds what the engine was still creating during the first."""


async def sweep() -> None:
    """Remove the leftovers of killed processes in the engine, twice."""
    for pause in PAUSES:
        await asyncio.sleep(pause)
        async with connection() as engine:
            await remove_leftovers(engine)


if __name__ == "__main__":
    try:
        asyncio.run(sweep())
    except (EngineError, UserError):
        pass  # nobody is left to read the error; leftovers are removed at the next start
