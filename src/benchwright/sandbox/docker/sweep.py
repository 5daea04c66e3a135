"""`python -m benchwright.sandbox.docker.sweep`: removes what killed processes of this user left at the engine.

The watching process of a killed process runs it (`orphans`).
"""

from __future__ import annotations

import asyncio

from benchwright.errors import UserError
from benchwright.sandbox.docker.engine import connection
from benchwright.sandbox.docker.errors import EngineError
from benchwright.sandbox.docker.removing import remove_leftovers

PAUSES = (0.0, 3.0)
"""Seconds before each sweep. The second one finds what the engine was still creating at the first."""


async def sweep() -> None:
    """Remove what killed processes left, twice."""
    for pause in PAUSES:
        await asyncio.sleep(pause)
        async with connection() as engine:
            await remove_leftovers(engine)


if __name__ == "__main__":
    try:
        asyncio.run(sweep())
    except (EngineError, UserError):
        pass  # nobody is left to read it; what remains is removed at the next start
