"""Sandboxes in containers, for untrusted programs: isolated, with limits, and with the files of an image."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker import archives, ownership
from benchwright.sandbox.docker.cleanup import remove_on_exit
from benchwright.sandbox.docker.commands import MAX_KEPT_BYTES, MAX_OUTPUT_BYTES, ContainerCommand, ExecResult
from benchwright.sandbox.docker.containers import (
    Container,
    MiB,
    PrepareContainer,
    Resources,
    isolation_config,
    start_container,
)
from benchwright.sandbox.docker.disk_limit import limit_disk
from benchwright.sandbox.docker.engine import Engine, check_disk_space
from benchwright.sandbox.docker.execution import execute
from benchwright.sandbox.docker.images import ImageProvider, image_configuration
from benchwright.sandbox.docker.networks import CLOSED, OPEN
from benchwright.sandbox.docker.time_limits import time_limit_factor
from benchwright.text import Say

MAX_FILE_BYTES = 16 * MiB
"""Default maximum size in bytes of a file read from a sandbox."""
SCRATCH_FOLDER = "/tmp"
ROOT_USER = "0"
SHAREABLE_IPC = "shareable"
"""Docker's setting for shared memory that only containers started beside this container can use."""

_WAIT = "while :; do sleep 86400 & wait; done"
"""Shell command of process 1 of a sandbox. It waits, and collects the exit status of orphaned processes."""


class SandboxSpec(Record, frozen=True):
    """The container to start as a sandbox.

    `image`: the image, which must have a shell. `directory`: the folder in which programs start; "" for the
    image's own.

    `read_only`: True if programs can write only to `/tmp` and `directory`. Each of the two holds `disk_bytes`
    and is kept in memory, which counts as the container's memory. Otherwise programs can write to the whole
    file system, and the container is ended when it has written more than `disk_bytes`. Volumes that the image
    declares are always writable, keep their content, and have the same limit.

    `has_network`: False if there is only a loopback. True if the sandbox reaches everything that this machine
    reaches. `network_container`: the name of a running container. The sandbox shares that container's
    network, volumes and shared memory (`/dev/shm`), and nothing else.

    `capabilities`: the only capabilities of the sandbox besides KILL. `mounts`: a mapping from paths in the
    sandbox to folders of this machine, which are mounted read-only.
    """

    image: str
    directory: str = ""
    read_only: bool = True
    has_network: bool = False
    network_container: str = ""
    resources: Resources = Resources()
    user: str = ""
    environment: Mapping[str, str] = {}
    capabilities: Sequence[str] = ()
    mounts: Mapping[str, str] = {}


class Sandbox(Protocol):
    """An environment for untrusted programs. All programs of a sandbox use the same files, until it is stopped."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        kept_bytes: int = MAX_KEPT_BYTES,
        output_bytes: int = MAX_OUTPUT_BYTES,
    ) -> ExecResult:
        """Run a program until it ends or reaches its limit, and return the program's result."""
        ...

    async def write_files(self, files: Mapping[str, bytes]) -> None:
        """Write files and create their parent folders. `files`: a mapping from the absolute path to the content."""
        ...

    async def read_file(self, path: str, most: int = MAX_FILE_BYTES) -> bytes:
        """Return the content of a file."""
        ...


class DockerSandbox:
    """A `Sandbox` in a container, created by `DockerSandboxes.start`. One program runs at a time."""

    def __init__(self, container: Container, spec: SandboxSpec) -> None:
        self.container = container
        self._spec = spec
        self._turn = asyncio.Lock()

    async def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        kept_bytes: int = MAX_KEPT_BYTES,
        output_bytes: int = MAX_OUTPUT_BYTES,
    ) -> ExecResult:
        """Run a program. `commands.Command` describes the limits, and `ExecResult` the result.

        `seconds`: multiplied by the task's `time_limit_factor`. Background processes of the program continue
        until the sandbox is stopped. However, if a program reaches a limit, the program and all processes
        that were started after it are ended.

        Raises:
            EngineError: If the engine does not answer, or if somebody else ended the container.
        """
        how = (stdin, cwd, self._spec.user, environment or {}, kept_bytes, output_bytes)
        async with self._turn:
            return await execute(self.container, ContainerCommand(argv, seconds * time_limit_factor(), *how))

    async def write_files(self, files: Mapping[str, bytes]) -> None:
        """Write files and create their parent folders. All are readable and executable.

        `files`: a mapping from the absolute path to the content.

        Raises:
            ExecutionError: If a path is not absolute, contains "..", or is not writable in this sandbox.
            EngineError: If the engine does not answer or refuses.
        """
        for place, inside in self._by_place(files).items():
            archive = await asyncio.to_thread(archives.pack_files, inside, place)
            await archives.write_archive(self.container, place, archive, as_user=self._spec.user != ROOT_USER)

    async def read_file(self, path: str, most: int = MAX_FILE_BYTES) -> bytes:
        """Return the content of a file. The engine reads the file, without any program of the container.

        Raises:
            ExecutionError: If the file cannot be read or is larger than `most` bytes.
            EngineError: If the engine does not answer.
        """
        return await archives.read_file(self.container, path, most)

    def _by_place(self, files: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
        """Group files by the writable folder that contains them. If everything is writable, that folder is the root."""
        if not self._spec.read_only:
            return {"/": dict(files)}
        places = sorted(_scratch(self._spec), key=len, reverse=True)
        sorted_out: dict[str, dict[str, bytes]] = {}
        for path, content in files.items():
            place = next((one for one in places if path.startswith(f"{one}/")), places[-1])
            sorted_out.setdefault(place, {})[path] = content
        return sorted_out


class DockerSandboxes:
    """Starts sandboxes. At most `at_once` sandboxes run at the same time; further ones wait to be started.

    This limit is independent of the concurrency of requests.
    """

    def __init__(self, engine: Engine, run_id: str, *, at_once: int = 4) -> None:
        self._engine = engine
        self._run_id = run_id
        self._images = ImageProvider(engine)
        self._places = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def start(self, spec: SandboxSpec, say: Say = lambda said: None) -> AsyncIterator[DockerSandbox]:
        """Start a sandbox. On exit, remove the sandbox with every process in it.

        Raises:
            EngineError: If the image cannot be pulled, the container cannot be started, or the disk is nearly
                full.
            EngineUnavailable: In place of any ExecutionError, if the engine is no longer running.
        """
        async with self._places, self._started(spec, say) as sandbox:
            yield sandbox

    @asynccontextmanager
    async def start_sharing_network(
        self, spec: SandboxSpec, say: Say = lambda said: None, prepare: PrepareContainer | None = None
    ) -> AsyncIterator[DockerSandbox]:
        """Start a sandbox that shares the network of the running container `spec.network_container`.

        The sandbox does not count towards `at_once`, because the sandbox beside which it is started does.
        `prepare`: called with the new sandbox's container before the start. Raises the same errors as
        `start`.
        """
        async with self._started(spec, say, prepare) as sandbox:
            yield sandbox

    @asynccontextmanager
    async def _started(
        self, spec: SandboxSpec, say: Say, prepare: PrepareContainer | None = None
    ) -> AsyncIterator[DockerSandbox]:
        try:
            async with self._container(spec, say, prepare) as container:
                yield DockerSandbox(container, spec)
        except ExecutionError:
            await self._engine.check_running()
            raise

    @asynccontextmanager
    async def _container(
        self, spec: SandboxSpec, say: Say, prepare: PrepareContainer | None
    ) -> AsyncIterator[Container]:
        check_disk_space(self._engine, 0 if spec.read_only else spec.resources.disk_bytes)
        await self._images.provide(spec.image, say)
        image = await image_configuration(self._engine, spec.image) or {}
        volumes = list(image.get("Volumes") or ())
        configuration = _configuration(self._engine, spec, ownership.ownership_labels(self._run_id))
        async with remove_on_exit(await start_container(self._engine, configuration, prepare)) as container:
            if spec.read_only and not volumes:
                yield container
                return
            async with limit_disk(container, spec.resources.disk_bytes, volumes):
                yield container


def _network(engine: Engine, spec: SandboxSpec) -> dict[str, Any]:
    """Return the settings of a sandbox's network: Docker's own network, another container's, or only a loopback.

    Another container's network comes with its volumes and its shared memory. The loopback is 127.0.0.1 and
    `localhost`, and also ::1 if this machine has IPv6.
    """
    if spec.network_container:
        other = f"container:{spec.network_container}"
        return {"NetworkMode": other, "IpcMode": other, "VolumesFrom": [spec.network_container]}
    if spec.has_network:
        return {"NetworkMode": OPEN, "IpcMode": SHAREABLE_IPC}
    has_ipv6 = engine.address.is_local and Path("/proc/sys/net/ipv6").exists()
    return {
        "NetworkMode": CLOSED,
        "IpcMode": SHAREABLE_IPC,
        "Sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"} if has_ipv6 else {},
    }


def _scratch(spec: SandboxSpec) -> list[str]:
    """Return the writable folders of a read-only sandbox."""
    own = [spec.directory] if spec.directory not in ("", SCRATCH_FOLDER) else []
    return [SCRATCH_FOLDER, *own] if spec.read_only else []


def _in_memory(place: str, most: int) -> dict[str, Any]:
    """Return the mount of a folder that is kept in memory and holds at most `most` bytes.

    The folder is a volume, because the engine cannot read files on a tmpfs mount.
    """
    how = {"type": "tmpfs", "device": "tmpfs", "o": f"exec,nosuid,nodev,mode=1777,size={most}"}
    options = {"NoCopy": True, "DriverConfig": {"Name": "local", "Options": how}}
    return {"Type": "volume", "Target": place, "VolumeOptions": options}


def _read_only(source: str, place: str) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": place, "ReadOnly": True}


def _configuration(engine: Engine, spec: SandboxSpec, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Image": spec.image,
        "Entrypoint": ["sh", "-c", _WAIT],
        "Cmd": [],
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "WorkingDir": spec.directory,
        "User": spec.user,
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGKILL",
        "HostConfig": {
            **isolation_config(engine, spec.resources),
            **_network(engine, spec),
            "CapDrop": ["ALL"],
            "CapAdd": ["KILL", *spec.capabilities],
            "ReadonlyRootfs": spec.read_only,
            "Mounts": [
                *(_in_memory(place, spec.resources.disk_bytes) for place in _scratch(spec)),
                *(_read_only(source, place) for place, source in spec.mounts.items()),
            ],
            "LogConfig": {"Type": "none"},
        },
    }
