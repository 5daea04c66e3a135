"""Containers: what they may use, and their start and end, which nothing interrupts half-way."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchwright.records import Record
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, engine_errors

if TYPE_CHECKING:
    from aiodocker.containers import DockerContainer

MiB = 1024 * 1024
GiB = 1024 * MiB

LOG_LINES = 60
LOG_SECONDS = 30.0
ENDING_SECONDS = 2.0
"""How long the engine may take to know that a container has ended."""


class Resources(Record, frozen=True):
    """What a container may use; `cpus` is lowered to what the machine has.

    There is no swap, and no file is larger than `disk_bytes`.
    """

    memory_bytes: int = 2 * GiB
    cpus: float = 1.0
    processes: int = 256
    disk_bytes: int = 1 * GiB


def confinement(engine: Engine, resources: Resources) -> dict[str, Any]:
    """The part of a container's HostConfig that says what it may use."""
    cpus = min(resources.cpus, engine.information.get("NCPU") or resources.cpus)
    disk = resources.disk_bytes
    return {
        "Memory": resources.memory_bytes,
        "MemorySwap": resources.memory_bytes,
        "NanoCpus": int(cpus * 1e9),
        "PidsLimit": resources.processes,
        "SecurityOpt": ["no-new-privileges"],
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "fsize", "Soft": disk, "Hard": disk},
        ],
    }


class Container:
    """A container.

    `trouble` says why we ended it before its time, where we did, and `over_disk` whether because it wrote too much;
    `memory_kills` is how many of its processes are known to have been killed for lack of memory.
    """

    def __init__(self, name: str, handle: DockerContainer) -> None:
        self.name = name
        self.handle = handle
        self.trouble: str | None = None
        self.over_disk = False
        self.memory_kills = 0

    async def state(self) -> dict[str, Any]:
        """The engine's `State` of it: Running, ExitCode, OOMKilled and so on; empty where it was removed.

        Raises:
            EngineError: the engine does not answer.
        """
        try:
            with engine_errors("looking at a container"):
                return dict((await self.handle.show())["State"])
        except EngineError as error:
            if error.kind == "not_running":
                raise
            return {}

    async def state_after_end(self) -> dict[str, Any]:
        """The state of a container in which nothing can be run any more; the engine may take a while to know it.

        Raises:
            EngineError: the engine does not answer.
        """
        deadline = time.monotonic() + ENDING_SECONDS
        while True:
            state = await self.state()
            if not state.get("Running") or time.monotonic() > deadline:
                return state
            await asyncio.sleep(0.05)

    async def logs(self) -> str:
        """The last lines of what it wrote.

        Raises:
            EngineError: the engine does not answer, or the container was removed.
        """
        with engine_errors("reading a container's log"):
            return "".join(
                await self.handle.log(stdout=True, stderr=True, tail=LOG_LINES, timeout=LOG_SECONDS)
            )

    async def kill(self, why: str) -> None:
        """Ends it at once with everything in it."""
        self.trouble = self.trouble or why
        try:
            with engine_errors("ending a container"):
                await self.handle.kill()
        except EngineError:
            pass  # it has ended already, or the engine has; removing it is what counts

    async def remove(self) -> None:
        """Ends and removes it with its volumes; nothing happens where it is gone.

        Raises:
            EngineError: the engine does not answer.
        """
        try:
            with engine_errors("removing a container"):
                await self.handle.delete(force=True, v=True)
        except EngineError as error:
            if error.kind == "not_running":
                raise


Prepare = Callable[[Container], Awaitable[None]]
"""What is done to a container that was created and not started."""


async def start(
    engine: Engine, configuration: Mapping[str, Any], prepare: Prepare | None = None
) -> Container:
    """Creates and starts a container, prepared in between; where that fails or is cancelled, nothing is left of it.

    Raises:
        EngineError: the image is not there, or the engine refuses.
    """
    name = f"benchwright-{secrets.token_hex(6)}"
    container = Container(name, engine.client.containers.container(name))
    starting = asyncio.ensure_future(_start(engine, configuration, container, prepare))
    try:
        await asyncio.shield(starting)
    except BaseException:
        await asyncio.shield(_abandon(starting, container))
        raise
    return container


async def _start(
    engine: Engine, configuration: Mapping[str, Any], container: Container, prepare: Prepare | None
) -> None:
    with engine_errors(f"starting a container of {configuration['Image']}"):
        await engine.client.containers.create(dict(configuration), name=container.name)
        if prepare is not None:
            await prepare(container)
        await container.handle.start()


async def _abandon(starting: asyncio.Task[None], container: Container) -> None:
    await asyncio.wait([starting])
    starting.exception()
    try:
        await container.remove()
    except EngineError:
        pass  # what was not removed now is removed at the next start
