"""Sees to it that nothing is left: of what is under way here, and of what dead processes left behind."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from filelock import Timeout

from benchwright.sandbox.docker import owner
from benchwright.sandbox.docker.building import lock_of
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, engine_errors
from benchwright.sandbox.docker.images import remove_image
from benchwright.sandbox.docker.networks import remove_left_networks
from benchwright.sandbox.docker.snapshots import remove_left_snapshots


@asynccontextmanager
async def removed_in_the_end(
    container: Container, unless: Callable[[], bool] = lambda: False
) -> AsyncIterator[Container]:
    """A container that is removed when the context is left, however that happens, unless it shall stay then.

    An engine that does not answer then is not an error: what is left is removed at the next start.
    """
    try:
        yield container
    finally:
        if not unless():
            await asyncio.shield(_removed(container))


@asynccontextmanager
async def created(engine: Engine, image: str, run_id: str) -> AsyncIterator[Container]:
    """A container in which nothing ever runs: the files of an image, to be read; gone when the context is left.

    Raises:
        EngineError: the image is not there, or the engine refuses.
    """
    name = f"benchwright-{secrets.token_hex(6)}"
    container = Container(name, engine.client.containers.container(name))
    async with removed_in_the_end(container):
        with engine_errors(f"opening the image {image}"):
            configuration: dict[str, Any] = {"Image": image, "Cmd": ["true"], "Labels": owner.labels(run_id)}
            await engine.client.containers.create(configuration, name=name)
        yield container


async def remove_leftovers(engine: Engine) -> list[str]:
    """Removes what dead processes of this user left behind; returns its names.

    Containers go with their volumes, then their networks and snapshots. Of other images only those go that an
    unfinished build left without a name; a finished one is there to be used again. What others own, or what was meant
    to stay, is not touched.

    Raises:
        EngineError: the engine does not answer.
    """
    removed = []
    for container in await leftovers(engine):
        await container.remove()
        removed.append(container.name)
    removed += await remove_left_networks(engine)
    removed += await remove_left_snapshots(engine)
    with engine_errors("looking for images of earlier builds"):
        unnamed = {"label": [owner.BUILT_FOR], "dangling": ["true"]}
        listed = await engine.client.images.list(filters=unnamed)
    images = [image for image in listed if owner.SNAPSHOT not in image["Labels"]]
    return removed + [image["Id"] for image in images if await _removed_unless_built(engine, image)]


async def leftovers(engine: Engine) -> list[Container]:
    """The containers that dead processes of this user left behind.

    Raises:
        EngineError: the engine does not answer.
    """
    with engine_errors("looking for containers of earlier runs"):
        ours = json.dumps({"label": [owner.PROCESS]})
        found = await engine.client.containers.list(all=1, filters=ours)
    return [
        Container(handle["Names"][0].removeprefix("/"), handle)
        for handle in found
        if owner.left_behind(handle["Labels"])
    ]


async def _removed(container: Container) -> None:
    try:
        await container.remove()
    except EngineError:
        pass  # what was not removed now is removed at the next start


async def _removed_unless_built(engine: Engine, image: Mapping[str, Any]) -> bool:
    lock = lock_of(image["Labels"][owner.BUILT_FOR])
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    try:
        return await remove_image(engine, image["Id"])
    finally:
        lock.release()
