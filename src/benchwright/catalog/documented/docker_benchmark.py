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

from benchwright.catalog.documented.base import BaseBenchmark, BenchmarkSample, SampleResult
from benchwright.errors import UserError

if TYPE_CHECKING:
    from benchwright.catalog.containers import BashSession, Containers
    from benchwright.catalog.documented.client import InstrumentedClient
    from benchwright.catalog.documented.config import BenchmarkConfig
    from benchwright.sandbox.docker import DockerSandbox, SandboxSpec

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
"""What root needs in a container for files and users of its own."""

_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}


@dataclass
class CommandResult:
    """What came of a command: what it printed, stdout and stderr as they came, and its exit code.

    `ended` is `exited`, or the limit that ended it: `timeout`, `output`, `memory` or `disk`.
    """

    output: str
    exit_code: int | None
    ended: str = "exited"

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.ended == "exited" and self.exit_code == 0


class Box:
    """A container, and one terminal in it: the directory and exported variables stay from command to command."""

    def __init__(self, sandbox: DockerSandbox, session: BashSession) -> None:
        self._sandbox = sandbox
        self._session = session

    async def run(self, command: str, timeout: float = 60.0) -> CommandResult:
        """Runs a command with bash, or sh where the image has none; it cannot read input.

        Of long output the middle is left out.

        Raises:
            ExecutionError: the container was ended by somebody else, or the engine does not answer.
        """
        record = await self._session.run(command, timeout)
        return CommandResult(record.output, record.exit_code, record.ended)

    async def write(self, path: str, content: str | bytes) -> None:
        """Writes a file, and the folders it lies in; `path` is absolute.

        Raises:
            ExecutionError: it cannot be written.
        """
        encoded = content.encode("utf-8", "replace") if isinstance(content, str) else content
        await self._sandbox.write_files({path: encoded})

    async def read(self, path: str) -> bytes:
        """The content of a file of at most 16 MiB.

        Raises:
            ExecutionError: it cannot be read, or is larger.
        """
        return await self._sandbox.read_file(path)


class DockerBenchmark(BaseBenchmark):
    """A benchmark in containers; a subclass implements `load_dataset` and `multi_turn`, and starts them by `container`.

    The attributes are the documented limits of each container: `cpu_quota` of `cpu_period` microseconds is one core,
    `mem_limit` and `disk_limit` are in Docker's words, `network_mode` is `none` or `bridge`. In a run at most
    `max_containers` are there at once. `max_turns` and `max_tokens` are for `multi_turn` to keep to.
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
        """Leads the whole conversation with the client that is given, and grades it."""

    @asynccontextmanager
    async def container(self, image: str | None = None) -> AsyncIterator[Box]:
        """A fresh container of an image, `docker_image` by default; it is always removed when the context is left.

        Never ask for one inside another's context where all of them could do so: places are bounded.

        Raises:
            UserError: there is no engine, or an attribute is not what Docker knows.
            ExecutionError: the image cannot be had, or the container not be started.
        """
        from benchwright.catalog.containers import BashSession

        spec = self._spec(image or self.docker_image)
        async with self._engine() as opened, opened.sandboxes.started(spec) as sandbox:
            yield Box(sandbox, BashSession(sandbox))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Connects to the engine once for all containers that are started inside; runs do this.

        Raises:
            UserError: there is no engine that can be used.
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
        """The run's connection, or outside of runs one of the container's own."""
        from benchwright.catalog.containers import containers

        if self._containers is not None:
            yield self._containers
            return
        async with containers(self.max_containers) as opened:
            yield opened

    def _spec(self, image: str) -> SandboxSpec:
        from benchwright.sandbox.docker import Resources, SandboxSpec

        if self.network_mode not in ("none", "bridge"):
            raise UserError(f"{self.name}: network_mode is 'none' or 'bridge', not {self.network_mode!r}.")
        return SandboxSpec(
            image,
            read_only=False,
            network=self.network_mode == "bridge",
            resources=Resources(
                memory_bytes=self._bytes("mem_limit"),
                cpus=self.cpu_quota / self.cpu_period,
                processes=self.pids_limit,
                disk_bytes=self._bytes("disk_limit"),
            ),
            capabilities=CAPABILITIES,
        )

    def _bytes(self, attribute: str) -> int:
        """A size as Docker writes it: `2g`, `512m`, or a number of bytes."""
        given = str(getattr(self, attribute)).lower()
        number, unit = given.rstrip("bkmg"), given.lstrip("0123456789")
        if not number.isdecimal() or unit not in _UNITS:
            raise UserError(f"{self.name}: {attribute} is a size such as '2g' or '512m', not {given!r}.")
        return int(number) * _UNITS[unit]
