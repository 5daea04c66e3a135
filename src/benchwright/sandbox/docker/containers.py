"""Containers and their limits. The start and the removal of a container are never interrupted half-way."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchwright.records import Record
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors

if TYPE_CHECKING:
    from aiodocker.containers import DockerContainer

MiB = 1024 * 1024
GiB = 1024 * MiB

MAX_LOG_LINES = 60
LOG_SECONDS = 30.0
MAX_END_DELAY = 2.0
"""Seconds that the engine may take to notice that a container has ended."""


class Resources(Record, frozen=True):
    """Limits of a container.

    `cpus`: lowered to the machine's number of CPUs. `disk_bytes`: no file can be larger. There is no swap.
    """

    memory_bytes: int = 2 * GiB
    cpus: float = 1.0
    processes: int = 256
    disk_bytes: int = 1 * GiB


def isolation_config(engine: Engine, resources: Resources) -> dict[str, Any]:
    """Return the settings (a part of a container's HostConfig) that limit the container's resources and privileges."""
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
    """A container in the engine.

    `trouble`: the reason why Benchwright ended the container early, None if it did not. `over_disk`: True if
    the container was ended because it wrote too much. `memory_kills`: the number of the container's processes
    that are known to have been killed for lack of memory.
    """

    def __init__(self, name: str, handle: DockerContainer) -> None:
        self.name = name
        self.handle = handle
        self.trouble: str | None = None
        self.over_disk = False
        self.memory_kills = 0

    async def state(self) -> dict[str, Any]:
        """Return the engine's `State` of the container: Running, ExitCode, OOMKilled and so on.

        Return {} if the container was removed.

        Raises:
            EngineError: If the engine does not answer.
        """
        try:
            with convert_engine_errors("looking at a container"):
                return dict((await self.handle.show())["State"])
        except EngineError as error:
            if error.kind == "not_running":
                raise
            return {}

    async def state_after_end(self) -> dict[str, Any]:
        """Return the state of a container that has ended, after waiting until the engine has noticed the end.

        Raises:
            EngineError: If the engine does not answer.
        """
        deadline = time.monotonic() + MAX_END_DELAY
        while True:
            state = await self.state()
            if not state.get("Running") or time.monotonic() > deadline:
                return state
            await asyncio.sleep(0.05)

    async def logs(self) -> str:
        """Return the last lines of the container's output.

        Raises:
            EngineError: If the engine does not answer, or the container was removed.
        """
        with convert_engine_errors("reading a container's log"):
            return "".join(
                await self.handle.log(stdout=True, stderr=True, tail=MAX_LOG_LINES, timeout=LOG_SECONDS)
            )

    async def kill(self, why: str) -> None:
        """End the container and all its processes at once."""
        self.trouble = self.trouble or why
        try:
            with convert_engine_errors("ending a container"):
                await self.handle.kill()
        except EngineError:
            pass  # the container or the engine has ended; only the removal matters

    async def remove(self) -> None:
        """End the container, and remove it together with its volumes. Do nothing if it does not exist.

        Raises:
            EngineError: If the engine does not answer.
        """
        try:
            with convert_engine_errors("removing a container"):
                await self.handle.delete(force=True, v=True)
        except EngineError as error:
            if error.kind == "not_running":
                raise


PrepareContainer = Callable[[Container], Awaitable[None]]
"""Callback that prepares a container after its creation and before its start."""


async def start_container(
    engine: Engine, configuration: Mapping[str, Any], prepare: PrepareContainer | None = None
) -> Container:
    """Create a container, call `prepare` with it, and start it. If this fails or is cancelled, remove the container.

    Raises:
        EngineError: If the image does not exist or the engine refuses.
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
    engine: Engine, configuration: Mapping[str, Any], container: Container, prepare: PrepareContainer | None
) -> None:
    with convert_engine_errors(f"starting a container of {configuration['Image']}"):
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
        pass  # a leftover is removed at the next start
