"""`DockerBenchmark`: the documented base of benchmarks whose commands run in containers.

class Counting(DockerBenchmark):
    name = "counting"

    async def load_dataset(self, data_dir, max_samples=None):
        return [BenchmarkSample("count_0", [{"role": "user", "content": "Count to 3 in Python."}])]

    async def multi_turn(self, sample, client, config):
        text, _ = await client.chat_completion(sample.messages)
        async with self.container() as box:
            await box.write("/job/main.py", text)
            ran = await box.run("python /job/main.py", timeout=10)
        return SampleResult(sample.id, correct=ran.output == "1\\n2\\n3\\n", predicted=ran.output)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark, BenchmarkSample, SampleResult
from benchwright.errors import UserError

if TYPE_CHECKING:
    from benchwright.catalog.containers import BashSession, Containers
    from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
    from benchwright.sandbox.docker import DockerSandbox, SandboxSpec

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
"""Capabilities that root needs in a container for files and users."""

_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}


@dataclass
class CommandResult:
    """The result of a command: its output (stdout and stderr interleaved as printed) and its exit code.

    `ended`: `exited`, or the limit that ended it: `timeout`, `output`, `memory` or `disk`.
    """

    output: str
    exit_code: int | None
    ended: str = "exited"

    @property
    def ok(self) -> bool:
        """True if the command exited by itself with code 0."""
        return self.ended == "exited" and self.exit_code == 0


class Box:
    """A container with one terminal: the directory and exported variables persist between commands."""

    def __init__(self, sandbox: DockerSandbox, session: BashSession) -> None:
        self._sandbox = sandbox
        self._session = session

    async def run(self, command: str, timeout: float = 60.0) -> CommandResult:
        """Run a command with bash, or with sh if the image has no bash. Return its result.

        The command cannot read input. The middle of long output is left out. `timeout` is in seconds.

        Raises:
            ExecutionError: If the container was ended from outside, or the engine does not respond.
        """
        record = await self._session.run(command, timeout)
        return CommandResult(record.output, record.exit_code, record.ended)

    async def write(self, path: str, content: str | bytes) -> None:
        """Write a file, and create the folders above it. `path` must be absolute.

        Raises:
            ExecutionError: If the file cannot be written.
        """
        encoded = content.encode("utf-8", "replace") if isinstance(content, str) else content
        await self._sandbox.write_files({path: encoded})

    async def read(self, path: str) -> bytes:
        """Return the content of a file of at most 16 MiB.

        Raises:
            ExecutionError: If the file cannot be read, or is larger.
        """
        return await self._sandbox.read_file(path)


class DockerBenchmark(BaseBenchmark):
    """Base class of benchmarks whose commands run in containers.

    A subclass implements `load_dataset` and `multi_turn`, which calls `container`.

    The attributes are the documented limits of each container:
    - `cpu_quota`: microseconds of CPU time per `cpu_period`; equal values mean one core.
    - `mem_limit`, `disk_limit`: sizes in Docker's form, such as `2g`.
    - `network_mode`: `none` or `bridge`.
    - `max_containers`: largest number of containers of a run at the same time.
    - `max_turns`, `max_tokens`: limits that `multi_turn` itself must respect.
    """

    tier: ClassVar[int] = 4
    is_multi_turn: ClassVar[bool] = True
    docker_image: ClassVar[str] = "python:3.11"
    network_mode: ClassVar[str] = "none"
    mem_limit: ClassVar[str] = "2g"
    cpu_period: ClassVar[int] = 100_000
    cpu_quota: ClassVar[int] = 100_000
    pids_limit: ClassVar[int] = 256
    disk_limit: ClassVar[str] = "2g"
    max_containers: ClassVar[int] = 4
    max_turns: ClassVar[int] = 1
    max_tokens: ClassVar[int] = 4096

    _containers: Containers | None = None

    @abstractmethod
    async def multi_turn(
        self, sample: BenchmarkSample, client: InstrumentedClient, config: BenchmarkConfig
    ) -> SampleResult:
        """Lead the whole conversation with this client, and return its graded result."""

    @asynccontextmanager
    async def container(self, image: str | None = None) -> AsyncIterator[Box]:
        """Start a fresh container of an image, `docker_image` by default, and yield it; remove it on exit.

        Do not open a second container inside of this context if samples run concurrently. The number of
        containers is limited, so all samples could wait for each other.

        Raises:
            UserError: If there is no engine, or an attribute is invalid for Docker.
            ExecutionError: If the image is not available, or the container cannot be started.
        """
        from benchwright.catalog.containers import BashSession

        spec = self._spec(image or self.docker_image)
        async with self._engine() as opened, opened.sandboxes.start(spec) as sandbox:
            yield Box(sandbox, BashSession(sandbox))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Connect to the engine once for all containers started inside this context.

        Runs do this by themselves.

        Raises:
            UserError: If no engine can be used.
        """
        self._spec(self.docker_image)
        async with self._engine() as opened:
            self._containers = opened
            try:
                yield
            finally:
                self._containers = None

    @asynccontextmanager
    async def _engine(self) -> AsyncIterator[Containers]:
        """Yield the run's connection to the engine. Outside of a run, yield a new connection."""
        from benchwright.catalog.containers import open_containers

        if self._containers is not None:
            yield self._containers
            return
        async with open_containers(self.max_containers) as opened:
            yield opened

    def _spec(self, image: str) -> SandboxSpec:
        from benchwright.sandbox.docker import Resources, SandboxSpec

        if self.network_mode not in ("none", "bridge"):
            raise UserError(f"{self.name}: network_mode is 'none' or 'bridge', not {self.network_mode!r}.")
        return SandboxSpec(
            image,
            read_only=False,
            has_network=self.network_mode == "bridge",
            resources=Resources(
                memory_bytes=self._bytes("mem_limit"),
                cpus=self.cpu_quota / self.cpu_period,
                processes=self.pids_limit,
                disk_bytes=self._bytes("disk_limit"),
            ),
            capabilities=CAPABILITIES,
        )

    def _bytes(self, attribute: str) -> int:
        """Return an attribute with a size in Docker's form (`2g`, `512m`, or a number of bytes) in bytes."""
        given = str(getattr(self, attribute)).lower()
        number, unit = given.rstrip("bkmg"), given.lstrip("0123456789")
        if not number.isdecimal() or unit not in _UNITS:
            raise UserError(f"{self.name}: {attribute} is a size such as '2g' or '512m', not {given!r}.")
        return int(number) * _UNITS[unit]
