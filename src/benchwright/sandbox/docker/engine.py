"""The connection to the container engine (Docker), and the properties of the engine."""

from __future__ import annotations

import asyncio
import ipaddress
import shutil
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import UserError
from benchwright.optional_libraries import importing
from benchwright.orphans import ORPHANS
from benchwright.python_commands import module_command
from benchwright.sandbox.docker.address import EngineAddress, find_engine_address
from benchwright.sandbox.docker.errors import (
    EngineError,
    EngineUnavailable,
    UnavailableKind,
    convert_engine_errors,
    unavailable_error,
)
from benchwright.sandbox.docker.pulls import PullProgress

if TYPE_CHECKING:
    from aiodocker import Docker

ANSWER_SECONDS = 120.0
"""Time limit in seconds for the engine's answers, except answers to pulls, logs and programs."""

CONNECT_SECONDS = 10.0

SWEEP_MODULE = "benchwright.sandbox.docker.sweep"
"""Name of the module that removes leftovers of killed processes."""


class Engine:
    """A connection to the engine, created by `connect`.

    `information`: the content of `docker info`. `purpose`: the purpose that is recorded with the images in
    use. `pulls`: the pulls of images in progress.
    """

    def __init__(self, client: Docker, address: EngineAddress, information: Mapping[str, Any]) -> None:
        self.client = client
        self.address = address
        self.information = information
        self.purpose = ""
        self.pulls = PullProgress()

    async def host_listen_address(self) -> str:
        """Return the address on which a server must listen for containers to reach it as `host.docker.internal`.

        The address is 127.0.0.1 if the engine runs in a virtual machine, which maps that name to the
        loopback.

        Raises:
            EngineError: If the engine does not answer.
        """
        with convert_engine_errors("looking at the engine's network"):
            network = await (await self.client.networks.get("bridge")).show()
        ours = (address for entry in network["IPAM"]["Config"] or [] if _is_ours(address := _gateway(entry)))
        return next(ours, "127.0.0.1")

    async def check_running(self) -> None:
        """Raise if the engine is no longer running. Called after an operation failed.

        The check uses a new connection, because an engine that shuts down accepts no new connections but
        still answers on existing ones.

        Raises:
            EngineUnavailable: If the engine is not running.
        """
        client = _client(self.address)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                with convert_engine_errors("asking whether it is there"):
                    await client.version()
        except (EngineError, TimeoutError) as error:
            raise unavailable_error("not_running", self.address) from error
        finally:
            await client.close()

    def free_bytes(self) -> int | None:
        """Return the free bytes on the engine's disk for images and containers.

        Return None if the number is unknown.
        """
        try:
            return (
                shutil.disk_usage(self.information["DockerRootDir"]).free if self.address.is_local else None
            )
        except (OSError, KeyError):
            return None


def check_disk_space(engine: Engine, needed: int) -> None:
    """Raise if the engine has too little disk space. Called before a container is started.

    Raises:
        EngineError: If fewer than `needed` bytes are free.
    """
    free = engine.free_bytes()
    if free is not None and free < needed:
        have, want = free / 2**30, needed / 2**30
        place = engine.information["DockerRootDir"]
        text = f"Docker has {have:.1f} GiB left in {place}, but {want:.1f} GiB are needed; `docker system df` shows"
        raise EngineError(f"{text} what can go.", "disk_full")


@asynccontextmanager
async def connect() -> AsyncIterator[Engine]:
    """Connect to the engine of DOCKER_HOST, the docker context or the usual sockets.

    If this process is killed while connected, another process, which watches it, removes the containers and
    images that this process left in the engine (`sweep`).

    Raises:
        EngineUnavailable: If there is no engine, if the engine is not running, if this user has no access to
            it, or if the client library is missing.
        UserError: If DOCKER_HOST or the docker context is not an address.
    """
    async with connect_without_cleanup() as engine:
        with ORPHANS.with_cleanup_command(module_command(SWEEP_MODULE)):
            yield engine


@asynccontextmanager
async def connect_without_cleanup() -> AsyncIterator[Engine]:
    """Connect to the engine as `connect` does. If this process is killed, nothing is cleaned up."""
    address = find_engine_address()
    if address.host.startswith("unix://"):
        _try(address)
    await asyncio.to_thread(_import)
    client = _client(address)
    try:
        try:
            with convert_engine_errors("asking what it is"):
                information = await client.system.info()
        except EngineError as error:
            raise unavailable_error("not_running", address) from error
        yield Engine(client, address, information)
    finally:
        await client.close()


def _import() -> None:
    """Import the client library, in a thread, because the import would block the event loop for too long."""
    with importing("aiodocker", "Containers need", "docker", partial(EngineUnavailable, "missing")):
        import aiodocker  # noqa: F401


def _client(address: EngineAddress) -> Docker:
    import aiodocker
    from aiohttp import ClientTimeout

    limits = ClientTimeout(total=ANSWER_SECONDS, connect=CONNECT_SECONDS)
    try:
        return aiodocker.Docker(url=address.url, ssl_context=address.tls, timeout=limits)
    except (ValueError, aiodocker.DockerError) as error:
        raise UserError(f"No engine can be reached at {address}: {error}.") from None


def _try(address: EngineAddress) -> None:
    path = address.host.removeprefix("unix://")
    kind: UnavailableKind
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(CONNECT_SECONDS)
        try:
            probe.connect(path)
            return
        except PermissionError:
            kind = "no_permission"
        except OSError:
            installed = Path(path).exists() or shutil.which("docker") or shutil.which("dockerd")
            kind = "not_running" if installed else "missing"
    raise unavailable_error(kind, address)


def _gateway(entry: Mapping[str, str]) -> str:
    """Return the gateway of a network's address range. If none is named, return the first address of the range."""
    return entry.get("Gateway") or str(next(ipaddress.ip_network(entry["Subnet"]).hosts()))


def _is_ours(address: str) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
