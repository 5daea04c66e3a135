"""Snapshots: images of a container's present state (its changed files), kept as long as they are needed.

The engine takes a snapshot from outside the container. A snapshot does not include volumes, mounts made
inside the container, or processes.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from benchwright.records import Record
from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors

ChangeKind = Literal["changed", "added", "deleted"]

_KINDS: tuple[ChangeKind, ...] = ("changed", "added", "deleted")
"""Kinds of changes. The index of a kind is its number in the engine's answers."""


class FileChange(Record, frozen=True):
    """A path in a container that differs from the image. Every path in an added folder is "added", too."""

    path: str
    kind: ChangeKind


async def list_file_changes(container: Container) -> list[FileChange]:
    """Return the differences of a container's file system from its image, ordered by path, without volumes.

    If a path in a changed folder has changed, the folder itself is omitted.

    Raises:
        EngineError: If the engine does not answer, or if the container no longer exists.
    """
    with convert_engine_errors("listing the changes of a container"):
        listed = await container.handle.docker._query_json(f"containers/{container.name}/changes")
    found = [FileChange(entry["Path"], _KINDS[entry["Kind"]]) for entry in listed or ()]
    parents = {posixpath.dirname(one.path) for one in found}
    own = (one for one in found if one.kind != "changed" or one.path not in parents)
    return sorted(own, key=lambda one: one.path)


@asynccontextmanager
async def temporary_snapshot(engine: Engine, container: Container, run_id: str) -> AsyncIterator[str]:
    """Create an image of a container's present state, and yield the image's id. Remove the image on exit.

    The container is paused while the image is created.

    Raises:
        EngineError: If the engine refuses.
    """
    taking = asyncio.ensure_future(_commit(container, run_id))
    try:
        image = await asyncio.shield(taking)
    except asyncio.CancelledError:
        await asyncio.shield(_abandon(engine, taking))
        raise
    try:
        yield image
    finally:
        await asyncio.shield(_removed(engine, image))


async def remove_leftover_snapshots(engine: Engine) -> list[str]:
    """Remove the snapshots that dead processes of this user left. Return the snapshots' ids.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("looking for snapshots of earlier runs"):
        found = await engine.client.images.list(filters={"label": [ownership.SNAPSHOT_LABEL]})
    left = [entry["Id"] for entry in found if ownership.is_leftover(entry["Labels"])]
    for image in left:
        await _removed(engine, image)
    return left


async def _commit(container: Container, run_id: str) -> str:
    labels = {**ownership.ownership_labels(run_id), ownership.SNAPSHOT_LABEL: container.name}
    told = [f'LABEL "{name}"="{value}"' for name, value in labels.items()]
    with convert_engine_errors("taking a snapshot of a container"):
        made = await container.handle.commit(changes=told)
    return str(made["Id"])


async def _abandon(engine: Engine, taking: asyncio.Task[str]) -> None:
    await asyncio.wait([taking])
    if taking.exception() is None:
        await _removed(engine, taking.result())


async def _removed(engine: Engine, image: str) -> None:
    try:
        with convert_engine_errors("removing a snapshot"):
            await engine.client.images.delete(image, force=True, noprune=True)
    except EngineError:
        pass  # a leftover is removed at the next start
