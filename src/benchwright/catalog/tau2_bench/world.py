"""The authors' domains, which run in the sandbox and are never imported here; a process for each conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import xxhash

from benchwright.catalog.tau2_bench.retrieval import Helper, Question, Retrieval, documents_in
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import UNREADABLE, Record
from benchwright.sandbox import Limits, LocalSandbox, SandboxProcess
from benchwright.sandbox.limits import MiB

STEP_SECONDS = 60.0
"""For a line; the longest is that which opens a world on a machine under load."""

LIMITS = Limits(
    wall_seconds=24 * 3600.0, cpu_seconds=600, memory_bytes=1024 * MiB, processes=8, line_bytes=16 * MiB
)
"""Of one process, which mostly waits for the models."""

INSIDE = ("server.py", "libraries.py", "retrieval.py")
"""What runs beside the authors' code."""

ASKS = b'{"asks"'
"""How a line begins with which a domain asks something itself."""

Answer = TypeVar("Answer")

Message = dict[str, Any]
"""A message of the whole conversation as the authors write it down: role, content, tool_calls, id, requestor, error."""


class Told(Record, frozen=True):
    """What agent and user are told at the start: policy and tools, scenario and tools (None without any).

    An agent that works alone has the user's tools besides its own, and one to say that it is done.
    """

    policy: str
    scenario: str
    tools: list[dict[str, Any]]
    user_tools: list[dict[str, Any]] | None


class Result(Record, frozen=True):
    """What a call answers."""

    content: str
    error: bool


class Examined(Record, frozen=True):
    """Whether the databases are as after the right calls (None where no calls and assertions are given), and which
    assertions about the end hold."""

    database: bool | None
    assertions: list[bool]


class _Results(Record, frozen=True):
    results: list[Result]


class _Asks(Record, frozen=True):
    asks: Question


class World:
    """The environment of one conversation, as `Worlds.open` gives it."""

    def __init__(self, process: SandboxProcess, told: Told, helper: Helper | None) -> None:
        self._process = process
        self._helper = helper
        self.told = told

    async def call(self, calls: Sequence[dict[str, Any]]) -> list[Result]:
        """What calls ({id, name, arguments, requestor}) answer, made in their order.

        Raises:
            ExecutionError: the sandbox was lost, or its time or memory used up.
            ProviderError: documents are found by embeddings, and the model for them gives none.
        """
        return (await _ask(self._process, {"calls": calls}, _Results, self._helper)).results

    async def examine(self, conversation: Sequence[Message]) -> Examined:
        """Makes all calls again on a fresh environment, and compares its end with that of the right calls.

        Raises:
            ExecutionError: likewise, or a call answered something else than before.
        """
        return await _ask(self._process, {"examine": conversation}, Examined)


class Files:
    """The files that worlds are made of, read from where the tasks lie."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._read: dict[str, dict[str, bytes]] = {}

    def lie_in(self, source: Source) -> None:
        """Says where they are."""
        if source is not self._source:
            self._source = source
            self._read.clear()

    def of(self, domain: str) -> dict[str, bytes]:
        """The code and the data of a domain, by their places in the repository.

        Raises:
            DatasetError: there is none, or it was fetched and has changed since.
        """
        if domain not in self._read:
            source = self._there()
            files = [file for split in ("code", "worlds") for file in source.files(split)]
            self._read[domain] = {
                file.relative_to(source.root).as_posix(): file.read_bytes()
                for file in files
                if domain_of(file) in (None, domain)
            }
        return self._read[domain]

    def digest(self, domain: str) -> str:
        """Tells of any change to them."""
        digest = xxhash.xxh3_128()
        for name, content in sorted(self.of(domain).items()):
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()

    def guidelines(self, tools: bool) -> str:
        """What every simulated user is told, with or without tools of its own.

        Raises:
            DatasetNotFound: it is not there.
        """
        name = "simulation_guidelines_tools.md" if tools else "simulation_guidelines.md"
        (file,) = (file for file in self._there().files("user") if file.name == name)
        return file.read_text(encoding="utf-8")

    def _there(self) -> Source:
        assert self._source is not None, "the tasks are read first"
        return self._source

    def __reduce__(self) -> tuple[type[Files], tuple[Source | None]]:
        return Files, (self._source,)


def domain_of(file: Path) -> str | None:
    """The domain in whose folder a file lies, if it lies in one."""
    parts = file.parent.parts
    place = len(parts) - parts[::-1].index("domains") if "domains" in parts else len(parts)
    return parts[place] if place < len(parts) else None


class Worlds:
    """Opens worlds, each in a sandbox of its own."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._sandbox = LocalSandbox(LIMITS)
        self._retrievals: dict[str, Retrieval] = {}

    @asynccontextmanager
    async def open(self, content: dict[str, Any], session: Session) -> AsyncIterator[World]:
        """The world of a sample, as it is before the conversation.

        Raises:
            ExecutionError: it cannot be made.
        """
        inside = Path(__file__).parent / "inside"
        files = {name: (inside / name).read_bytes() for name in INSIDE}
        files |= self.files.of(content["domain"])
        opening = {name: content[name] for name in ("domain", "task", "retrieval", "solo", "policy")}
        helper = self._helper(content, session)
        async with self._sandbox.process(["python3", "server.py"], files=files) as process:
            yield World(process, await _ask(process, {"open": opening}, Told), helper)

    def _helper(self, content: dict[str, Any], session: Session) -> Helper | None:
        name = content["retrieval"]
        if name is None:
            return None
        if name not in self._retrievals:
            self._retrievals[name] = Retrieval(name, documents_in(self.files.of(content["domain"])))
        return self._retrievals[name].helper(session)


async def _ask(
    process: SandboxProcess, question: dict[str, Any], kind: type[Answer], helper: Helper | None = None
) -> Answer:
    """The answer of a sandboxed domain, whom the helper answers what it asks meanwhile."""
    await process.send(msgspec.json.encode(question))
    try:
        while True:
            line = await process.receive(STEP_SECONDS)
            if helper is None or not line.startswith(ASKS):
                return msgspec.json.decode(line, type=kind)
            asked = msgspec.json.decode(line, type=_Asks).asks
            await process.send(msgspec.json.encode(await helper.answer(asked)))
    except (msgspec.ValidationError, *UNREADABLE):
        raise ExecutionError("the sandboxed domain answered with something else than was agreed") from None
