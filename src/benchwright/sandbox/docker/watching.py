"""Watches how much a container has written to its own file system and volumes, where nothing else bounds that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from benchwright.sandbox.docker.containers import Container, MiB
from benchwright.sandbox.docker.errors import EngineError, engine_errors

LOOK_EVERY = 1.0
"""Seconds between two looks; ten times as long as a look takes, where that is more."""


@asynccontextmanager
async def disk_watched(container: Container, most: int, volumes: Collection[str] = ()) -> AsyncIterator[None]:
    """While entered, a container is ended that has written more than `most` bytes, what is in `volumes` included.

    `volumes` are the folders of those that the engine keeps on its disk.
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
            with engine_errors("looking at how much a container wrote"):
                written = await _written(container, volumes)
        except EngineError:
            return  # it is gone, or the engine is
        if written > most:
            container.over_disk = True
            await container.kill(f"it wrote more than {most // MiB:,} MiB")
            return
        await asyncio.sleep(max(LOOK_EVERY, 10 * (time.monotonic() - looking)))


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
    )  # it has no call for it
    sizes = {
        volume["Name"]: (volume.get("UsageData") or {}).get("Size", 0) for volume in used["Volumes"] or ()
    }
    in_volumes: int = sum(max(sizes.get(name, 0), 0) for name in names)
    return written + in_volumes
