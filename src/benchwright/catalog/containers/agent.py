"""The shell agent: a model that runs commands in a container until it is done or reaches a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any, Literal

from benchwright.catalog.containers.bash_session import BashSession, CommandRecord
from benchwright.catalog.containers.command_messages import (
    BASH_TOOL_SCHEMA,
    CUT_OFF_MESSAGE,
    ParsedCommand,
    parse_commands,
    result_messages,
)
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Session
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import Message, Record, Status
from benchwright.sandbox.docker.commands import EndReason
from benchwright.text import one_line

SYSTEM_PROMPT = """\
You work in a Linux terminal to solve the task you are given.

Give commands by calling the tool `bash`. If you cannot call tools, write a command as a fenced block instead:

```bash
ls -la
```

The commands of one answer are run in order, and you are told what they printed. The directory and exported \
variables stay from one command to the next; nothing can read input from a keyboard, so use options that \
ask no questions. When the task is done, answer without a command."""

CommandFormat = Literal["auto", "tools", "fences"]

MAX_LINE_LENGTH = 80

CONTAINER_END_REASONS: dict[EndReason, str] = {
    "disk": "too much was written to the container's disk",
    "memory": "the container's memory ran out",
    "output": "a command that printed too much could not be ended without its container",
    "timeout": "a command could not be ended at its time limit without its container",
}

_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "too long",
)
"""Regular expression for error messages that a prompt exceeds the model's context length.

It covers the wordings of vLLM, SGLang, OpenAI, LiteLLM, llama.cpp and Anthropic.
"""


class AgentLimits(Record, frozen=True):
    """Limits of an agent: number of model responses, seconds per command, and total seconds (None: unlimited)."""

    max_turns: int
    command_seconds: float
    total_seconds: float | None = None


class AgentResult(Record, frozen=True):
    """Result of an agent's work. `status`: `limit` if a limit ended the work; `reason` then names that limit.

    `container_ended`: True if the container no longer exists, so that nothing can be tested. `artifacts`:
    data to store with the outcome.
    """

    status: Status
    messages: list[Message]
    answer: str = ""
    reason: str | None = None
    container_ended: bool = False
    artifacts: dict[str, Any] = {}


async def run_shell_agent(
    session: Session,
    bash: BashSession,
    messages: Sequence[Message],
    limits: AgentLimits,
    commands: CommandFormat = "auto",
) -> AgentResult:
    """Let the model work until it sends a response without a command, or until a limit is reached.

    `commands`: how the model sends commands. With `auto`, the `bash` tool is offered unless the server
    rejects tools, and fenced code blocks count as commands until the model first calls the tool.

    After a truncated response, the model is asked for a shorter one. A limit (time, turns, tokens, disk,
    memory or the model's context) ends the work but not the trial: the result so far is graded.

    Raises:
        ProviderError: If the endpoint failed for a reason other than a limit, after retries.
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    agent = _Agent(session, bash, list(messages), limits, commands)
    try:
        return await agent.go()
    except TimeoutError:
        return agent.limited(f"the work took longer than {limits.total_seconds:g} s")
    except LimitReached as reached:
        return agent.limited(str(reached))


class _Agent:
    def __init__(
        self,
        session: Session,
        bash: BashSession,
        conversation: list[Message],
        limits: AgentLimits,
        commands: CommandFormat,
    ) -> None:
        self._session = session
        self._bash = bash
        self._conversation = conversation
        self._limits = limits
        self._end = None if limits.total_seconds is None else monotonic() + limits.total_seconds
        self._tools = commands != "fences"
        self._fences = commands != "tools"
        self._may_fall_back = commands == "auto"

    async def go(self) -> AgentResult:
        for turn in range(1, self._limits.max_turns + 1):
            try:
                async with asyncio.timeout(self._seconds_left()):
                    reply = await self._ask()
            except ProviderError as error:
                if turn > 1 and is_context_length_error(error):
                    return self.limited("the conversation is longer than the model's context")
                raise
            self._conversation.append(reply.message)
            self._fences = self._fences and not reply.tool_calls
            asked = parse_commands(reply, fences=self._fences)
            if asked:
                ended = await self._run_all(turn, asked)
                if ended is not None:
                    return self.limited(CONTAINER_END_REASONS[ended], container_ended=True)
            elif reply.finish_reason == "length":
                self._conversation.append({"role": "user", "content": CUT_OFF_MESSAGE})
            else:
                status, reason = answer_status(reply)
                return AgentResult(status, self._conversation, reply.text, reason)
        return self.limited(f"not done within {self._limits.max_turns} turns")

    def limited(self, reason: str, container_ended: bool = False) -> AgentResult:
        answer = final_answer(self._conversation)
        return AgentResult(Status.LIMIT, self._conversation, answer, reason, container_ended)

    def _seconds_left(self) -> float | None:
        if self._end is None:
            return None
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    async def _ask(self) -> Reply:
        if not self._tools:
            return await self._session.chat(self._conversation)
        try:
            reply = await self._session.chat(self._conversation, tools=[BASH_TOOL_SCHEMA])
        except ProviderError as error:
            if not self._may_fall_back or not _is_about_tools(error):
                raise
            self._tools = False
            return await self._session.chat(self._conversation)
        self._may_fall_back = False
        return reply

    async def _run_all(self, turn: int, asked: Sequence[ParsedCommand]) -> EndReason | None:
        """Run commands in order, and append their results to the conversation.

        Return the reason if a command ended the container. Return None otherwise.
        """
        results: list[tuple[ParsedCommand, CommandRecord | None]] = []
        try:
            for one in asked:
                record = None if one.problem else await self._run(turn, one.command)
                results.append((one, record))
                if record is not None and record.container_ended:
                    return record.ended
        finally:
            self._conversation += result_messages(results)
        return None

    async def _run(self, turn: int, command: str) -> CommandRecord:
        left = self._seconds_left()
        seconds = self._limits.command_seconds if left is None else min(self._limits.command_seconds, left)
        self._session.progress(f"turn {turn}: {_first_line(command)}")
        return await self._bash.run(command, seconds)


def _first_line(command: str) -> str:
    return one_line(next(iter(command.strip().splitlines()), ""), MAX_LINE_LENGTH)


def _is_about_tools(error: ProviderError) -> bool:
    return error.http_status in (400, 404, 422, 501) and "tool" in str(error).lower()


def is_context_length_error(error: ProviderError) -> bool:
    """Return True if a server rejected a conversation because it exceeds the model's context length."""
    words = str(error).lower()
    return error.http_status in (400, 413, 422) and any(part in words for part in _TOO_LONG)
