"""Executes calls on BFCL's own Python classes, which run in the sandbox and are never imported here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.bfcl.calls import Mistake
from benchwright.catalog.bfcl.encoder import Encoder
from benchwright.catalog.bfcl.rows import CLASS_MODULES, ClassSources
from benchwright.errors import ExecutionError
from benchwright.records import DECODE_ERRORS
from benchwright.sandbox import Limits, LocalSandbox, SandboxProcess

STEP_SECONDS = 10.0
SANDBOX_LIMITS = Limits(wall_seconds=24 * 3600.0, cpu_seconds=60, memory_bytes=256 * 1024 * 1024, processes=8)
"""Limits of one sandbox process. The limit of wall-clock time is long, because a process also waits for the model."""

CONVERSATIONS_PER_PROCESS = 100
"""Number of conversations that one sandbox process judges before a new process replaces it.

The replacement prevents earlier conversations from using up the process's limits.
"""

MAX_JUDGE_ATTEMPTS = 2
"""Maximum number of attempts to judge a conversation.

The first attempt may fail because earlier conversations used up the process's limits.
"""

EXECUTION_FAILED_KIND = "multi_turn:execution_failed"
"""Benchwright's own error type for calls that used up the sandbox's time or memory."""

SANDBOX_FILES = (
    "server.py",
    "mpmath.py",
    "rank_bm25.py",
    "memory_api_metaclass.py",
    "sentence_transformers.py",
)
"""Files that Benchwright puts next to BFCL's classes in the sandbox.

They are the server, and replacements for the libraries that the classes import.
"""

ConversationCalls = list[list[list[str]]]
"""Type of the calls of a conversation: for each turn, its steps; for each step, its calls as source text."""


class CallExecutor:
    """The instances of BFCL's classes on which one conversation's calls are executed. They are in the sandbox.

    `encoder`: embeds texts, for instances that search with embeddings.
    """

    def __init__(self, process: SandboxProcess, encoder: Encoder | None) -> None:
        self._process = process
        self._encoder = encoder

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute calls, which are given as source text, and return their results as text.

        Raises:
            ExecutionError: If the calls take too long or too much memory.
        """
        results: list[str] = (await self._ask({"calls": calls}))["results"]
        return results

    async def read_memory(self) -> dict[str, Any]:
        """Return two forms of the memory: the part that the model sees (`shown`), and the whole memory (`snapshot`).

        Raises:
            ExecutionError: If reading takes too long or too much memory.
        """
        return await self._ask({"memory": True})

    async def create_instances(self, opening: dict[str, Any]) -> None:
        """Create the instances of BFCL's classes.

        `opening`: the names of their classes, and their initial configuration.

        Raises:
            ExecutionError: If creating them takes too long or too much memory.
        """
        await self._ask({"opening": opening})

    async def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        answer = await _ask(self._process, question)
        while self._encoder is not None and "encode" in answer:
            answer = await _ask(self._process, await self._encoder.encode(answer))
        return answer


class Executor:
    """Starts an `CallExecutor` for each conversation, and judges finished conversations.

    - `executables`: the sources of the classes, available once the samples have been read.
    - `model`: directory of the embedding model; None if memory_vector is not selected.

    Each conversation runs in its own process. Judging takes place in one long-lived process, one conversation
    at a time, each on fresh instances.
    """

    def __init__(self, executables: ClassSources, model: Path | None = None) -> None:
        self._executables = executables
        self._encoder = Encoder(model) if model else None
        self._sandbox = LocalSandbox(SANDBOX_LIMITS)
        self._judging = asyncio.Lock()
        self._judge: SandboxProcess | None = None
        self._judged = 0
        self._stack = AsyncExitStack()

    async def load_model(self) -> None:
        """Load the embedding model, if there is one.

        Raises:
            UserError: If the model cannot be loaded.
        """
        if self._encoder is not None:
            await self._encoder.start()

    @asynccontextmanager
    async def start(self, content: dict[str, Any]) -> AsyncIterator[CallExecutor]:
        """Start a process with fresh instances for a sample; stop it on exit.

        Raises:
            ExecutionError: If the process cannot be started.
        """
        opening = _opening(content)
        async with self._process(opening["classes"].values()) as process:
            execution = CallExecutor(process, self._encoder)
            await execution.create_instances(opening)
            yield execution

    async def judge_calls(self, content: dict[str, Any], model: ConversationCalls) -> Mistake | None:
        """Return the reason why the model's calls do not achieve the effects of the expected calls.

        Return None if they achieve them. Both lists of calls are executed on fresh instances.

        Raises:
            ExecutionError: If the sandbox cannot be started.
        """
        question = {"opening": _opening(content), "model": model, "gold": content["answer"]}
        async with self._judging:
            for _ in range(MAX_JUDGE_ATTEMPTS):
                judge = await self._running_judge()
                try:
                    answer = await _ask(judge, question)
                except ExecutionError as error:
                    failure = Mistake(EXECUTION_FAILED_KIND, str(error))
                    await self._end_judge()
                else:
                    return None if answer["wrong"] is None else Mistake(*answer["wrong"])
        return failure

    async def close(self) -> None:
        """Stop the process that judges conversations, and the process that embeds texts."""
        await self._end_judge()
        if self._encoder is not None:
            await self._encoder.close()

    async def _end_judge(self) -> None:
        self._judge = None
        await self._stack.aclose()

    async def _running_judge(self) -> SandboxProcess:
        if self._judged >= CONVERSATIONS_PER_PROCESS:
            await self._end_judge()
        if self._judge is None:
            self._judge = await self._stack.enter_async_context(self._process(CLASS_MODULES.values()))
            self._judged = 0
        self._judged += 1
        return self._judge

    @asynccontextmanager
    async def _process(self, modules: Iterable[str]) -> AsyncIterator[SandboxProcess]:
        inside = Path(__file__).parent / "inside"
        files = {name: (inside / name).read_bytes() for name in SANDBOX_FILES}
        for module in (*modules, "long_context"):
            if module in self._executables.files:
                files[f"{module}.py"] = self._executables.files[module]
        async with self._sandbox.start_process(["python3", "server.py"], files=files) as process:
            yield process


def _opening(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "classes": {name: CLASS_MODULES[name] for name in content["classes"]},
        "config": content["initial_config"],
        "long_context": "long_context" in content["category"],
    }


async def _ask(process: SandboxProcess, question: dict[str, Any]) -> dict[str, Any]:
    await process.send(msgspec.json.encode(question))
    line = await process.receive(STEP_SECONDS)
    try:
        answer: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    except DECODE_ERRORS:
        raise ExecutionError("the sandboxed classes answered with something that is not JSON") from None
    return answer
