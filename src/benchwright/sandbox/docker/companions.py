"""Containers that a sandbox needs beside it, such as a database. They run their images' own commands.

The sandbox reaches them by name. They are in the sandbox's private network only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchwright.records import Record
from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.cleanup import remove_on_exit
from benchwright.sandbox.docker.containers import Container, Resources, isolation_config, start_container
from benchwright.sandbox.docker.disk_limit import limit_disk
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError
from benchwright.sandbox.docker.networks import Network
from benchwright.sandbox.docker.service import LOG_CONFIG

POLL_INTERVAL = 0.2


class CompanionSpec(Record, frozen=True):
    """A container to start beside other containers. `host_names`: the container's host names in their network.

    `command`, `entrypoint` and `health_check` are the image's own by default. `health_check` has the format
    `Healthcheck` of the engine's API.
    """

    image: str
    host_names: Sequence[str]
    command: Sequence[str] | None = None
    entrypoint: Sequence[str] | None = None
    environment: Mapping[str, str] = {}
    directory: str = ""
    user: str = ""
    health_check: Mapping[str, Any] | None = None
    resources: Resources = Resources()


@asynccontextmanager
async def start_companion(
    engine: Engine, spec: CompanionSpec, network: Network, run_id: str
) -> AsyncIterator[Container]:
    """Start a container in a network. On exit, remove the container and its volumes.

    Raises:
        EngineError: If the container cannot be started.
    """
    container = await start_container(
        engine, _configuration(engine, spec, network, ownership.ownership_labels(run_id))
    )
    async with remove_on_exit(container), limit_disk(container, spec.resources.disk_bytes):
        yield container


async def wait_until_healthy(container: Container, name: str, seconds: float) -> None:
    """Wait until a container's own health check succeeds.

    Raises:
        EngineError: If the container ended, has no health check, or is not healthy after `seconds`. `log` is
            the container's output.
    """
    deadline = time.monotonic() + seconds
    health = "starting"
    while time.monotonic() < deadline:
        state = await container.state()
        health = (state.get("Health") or {}).get("Status", "none")
        if health == "healthy":
            return
        if not state.get("Running") or health == "none":
            break
        await asyncio.sleep(POLL_INTERVAL)
    try:
        log = await container.logs()
    except EngineError:
        log = ""
    raise EngineError(f"the service {name!r} did not become healthy within {seconds:g} s ({health})", log=log)


def _configuration(
    engine: Engine, spec: CompanionSpec, network: Network, labels: Mapping[str, str]
) -> dict[str, Any]:
    given = {"Cmd": spec.command, "Entrypoint": spec.entrypoint, "Healthcheck": spec.health_check}
    return {
        "Image": spec.image,
        **{key: value for key, value in given.items() if value is not None},
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "WorkingDir": spec.directory,
        "User": spec.user,
        "Labels": dict(labels),
        "HostConfig": {
            **isolation_config(engine, spec.resources),
            "NetworkMode": network.name,
            "CapDrop": ["NET_RAW", "MKNOD"],
            "LogConfig": LOG_CONFIG,
        },
        "NetworkingConfig": {"EndpointsConfig": {network.name: {"Aliases": list(spec.host_names)}}},
    }
