"""Removes containers, networks and images: Benchwright's own on exit, and those that dead processes left."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from filelock import Timeout

from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.building import image_build_lock
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors
from benchwright.sandbox.docker.images import remove_image
from benchwright.sandbox.docker.networks import remove_leftover_networks
from benchwright.sandbox.docker.snapshots import remove_leftover_snapshots


@asynccontextmanager
async def remove_on_exit(
    container: Container, unless: Callable[[], bool] = lambda: False
) -> AsyncIterator[Container]:
    """Remove a container on exit. Keep it if `unless()` returns True at that time.

    If the engine does not answer, no error is raised. The leftover is removed at the next start.
    """
    try:
        yield container
    finally:
        if not unless():
            await asyncio.shield(_removed(container))


@asynccontextmanager
async def unstarted_container(engine: Engine, image: str, run_id: str) -> AsyncIterator[Container]:
    """Create a container that never runs, to read the files of an image. Remove the container on exit.

    Raises:
        EngineError: If the image does not exist or the engine refuses.
    """
    name = f"benchwright-{secrets.token_hex(6)}"
    container = Container(name, engine.client.containers.container(name))
    async with remove_on_exit(container):
        with convert_engine_errors(f"opening the image {image}"):
            configuration: dict[str, Any] = {
                "Image": image,
                "Cmd": ["true"],
                "Labels": ownership.ownership_labels(run_id),
            }
            await engine.client.containers.create(configuration, name=name)
        yield container


async def remove_leftovers(engine: Engine) -> list[str]:
    """Remove the objects in the engine that dead processes of this user left. Return the objects' names.

    The objects are containers with their volumes, networks, snapshots, and unnamed images of unfinished
    builds. Finished images are kept to be used again. Objects of other users are not touched, and neither are
    objects that are marked to be kept.

    Raises:
        EngineError: If the engine does not answer.
    """
    removed = []
    for container in await find_leftovers(engine):
        await container.remove()
        removed.append(container.name)
    removed += await remove_leftover_networks(engine)
    removed += await remove_leftover_snapshots(engine)
    with convert_engine_errors("looking for images of earlier builds"):
        unnamed = {"label": [ownership.BUILT_FOR_LABEL], "dangling": ["true"]}
        listed = await engine.client.images.list(filters=unnamed)
    images = [image for image in listed if ownership.SNAPSHOT_LABEL not in image["Labels"]]
    return removed + [image["Id"] for image in images if await _removed_unless_built(engine, image)]


async def find_leftovers(engine: Engine) -> list[Container]:
    """Return the containers that dead processes of this user left.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("looking for containers of earlier runs"):
        ours = json.dumps({"label": [ownership.PROCESS_LABEL]})
        found = await engine.client.containers.list(all=1, filters=ours)
    return [
        Container(handle["Names"][0].removeprefix("/"), handle)
        for handle in found
        if ownership.is_leftover(handle["Labels"])
    ]


async def _removed(container: Container) -> None:
    try:
        await container.remove()
    except EngineError:
        pass  # a leftover is removed at the next start


async def _removed_unless_built(engine: Engine, image: Mapping[str, Any]) -> bool:
    lock = image_build_lock(image["Labels"][ownership.BUILT_FOR_LABEL])
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    try:
        return await remove_image(engine, image["Id"])
    finally:
        lock.release()
