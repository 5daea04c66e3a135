"""Starts a task's containers: finds or builds the image, starts the sandbox, and starts the sandbox's neighbours.

A neighbour is a further container (service) of the task, such as a database.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from benchwright.catalog.containers import Containers
from benchwright.catalog.containers.bash_session import STATE_DIRECTORY
from benchwright.catalog.containers.egress import Egress
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.catalog.harbor.settings import Build, Neighbour, TaskSettings
from benchwright.records import Record
from benchwright.sandbox.docker import DockerSandbox, EngineError, ImageProvider, Resources, SandboxSpec
from benchwright.sandbox.docker.building import BuildRecipe, ImageBuilder
from benchwright.sandbox.docker.companions import CompanionSpec, start_companion, wait_until_healthy
from benchwright.sandbox.docker.containers import Container, GiB, MiB
from benchwright.sandbox.docker.images import image_configuration
from benchwright.sandbox.docker.networks import private_network, switch_network
from benchwright.sandbox.egress import NetworkAccess
from benchwright.text import Say

CAPABILITIES = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
"""Capabilities of a task's containers, in addition to KILL, because tasks install packages and start servers.

Together with KILL, they are Docker's default capabilities without NET_RAW and MKNOD.
"""

MAX_PROCESSES = 1024
NEIGHBOUR_DISK_BYTES = 4 * GiB
MAX_HEALTH_WAIT_SECONDS = 120.0
LOGS_FOLDER = "/logs"
TESTS_FOLDER = "/tests"
ROOT_USER = "0"

_PREPARE = f"""
mkdir -p {LOGS_FOLDER}/agent {LOGS_FOLDER}/verifier {LOGS_FOLDER}/artifacts /agent-logs \\
  && chmod -R a+rwX {LOGS_FOLDER} /agent-logs
[ -e {TESTS_FOLDER} ] && echo there || echo new
"""
_IN_BACKGROUND = '("$@" >/dev/null 2>&1 </dev/null &)'
IDLE_COMMAND = ("sh", "-c", "sleep infinity")
"""The command that the official harnesses pass to an image's entrypoint, so that the container only waits."""


class TaskContainers(Record, frozen=True):
    """The containers of one trial.

    - `sandbox`: the sandbox as the agent's user sees it; `root_sandbox`: the same sandbox as root sees it.
    - `has_tests_in_image`: True if the image has its own `/tests`.
    - `spec`: the spec by which the sandbox was started.
    - `neighbours`: the task's other containers, keyed by service.
    - `environment`: environment variables for the tests, besides the container's own.
    - `terminal_directory`: the state directory of the agent's terminal, in which some tests run.
    """

    image: str
    sandbox: DockerSandbox
    root_sandbox: DockerSandbox
    has_tests_in_image: bool
    spec: SandboxSpec
    neighbours: dict[str, Container] = {}
    environment: Mapping[str, str] = {}
    terminal_directory: str = STATE_DIRECTORY

    def user_sandbox(self, user: str) -> DockerSandbox:
        """Return the sandbox as seen by a user, given by name or number.

        "" means the container's default user.
        """
        if user in ("", ROOT_USER):
            return self.root_sandbox if user else self.sandbox
        return DockerSandbox(self.sandbox.container, SandboxSpec(self.image, user=user))

    def for_container(self, sandbox: DockerSandbox, environment: Mapping[str, str]) -> TaskContainers:
        """Return a copy of this object for another container, with an environment for the tests in that container."""
        as_root = _as_root(sandbox, self.image)
        return msgspec.structs.replace(self, sandbox=sandbox, root_sandbox=as_root, environment=environment)


class TaskContainerStarter:
    """The starter of the containers of tasks. `name`: the part of built images' names that differs between variants."""

    def __init__(self, containers: Containers, name: str, rules: NetworkRules) -> None:
        self.containers = containers
        self.rules = rules
        self._name = name
        self._images = ImageProvider(containers.engine)
        self._builds = ImageBuilder(containers.engine)

    @asynccontextmanager
    async def start(
        self,
        task: str,
        folder: Path,
        settings: TaskSettings,
        say: Say,
        *,
        beside: bool = False,
        mounts: Mapping[str, str] | None = None,
        exit: Egress | None = None,
    ) -> AsyncIterator[TaskContainers]:
        """Start the containers of a task; remove them on exit.

        - `beside`: True for further containers of a trial that already has a container. They are not counted
          against the limit, so that the trial does not wait for itself.
        - `mounts`: an agent's mounts (`SandboxSpec.mounts`).
        - `exit`: the filtered network access (proxy). If it is not None, the containers have no other
          network.

        Raises:
            EngineError: If an image is not available, or a container cannot be started.
            ExecutionError: If the network access cannot be set up.
        """
        image = await self._image(task, folder, settings, say)
        others = [
            await self._neighbour_image(task, folder, one, settings, say) for one in settings.neighbours
        ]
        say("starting the container")
        async with AsyncExitStack() as stack:
            spec = msgspec.structs.replace(self._spec(image, settings), mounts=mounts or {})
            if exit is not None:
                spec = await exit.apply_to(spec)
            sandboxes = self.containers.sandboxes
            sandbox = await stack.enter_async_context(
                sandboxes.start_sharing_network(spec, say) if beside else sandboxes.start(spec, say)
            )
            as_root = _as_root(sandbox, image)
            prepared = await as_root.run(["sh", "-c", _PREPARE], seconds=30)
            neighbours = {}
            if settings.neighbours:
                closed = exit is not None or not self.rules.has_network(settings.network)
                neighbours = await self._start_neighbours(stack, sandbox, settings, others, closed=closed)
            if exit is not None:
                await exit.start_forwarder(as_root)
            await self._start_command(sandbox, image, settings)
            yield TaskContainers(image, sandbox, as_root, b"there" in prepared.stdout, spec, neighbours)

    async def set_network(self, place: TaskContainers, settings: TaskSettings, given: NetworkAccess) -> None:
        """Connect or disconnect a container's network. Do nothing if the container has neighbours.

        Do not call this for containers with filtered access (an `exit`).

        Raises:
            EngineError: If the engine refuses.
        """
        if not settings.neighbours:
            await switch_network(
                self.containers.engine, place.sandbox.container, self.rules.has_network(given)
            )

    def _spec(self, image: str, settings: TaskSettings) -> SandboxSpec:
        return SandboxSpec(
            image,
            directory=settings.directory,
            read_only=False,
            has_network=bool(settings.neighbours) or self.rules.has_network(settings.network),
            resources=self._resources(settings.memory_mb, settings.cpus, settings.storage_mb * MiB),
            user=settings.user,
            environment=settings.environment,
            capabilities=CAPABILITIES,
        )

    def _resources(self, memory_mb: int, cpus: float, disk_bytes: int) -> Resources:
        return Resources(memory_mb * MiB, cpus, MAX_PROCESSES, disk_bytes)

    async def _image(self, task: str, folder: Path, settings: TaskSettings, say: Say) -> str:
        """Return the image of a task: the named image if it is present or can be pulled, otherwise a built image."""
        if settings.image is not None:
            try:
                await self._images.provide(settings.image, say)
                return settings.image
            except EngineError as error:
                if settings.build is None or error.kind in ("not_running", "disk_full"):
                    raise
                say(f"{settings.image} cannot be pulled; building it")
        if settings.build is None:
            raise EngineError(f"{task} has neither an image nor a Dockerfile")
        return await self._built(f"{task}", folder, settings.build, settings.build_seconds, say)

    async def _neighbour_image(
        self, task: str, folder: Path, neighbour: Neighbour, settings: TaskSettings, say: Say
    ) -> str:
        if neighbour.build is not None:
            name = f"{task}-{neighbour.name}"
            return await self._built(name, folder, neighbour.build, settings.build_seconds, say)
        assert neighbour.image is not None, "checked when the file was read"
        await self._images.provide(neighbour.image, say)
        return neighbour.image

    async def _built(self, task: str, folder: Path, build: Build, seconds: float, say: Say) -> str:
        recipe = BuildRecipe(build.dockerfile, build.arguments, build.target)
        name = built_image_name(self._name, task)
        return await self._builds.build_image(name, folder / build.context, "1", recipe, seconds, say)

    async def _start_neighbours(
        self,
        stack: AsyncExitStack,
        sandbox: DockerSandbox,
        settings: TaskSettings,
        images: Sequence[str],
        *,
        closed: bool,
    ) -> dict[str, Container]:
        """Start the neighbours in order, and return them keyed by service.

        A neighbour with `waits_for_health` must be healthy before the next neighbour is started.
        """
        started = {}
        engine, run_id = self.containers.engine, self.containers.run_id
        network = await stack.enter_async_context(private_network(engine, run_id, closed))
        await network.add_container(sandbox.container, settings.names)
        for neighbour, image in zip(settings.neighbours, images, strict=True):
            spec = self._neighbour_spec(neighbour, image)
            container = await stack.enter_async_context(start_companion(engine, spec, network, run_id))
            started[neighbour.name] = container
            if neighbour.waits_for_health:
                await wait_until_healthy(container, neighbour.name, MAX_HEALTH_WAIT_SECONDS)
        return started

    def _neighbour_spec(self, neighbour: Neighbour, image: str) -> CompanionSpec:
        return CompanionSpec(
            image=image,
            host_names=neighbour.names,
            command=neighbour.command,
            entrypoint=neighbour.entrypoint,
            environment=neighbour.environment,
            directory=neighbour.directory,
            user=neighbour.user,
            health_check=neighbour.health,
            resources=self._resources(neighbour.memory_mb, neighbour.cpus, NEIGHBOUR_DISK_BYTES),
        )

    async def _start_command(self, sandbox: DockerSandbox, image: str, settings: TaskSettings) -> None:
        """Start the command of the image or compose file in the background.

        Do nothing if the command would only wait.
        """
        configuration = await image_configuration(self.containers.engine, image) or {}
        entrypoint = settings.entrypoint
        entrypoint = list(configuration.get("Entrypoint") or ()) if entrypoint is None else entrypoint
        if entrypoint or settings.command:
            argv = [*entrypoint, *(settings.command or IDLE_COMMAND)]
            await sandbox.run(["sh", "-c", _IN_BACKGROUND, "sh", *argv], seconds=30)


def names_of_neighbours(settings: TaskSettings) -> list[str]:
    """Return the host names by which a task's containers reach each other. Return [] for a single container."""
    if not settings.neighbours:
        return []
    return [*settings.names, *(name for one in settings.neighbours for name in one.names)]


def _as_root(sandbox: DockerSandbox, image: str) -> DockerSandbox:
    return DockerSandbox(sandbox.container, SandboxSpec(image, user=ROOT_USER))


def built_image_name(variant: str, task: str) -> str:
    """Return the name, without tag, for the image that is built for a task."""
    plain = re.sub(r"[^a-z0-9]+", "-", task.lower()).strip("-") or "task"
    return f"benchwright/{variant}-{plain}"
