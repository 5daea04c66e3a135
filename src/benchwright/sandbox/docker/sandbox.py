"""Sandboxes in containers: untrusted programs in an image, shut off and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker import archives, owner
from benchwright.sandbox.docker.commands import KEPT_BYTES, OUTPUT_BYTES, Command, ExecResult
from benchwright.sandbox.docker.containers import Container, MiB, Prepare, Resources, confinement, start
from benchwright.sandbox.docker.engine import Engine, check_disk
from benchwright.sandbox.docker.executing import execute
from benchwright.sandbox.docker.images import Images, configuration_of
from benchwright.sandbox.docker.networks import CLOSED, OPEN
from benchwright.sandbox.docker.patience import patience
from benchwright.sandbox.docker.removing import removed_in_the_end
from benchwright.sandbox.docker.watching import disk_watched
from benchwright.text import Say

LARGEST_FILE = 16 * MiB
"""Bytes of a file that is read out of a sandbox, unless said otherwise."""
SCRATCH = "/tmp"
ROOT = "0"
SHAREABLE = "shareable"
"""Shared memory that a container beside may join, and no other."""

_WAIT = "while :; do sleep 86400 & wait; done"
"""What process 1 of a sandbox does: it waits, and takes in what other processes leave behind."""


class SandboxSpec(Record, frozen=True):
    """A sandbox to start.

    `image` must hold a shell. With `read_only` programs can write to `/tmp` and
    to `directory` only, `disk_bytes` each, kept in memory and counted as such; without, to the whole file system, and
    the container is ended when it has written more than that; so it is where the image declares volumes, which keep
    their content and can be written to. `directory` is where programs start; "" is the
    image's own. Without `network` there is none but a loopback; with it, all that this machine reaches is in reach.
    With `beside`, the name of a running container, it has the network of that one, its volumes and its shared memory
    (`/dev/shm`), and nothing else.
    No capabilities but `capabilities` and KILL. `mounts` are folders of this machine, by the paths where programs
    find them and cannot write to them.
    """

    image: str
    directory: str = ""
    read_only: bool = True
    network: bool = False
    beside: str = ""
    resources: Resources = Resources()
    user: str = ""
    environment: Mapping[str, str] = {}
    capabilities: Sequence[str] = ()
    mounts: Mapping[str, str] = {}


class Sandbox(Protocol):
    """A place for untrusted programs, which share its files until it is stopped."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        kept_bytes: int = KEPT_BYTES,
        output_bytes: int = OUTPUT_BYTES,
    ) -> ExecResult:
        """Runs a program to its end or its limit."""
        ...

    async def write_files(self, files: Mapping[str, bytes]) -> None:
        """Writes files, {absolute path: content}, and the folders they lie in."""
        ...

    async def read_file(self, path: str, most: int = LARGEST_FILE) -> bytes:
        """The content of a file."""
        ...


class DockerSandbox:
    """A `Sandbox` in a container; made by `DockerSandboxes.started`. One program runs at a time."""

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
        kept_bytes: int = KEPT_BYTES,
        output_bytes: int = OUTPUT_BYTES,
    ) -> ExecResult:
        """Runs a program; see `executing.Command` for the limits, `ExecResult` for what comes back.

        `seconds` are more in a task that has `patience`.

        What it leaves in the background goes on, until a limit ends a later program, or the sandbox is stopped: a limit
        ends whatever was started since the program was.

        Raises:
            EngineError: the engine does not answer, or the container was ended by somebody else.
        """
        how = (stdin, cwd, self._spec.user, environment or {}, kept_bytes, output_bytes)
        async with self._turn:
            return await execute(self.container, Command(argv, seconds * patience(), *how))

    async def write_files(self, files: Mapping[str, bytes]) -> None:
        """Writes files, {absolute path: content}, and the folders they lie in; all can be read and executed.

        Raises:
            ExecutionError: a path is not a plain absolute one, or lies where nothing can be written.
            EngineError: the engine does not answer, or refuses.
        """
        for place, inside in self._by_place(files).items():
            archive = await asyncio.to_thread(archives.packed, inside, place)
            await archives.write_archive(self.container, place, archive, as_user=self._spec.user != ROOT)

    async def read_file(self, path: str, most: int = LARGEST_FILE) -> bytes:
        """The content of a file, as the engine has it: no program of the container takes part.

        Raises:
            ExecutionError: it cannot be read, or is larger than `most` bytes.
            EngineError: the engine does not answer.
        """
        return await archives.read_file(self.container, path, most)

    def _by_place(self, files: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
        """The files by the mounted folder that each lies in, or the root folder, where all can be written."""
        if not self._spec.read_only:
            return {"/": dict(files)}
        places = sorted(_scratch(self._spec), key=len, reverse=True)
        sorted_out: dict[str, dict[str, bytes]] = {}
        for path, content in files.items():
            place = next((one for one in places if path.startswith(f"{one}/")), places[-1])
            sorted_out.setdefault(place, {})[path] = content
        return sorted_out


class DockerSandboxes:
    """Starts sandboxes, never more than `at_once`; further ones wait for a place, whatever requests are under way."""

    def __init__(self, engine: Engine, run_id: str, *, at_once: int = 4) -> None:
        self._engine = engine
        self._run_id = run_id
        self._images = Images(engine)
        self._places = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def started(self, spec: SandboxSpec, say: Say = lambda said: None) -> AsyncIterator[DockerSandbox]:
        """A running sandbox; it is gone, with all that ran in it, when the context is left.


        Raises:
            EngineError: the image cannot be pulled, the container not be started, or the disk is nearly full.
            EngineUnavailable: instead of any ExecutionError, where the engine has gone.
        """
        async with self._places, self._started(spec, say) as sandbox:
            yield sandbox

    @asynccontextmanager
    async def started_beside(
        self, spec: SandboxSpec, say: Say = lambda said: None, prepare: Prepare | None = None
    ) -> AsyncIterator[DockerSandbox]:
        """A sandbox beside one that has a place; it takes none, as whoever asks has one already.

        `prepare` is done to its container before that is started. Raises as `started`.
        """
        async with self._started(spec, say, prepare) as sandbox:
            yield sandbox

    @asynccontextmanager
    async def _started(
        self, spec: SandboxSpec, say: Say, prepare: Prepare | None = None
    ) -> AsyncIterator[DockerSandbox]:
        try:
            async with self._container(spec, say, prepare) as container:
                yield DockerSandbox(container, spec)
        except ExecutionError:
            await self._engine.still_answers()
            raise

    @asynccontextmanager
    async def _container(
        self, spec: SandboxSpec, say: Say, prepare: Prepare | None
    ) -> AsyncIterator[Container]:
        check_disk(self._engine, 0 if spec.read_only else spec.resources.disk_bytes)
        await self._images.provide(spec.image, say)
        image = await configuration_of(self._engine, spec.image) or {}
        volumes = list(image.get("Volumes") or ())
        configuration = _configuration(self._engine, spec, owner.labels(self._run_id))
        async with removed_in_the_end(await start(self._engine, configuration, prepare)) as container:
            if spec.read_only and not volumes:
                yield container
                return
            async with disk_watched(container, spec.resources.disk_bytes, volumes):
                yield container


def _network(engine: Engine, spec: SandboxSpec) -> dict[str, Any]:
    """Docker's own network, that of another container with its volumes and shared memory, or a loopback only:
    127.0.0.1, ::1 where this machine has IPv6, and `localhost`.
    """
    if spec.beside:
        other = f"container:{spec.beside}"
        return {"NetworkMode": other, "IpcMode": other, "VolumesFrom": [spec.beside]}
    if spec.network:
        return {"NetworkMode": OPEN, "IpcMode": SHAREABLE}
    has_ipv6 = engine.address.is_local and Path("/proc/sys/net/ipv6").exists()
    return {
        "NetworkMode": CLOSED,
        "IpcMode": SHAREABLE,
        "Sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"} if has_ipv6 else {},
    }


def _scratch(spec: SandboxSpec) -> list[str]:
    """The folders that can be written to where the rest cannot."""
    own = [spec.directory] if spec.directory not in ("", SCRATCH) else []
    return [SCRATCH, *own] if spec.read_only else []


def _in_memory(place: str, most: int) -> dict[str, Any]:
    """A folder kept in memory: a volume, since the engine does not see into what is mounted as tmpfs."""
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
            **confinement(engine, spec.resources),
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
