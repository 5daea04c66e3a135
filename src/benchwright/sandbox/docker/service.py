"""Services in containers: a server in an image, published on the loopback, healthy or not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from benchwright.records import Record
from benchwright.sandbox.docker import owner
from benchwright.sandbox.docker.containers import Container, GiB, Resources, confinement, start
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, engine_errors
from benchwright.sandbox.docker.removing import removed_in_the_end
from benchwright.sandbox.docker.watching import disk_watched
from benchwright.text import Say

HEALTH_SECONDS = 60.0
LOOK_EVERY = 0.2
"""Seconds between two questions whether a service is healthy."""
SAY_EVERY = 2.0

LOG_FILE = {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "1"}}
HOST_NAME = "host.docker.internal"

Probe = Callable[[str], Awaitable[str | None]]
"""Asks the service at a URL whether it is healthy: None if it is, else why not. Must bound itself."""


class ServiceSpec(Record, frozen=True):
    """A service to start. `port` is the one it listens on inside; `environment` is added to the image's own."""

    image: str
    port: int
    environment: Mapping[str, str] = {}
    resources: Resources = Resources(cpus=2.0, processes=512, disk_bytes=4 * GiB)


class Service(Protocol):
    """A server that runs until it is stopped."""

    @property
    def url(self) -> str:
        """Where it is reached, without a slash at its end."""
        ...

    async def until_healthy(self, probe: Probe, seconds: float, say: Say) -> None:
        """Waits until it is healthy."""
        ...

    async def trouble(self) -> str | None:
        """Why its container does not run; None while it does."""
        ...


class DockerService:
    """A `Service` in a container; made by `started_service`, or found by `kept_services`.

    With `stays` set it goes on running when its context is left.
    """

    def __init__(self, container: Container, port: int, image: str) -> None:
        self.container = container
        self.port = port
        self.image = image
        self.stays = False

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return f"http://127.0.0.1:{self.port}"

    async def until_healthy(
        self, probe: Probe, seconds: float = HEALTH_SECONDS, say: Say = lambda said: None
    ) -> None:
        """Waits until it is healthy.

        Raises:
            EngineError: it has ended, or is not healthy within `seconds`; `log` is what it wrote.
        """
        began = said_at = time.monotonic()
        why = "no answer"
        while (waited := time.monotonic() - began) < seconds:
            answer = await _answer(probe, self.url, seconds - waited)
            if answer is None:
                return
            why = answer or why
            if trouble := await self.trouble():
                raise EngineError(trouble, log=await self.log())
            if time.monotonic() - said_at >= SAY_EVERY:
                said_at = time.monotonic()
                say(f"not healthy after {waited:.0f} of {seconds:g} s: {why}")
            await asyncio.sleep(LOOK_EVERY)
        raise EngineError(f"it was not healthy within {seconds:g} s: {why}", log=await self.log())

    async def trouble(self) -> str | None:
        """Why its container does not run; None while it does.

        Raises:
            EngineError: the engine does not answer.
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

    async def log(self) -> str:
        """The last lines of what it wrote; "" where the engine does not tell."""
        try:
            return await self.container.logs()
        except EngineError:
            return ""


async def _answer(probe: Probe, url: str, seconds: float) -> str | None:
    """What the probe says; "" where the time is over before it has said anything."""
    try:
        async with asyncio.timeout(seconds):
            return await probe(url)
    except TimeoutError:
        return ""


@asynccontextmanager
async def started_service(
    engine: Engine, spec: ServiceSpec, run_id: str, kept_as: str | None = None
) -> AsyncIterator[DockerService]:
    """A service whose image is there, started and perhaps not healthy yet; removed when the context is left.

    With `kept_as` it can be told to stay (`stays`), and is found again by that name.

    Raises:
        EngineError: it cannot be started, or is not on this machine.
    """
    if not engine.address.is_local:
        text = f"a service needs an engine on this machine, but {engine.address} is remote; unset DOCKER_HOST"
        raise EngineError(f"{text} or `docker context use default`")
    labels = owner.labels(run_id, kept_as)
    container = await start(engine, _configuration(engine, spec, labels))
    service = DockerService(container, 0, spec.image)
    async with removed_in_the_end(container, unless=lambda: service.stays):
        service.port = await _published_port(service, spec.port)
        async with disk_watched(container, spec.resources.disk_bytes):
            yield service


async def kept_services(engine: Engine, kept_as: str) -> list[DockerService]:
    """The running services that were kept under this name, by whatever process.

    Raises:
        EngineError: the engine does not answer.
    """
    with engine_errors("looking for kept services"):
        asked = json.dumps({"label": [f"{owner.KEPT}={kept_as}"]})
        found = await engine.client.containers.list(filters=asked)
    services = []
    for handle in found:
        ports = [entry["PublicPort"] for entry in handle["Ports"] if entry.get("PublicPort")]
        if ports:
            container = Container(handle["Names"][0].removeprefix("/"), handle)
            services.append(DockerService(container, ports[0], handle["Image"]))
    return services


async def _published_port(service: DockerService, port: int) -> int:
    with engine_errors("looking for the service's port"):
        shown = await service.container.handle.show()
    if bindings := shown["NetworkSettings"]["Ports"].get(f"{port}/tcp"):
        return int(bindings[0]["HostPort"])
    trouble = await service.trouble() or f"the engine did not publish its port {port}"
    raise EngineError(trouble, log=await service.log())


def _configuration(engine: Engine, spec: ServiceSpec, labels: Mapping[str, str]) -> dict[str, Any]:
    port = f"{spec.port}/tcp"
    return {
        "Image": spec.image,
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "Labels": dict(labels),
        "ExposedPorts": {port: {}},
        "HostConfig": {
            **confinement(engine, spec.resources),
            "PortBindings": {port: [{"HostIp": "127.0.0.1", "HostPort": ""}]},
            "ExtraHosts": [f"{HOST_NAME}:host-gateway"],
            "CapDrop": ["NET_RAW", "MKNOD"],
            "LogConfig": LOG_FILE,
        },
    }
