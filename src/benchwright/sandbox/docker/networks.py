"""Private networks of a few containers. The containers find each other by name.

Networks have labels and are removed like containers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors

if TYPE_CHECKING:
    from aiodocker.networks import DockerNetwork

OPEN, CLOSED = "bridge", "none"
"""`OPEN`: the engine's own network for sandboxes with network access. `CLOSED`: its network with only a loopback."""

_WITHOUT_ADDRESS = "com.docker.network.bridge.inhibit_ipv4"
"""Option of a network in which this machine gets no address, so that containers cannot reach its servers."""


class Network:
    """A network created by `private_network`."""

    def __init__(self, engine: Engine, name: str, handle: DockerNetwork) -> None:
        self._engine = engine
        self.name = name
        self._handle = handle
        self._joined: list[Container] = []

    async def add_container(self, container: Container, names: Sequence[str]) -> None:
        """Move a container from the open network to this network. `names`: the container's host names in this network.

        Raises:
            EngineError: If the engine refuses.
        """
        with convert_engine_errors("moving a container to its network"):
            bridge = await self._engine.client.networks.get(OPEN)
            await bridge.disconnect({"Container": container.name, "Force": True})
            endpoint = {"Aliases": list(names)}
            await self._handle.connect({"Container": container.name, "EndpointConfig": endpoint})
        self._joined.append(container)

    async def remove(self) -> None:
        """Disconnect all containers, and remove the network.

        If that fails, the network is removed at the next start.
        """
        for container in self._joined:
            await _tried(self._handle.disconnect({"Container": container.name, "Force": True}))
        await _tried(self._handle.delete())


@asynccontextmanager
async def private_network(engine: Engine, run_id: str, internal: bool) -> AsyncIterator[Network]:
    """Create a network for containers of a run. Remove the network on exit.

    `internal`: True if no other machine can be reached from the network.

    Raises:
        EngineError: If the network cannot be created.
    """
    name = f"benchwright-{secrets.token_hex(6)}"
    configuration = {
        "Name": name,
        "Labels": ownership.ownership_labels(run_id),
        "Internal": internal,
        "Options": {_WITHOUT_ADDRESS: "true"} if internal else {},
        "CheckDuplicate": True,
    }
    making = asyncio.ensure_future(_make(engine, configuration))
    try:
        network = Network(engine, name, await asyncio.shield(making))
    except asyncio.CancelledError:
        await asyncio.shield(_abandon(engine, name, making))
        raise
    try:
        yield network
    finally:
        await asyncio.shield(network.remove())


async def switch_network(engine: Engine, container: Container, opened: bool) -> None:
    """Move a running container to the open network if `opened` is True, and to the closed network otherwise.

    Do nothing if the container is already there.

    Raises:
        EngineError: If the engine refuses.
    """
    wanted, other = (OPEN, CLOSED) if opened else (CLOSED, OPEN)
    with convert_engine_errors("changing the network of a container"):
        joined = (await container.handle.show())["NetworkSettings"]["Networks"]
        if wanted in joined:
            return
        if other in joined:
            network = await engine.client.networks.get(other)
            await network.disconnect({"Container": container.name, "Force": True})
        await (await engine.client.networks.get(wanted)).connect({"Container": container.name})


async def remove_leftover_networks(engine: Engine) -> list[str]:
    """Remove the networks that dead processes of this user left. Return the networks' names.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("looking for networks of earlier runs"):
        found = await engine.client.networks.list(filters={"label": ownership.PROCESS_LABEL})
    removed = []
    for entry in found:
        if ownership.is_leftover(entry["Labels"]):
            with convert_engine_errors("looking for a network of an earlier run"):
                await _tried((await engine.client.networks.get(entry["Id"])).delete())
            removed.append(entry["Name"])
    return removed


async def _make(engine: Engine, configuration: dict[str, object]) -> DockerNetwork:
    with convert_engine_errors("making a network"):
        return await engine.client.networks.create(configuration)


async def _abandon(engine: Engine, name: str, making: asyncio.Task[DockerNetwork]) -> None:
    await asyncio.wait([making])
    if making.exception() is None:
        await Network(engine, name, making.result()).remove()


async def _tried(doing: Awaitable[object]) -> None:
    try:
        with convert_engine_errors("removing a network"):
            await doing
    except EngineError:
        pass  # the network or the engine no longer exists
