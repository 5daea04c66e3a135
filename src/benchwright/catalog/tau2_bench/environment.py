"""Environments ("worlds") of tau2-bench's domains, as seen from the host.

The authors' code runs in the sandbox, in one process per conversation, never here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import xxhash

from benchwright.catalog.tau2_bench.retrieval import Question, Retrieval, RetrievalHelper, parse_documents
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import DECODE_ERRORS, Record
from benchwright.sandbox import Limits, LocalSandbox, SandboxProcess
from benchwright.sandbox.limits import MiB

STEP_SECONDS = 60.0
"""Timeout in seconds for each line from the process. The longest step is to open a world on a busy machine."""

SANDBOX_LIMITS = Limits(
    wall_seconds=24 * 3600.0, cpu_seconds=600, memory_bytes=1024 * MiB, processes=8, line_bytes=16 * MiB
)
"""Limits on a domain's process. The process mostly waits for the models."""

SANDBOX_PROGRAMS = ("server.py", "libraries.py", "retrieval.py")
"""Benchwright's programs that run in the sandbox, next to the authors' code."""

QUESTION_START = b'{"asks"'
"""The beginning of a line with which the process asks the host a question."""

AnswerT = TypeVar("AnswerT")

ConversationMessage = dict[str, Any]
"""A message of the conversation in the authors' format: role, content, tool_calls, id, requestor, error."""


class TaskEnvironment(Record, frozen=True):
    """The context of a task: policy and tools for the agent, scenario and tools for the user.

    `user_tools` is None if the user has no tools. An agent without a user gets the user's tools besides its
    own, and a tool to report that it has finished.
    """

    policy: str
    scenario: str
    tools: list[dict[str, Any]]
    user_tools: list[dict[str, Any]] | None


class ToolResult(Record, frozen=True):
    """The result of a tool call."""

    content: str
    error: bool


class StateCheck(Record, frozen=True):
    """The result of the state check at the end of a conversation.

    `database`: True if the databases equal those after the right calls; None if the task has neither calls
    nor assertions. `assertions`: for each assertion about the final state, True if it holds.
    """

    database: bool | None
    assertions: list[bool]


class _Results(Record, frozen=True):
    results: list[ToolResult]


class _QuestionLine(Record, frozen=True):
    asks: Question


class ConversationEnvironment:
    """The environment of one conversation, whose code runs in the sandbox. `DomainEnvironments.open` creates it."""

    def __init__(
        self, process: SandboxProcess, told: TaskEnvironment, helper: RetrievalHelper | None
    ) -> None:
        self._process = process
        self._helper = helper
        self.told = told

    async def call_tools(self, calls: Sequence[dict[str, Any]]) -> list[ToolResult]:
        """Make tool calls ({id, name, arguments, requestor}) in order, and return their results.

        Raises:
            ExecutionError: If the sandbox was lost, or exceeded its time or memory limit.
            ProviderError: If documents are searched by embeddings, and the embedding model returns none.
        """
        return (await _ask(self._process, {"calls": calls}, _Results, self._helper)).results

    async def check_state(self, conversation: Sequence[ConversationMessage]) -> StateCheck:
        """Replay all calls in a fresh environment, and compare its final state with the right state.

        Raises:
            ExecutionError: If the sandbox was lost or exceeded a limit, or a call returned another result
                than before.
        """
        return await _ask(self._process, {"examine": conversation}, StateCheck)


class DomainFiles:
    """The files from which worlds are made, read from the source of the tasks."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._read: dict[str, dict[str, bytes]] = {}

    def set_source(self, source: Source) -> None:
        """Set the source from which the files are read."""
        if source is not self._source:
            self._source = source
            self._read.clear()

    def files_of(self, domain: str) -> dict[str, bytes]:
        """Return the code and the data of a domain, as {path in the repository: content}.

        Raises:
            DatasetError: If the files are missing, or have changed since they were fetched.
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

    def domain_digest(self, domain: str) -> str:
        """Return a hash of the domain's files. It changes if one of the files changes."""
        digest = xxhash.xxh3_128()
        for name, content in sorted(self.files_of(domain).items()):
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()

    def read_guidelines(self, tools: bool) -> str:
        """Return the authors' instructions for simulated users.

        `tools`: True for the version for a user with tools.

        Raises:
            DatasetNotFound: If the file is missing.
        """
        name = "simulation_guidelines_tools.md" if tools else "simulation_guidelines.md"
        (file,) = (file for file in self._there().files("user") if file.name == name)
        return file.read_text(encoding="utf-8")

    def _there(self) -> Source:
        assert self._source is not None, "the tasks are read first"
        return self._source

    def __reduce__(self) -> tuple[type[DomainFiles], tuple[Source | None]]:
        return DomainFiles, (self._source,)


def domain_of(file: Path) -> str | None:
    """Return the domain to whose folder a file belongs. Return None if it is in no domain's folder."""
    parts = file.parent.parts
    place = len(parts) - parts[::-1].index("domains") if "domains" in parts else len(parts)
    return parts[place] if place < len(parts) else None


class EnvironmentStarter:
    """Factory of worlds, each in its own sandbox."""

    def __init__(self, files: DomainFiles) -> None:
        self.files = files
        self._sandbox = LocalSandbox(SANDBOX_LIMITS)
        self._retrievals: dict[str, Retrieval] = {}

    @asynccontextmanager
    async def open_environment(
        self, content: dict[str, Any], session: Session
    ) -> AsyncIterator[ConversationEnvironment]:
        """Start the environment of a sample in its initial state. End its process on exit.

        Raises:
            ExecutionError: If the environment cannot be created.
        """
        inside = Path(__file__).parent / "inside"
        files = {name: (inside / name).read_bytes() for name in SANDBOX_PROGRAMS}
        files |= self.files.files_of(content["domain"])
        opening = {name: content[name] for name in ("domain", "task", "retrieval", "solo", "policy")}
        helper = self._helper(content, session)
        async with self._sandbox.start_process(["python3", "server.py"], files=files) as process:
            yield ConversationEnvironment(
                process, await _ask(process, {"open": opening}, TaskEnvironment), helper
            )

    def _helper(self, content: dict[str, Any], session: Session) -> RetrievalHelper | None:
        name = content["retrieval"]
        if name is None:
            return None
        if name not in self._retrievals:
            self._retrievals[name] = Retrieval(name, parse_documents(self.files.files_of(content["domain"])))
        return self._retrievals[name].create_retrieval_helper(session)


async def _ask(
    process: SandboxProcess,
    question: dict[str, Any],
    kind: type[AnswerT],
    helper: RetrievalHelper | None = None,
) -> AnswerT:
    """Send a request to a sandboxed domain and return the domain's answer.

    Until the answer comes, `helper` answers the questions that the domain asks.
    """
    await process.send(msgspec.json.encode(question))
    try:
        while True:
            line = await process.receive(STEP_SECONDS)
            if helper is None or not line.startswith(QUESTION_START):
                return msgspec.json.decode(line, type=kind)
            asked = msgspec.json.decode(line, type=_QuestionLine).asks
            await process.send(msgspec.json.encode(await helper.answer_question(asked)))
    except (msgspec.ValidationError, *DECODE_ERRORS):
        raise ExecutionError("the sandboxed domain answered with something else than was agreed") from None
