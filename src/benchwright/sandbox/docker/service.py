"""Services in containers: servers with a health check, and with a port on this machine's loopback."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from benchwright.records import Record
from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.cleanup import remove_on_exit
from benchwright.sandbox.docker.containers import Container, GiB, Resources, isolation_config, start_container
from benchwright.sandbox.docker.disk_limit import limit_disk
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors
from benchwright.text import Say

HEALTH_SECONDS = 60.0
HEALTH_CHECK_INTERVAL = 0.2
"""Seconds between two health checks."""
MESSAGE_INTERVAL = 2.0

LOG_CONFIG = {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "1"}}
HOST_MACHINE_NAME = "host.docker.internal"

HealthProbe = Callable[[str], Awaitable[str | None]]
"""Function that checks the health of the service at a URL. It returns None if the service is healthy, else the reason.

The function must limit its own time.
"""


class ServiceSpec(Record, frozen=True):
    """A service to start.

    `port`: the port on which the service listens in the container. `environment`: variables added to those of
    the image.
    """

    image: str
    port: int
    environment: Mapping[str, str] = {}
    resources: Resources = Resources(cpus=2.0, processes=512, disk_bytes=4 * GiB)


class Service(Protocol):
    """A server that runs until it is stopped."""

    @property
    def url(self) -> str:
        """The service's URL, without a trailing slash."""
        ...

    async def wait_until_healthy(self, probe: HealthProbe, seconds: float, say: Say) -> None:
        """Wait until the service is healthy."""
        ...

    async def failure_reason(self) -> str | None:
        """Return why the service's container is not running. Return None if it is running."""
        ...


class DockerService:
    """A `Service` in a container, created by `start_service` or found by `find_kept_services`.

    `stays`: True if the container keeps running when its context exits.
    """

    def __init__(self, container: Container, port: int, image: str) -> None:
        self.container = container
        self.port = port
        self.image = image
        self.stays = False

    @property
    def url(self) -> str:
        """The service's URL on this machine."""
        return f"http://127.0.0.1:{self.port}"

    async def wait_until_healthy(
        self, probe: HealthProbe, seconds: float = HEALTH_SECONDS, say: Say = lambda said: None
    ) -> None:
        """Wait until the service is healthy.

        Raises:
            EngineError: If the service ended, or is not healthy after `seconds`. `read_log` is the service's
                output.
        """
        began = said_at = time.monotonic()
        why = "no answer"
        while (waited := time.monotonic() - began) < seconds:
            answer = await _answer(probe, self.url, seconds - waited)
            if answer is None:
                return
            why = answer or why
            if trouble := await self.failure_reason():
                raise EngineError(trouble, log=await self.read_log())
            if time.monotonic() - said_at >= MESSAGE_INTERVAL:
                said_at = time.monotonic()
                say(f"not healthy after {waited:.0f} of {seconds:g} s: {why}")
            await asyncio.sleep(HEALTH_CHECK_INTERVAL)
        raise EngineError(f"it was not healthy within {seconds:g} s: {why}", log=await self.read_log())

    async def failure_reason(self) -> str | None:
        """Return why the service's container is not running. Return None if it is running.

        Raises:
            EngineError: If the engine does not answer.
        """
        state = await self.container.state()
        if state.get("Running"):
            return None
        if self.container.trouble:
            return f"its container was ended: {self.container.trouble}"
        if not state:
            return "its container was removed"
        memory = ", out of memory" if state.get("OOMKilled") else ""
        return f"its container has ended with exit code {state.get('ExitCode')}{memory}"

    async def read_log(self) -> str:
        """Return the last lines of the service's output. Return "" if they cannot be read."""
        try:
            return await self.container.logs()
        except EngineError:
            return ""


async def _answer(probe: HealthProbe, url: str, seconds: float) -> str | None:
    """Return the probe's result for the URL. Return "" if the probe takes longer than `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            return await probe(url)
    except TimeoutError:
        return ""


@asynccontextmanager
async def start_service(
    engine: Engine, spec: ServiceSpec, run_id: str, kept_as: str | None = None
) -> AsyncIterator[DockerService]:
    """Start a service from an existing image. Remove the service on exit. It may not be healthy at first.

    `kept_as`: a name under which the service can be kept (`stays`) and found again later.

    Raises:
        EngineError: If the service cannot be started, or if the engine is not on this machine.
    """
    if not engine.address.is_local:
        text = f"a service needs an engine on this machine, but {engine.address} is remote; unset DOCKER_HOST"
        raise EngineError(f"{text} or `docker context use default`")
    labels = ownership.ownership_labels(run_id, kept_as)
    container = await start_container(engine, _configuration(engine, spec, labels))
    service = DockerService(container, 0, spec.image)
    async with remove_on_exit(container, unless=lambda: service.stays):
        service.port = await _published_port(service, spec.port)
        async with limit_disk(container, spec.resources.disk_bytes):
            yield service


async def find_kept_services(engine: Engine, kept_as: str) -> list[DockerService]:
    """Return the running services that any process has kept under this name.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("looking for kept services"):
        asked = json.dumps({"label": [f"{ownership.KEPT_LABEL}={kept_as}"]})
        found = await engine.client.containers.list(filters=asked)
    services = []
    for handle in found:
        ports = [entry["PublicPort"] for entry in handle["Ports"] if entry.get("PublicPort")]
        if ports:
            container = Container(handle["Names"][0].removeprefix("/"), handle)
            services.append(DockerService(container, ports[0], handle["Image"]))
    return services


async def _published_port(service: DockerService, port: int) -> int:
    with convert_engine_errors("looking for the service's port"):
        shown = await service.container.handle.show()
    if bindings := shown["NetworkSettings"]["Ports"].get(f"{port}/tcp"):
        return int(bindings[0]["HostPort"])
    trouble = await service.failure_reason() or f"the engine did not publish its port {port}"
    raise EngineError(trouble, log=await service.read_log())


def _configuration(engine: Engine, spec: ServiceSpec, labels: Mapping[str, str]) -> dict[str, Any]:
    port = f"{spec.port}/tcp"
    return {
        "Image": spec.image,
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "Labels": dict(labels),
        "ExposedPorts": {port: {}},
        "HostConfig": {
            **isolation_config(engine, spec.resources),
            "PortBindings": {port: [{"HostIp": "127.0.0.1", "HostPort": ""}]},
            "ExtraHosts": [f"{HOST_MACHINE_NAME}:host-gateway"],
            "CapDrop": ["NET_RAW", "MKNOD"],
            "LogConfig": LOG_CONFIG,
        },
    }
