"""Limit on the number of bytes that a container writes to disk: to its file system and its volumes.

Used if nothing else limits the container's writing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from benchwright.sandbox.docker.containers import Container, MiB
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors

CHECK_INTERVAL = 1.0
"""Minimum pause in seconds between two checks of the bytes that a container has written.

If a tenth of this time is not enough for a check, the pause is ten times as long as the check took.
"""


@asynccontextmanager
async def limit_disk(container: Container, most: int, volumes: Collection[str] = ()) -> AsyncIterator[None]:
    """Watch a container until exit. End the container if it writes more than `most` bytes, volumes included.

    `volumes`: the paths of volumes on the engine's disk.
    """
    watching = asyncio.ensure_future(_watch(container, most, volumes))
    try:
        yield
    finally:
        watching.cancel()


async def _watch(container: Container, most: int, volumes: Collection[str]) -> None:
    while True:
        looking = time.monotonic()
        try:
            with convert_engine_errors("looking at how much a container wrote"):
                written = await _written(container, volumes)
        except EngineError:
            return  # the container or the engine no longer exists
        if written > most:
            container.over_disk = True
            await container.kill(f"it wrote more than {most // MiB:,} MiB")
            return
        await asyncio.sleep(max(CHECK_INTERVAL, 10 * (time.monotonic() - looking)))


async def _written(container: Container, volumes: Collection[str]) -> int:
    shown = await container.handle.show(size=1)
    written: int = shown.get("SizeRw") or 0
    names = {
        mount["Name"] for mount in shown["Mounts"] if mount["Destination"] in volumes and "Name" in mount
    }
    if not names:
        return written
    used = await container.handle.docker._query_json(
        "system/df", params={"type": "volume"}
    )  # the library has no call for it
    sizes = {
        volume["Name"]: (volume.get("UsageData") or {}).get("Size", 0) for volume in used["Volumes"] or ()
    }
    in_volumes: int = sum(max(sizes.get(name, 0), 0) for name in names)
    return written + in_volumes
