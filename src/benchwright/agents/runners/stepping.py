"""Stepping through rollouts: before every call of the model a person says how to go on.

`Stepper` knows what the person has seen and wants, but no terminal; `SteppingClient` is the client that it
holds up. Each row is a run of the engine like any other, made by whoever calls `Stepper.go`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Protocol

from benchwright.agents.rollout.types import CompletionsResult, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.agents.runners.reports import format_duration, format_tokens, message_text, tool_text
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol, LocalRunResult
from benchwright.agents.runners.step_keys import HELP, KEYS, Command, Key, out_of_range, read_command
from benchwright.errors import TrialError
from benchwright.records import Message


class Person(Protocol):
    """Who steps. What is shown to them is text from anywhere: making it harmless is up to them."""

    def show(self, text: str) -> None:
        """Shows some lines."""
        ...

    async def ask(self, prompt: str) -> str | None:
        """Asks for a line; None where there will be no more."""
        ...


class RowLeft(BaseException):
    """The person left the row. No `except Exception` of the agent's is to keep them there."""


@dataclass
class _Row:
    """Where a row stands: what was shown of it, and what the person wants. `way_out` is where they go."""

    index: int
    messages: list[Message] = field(default_factory=list)
    tools: Sequence[Mapping[str, Any]] = ()
    step: int = 0
    running: bool = True
    pausing: bool = True
    way_out: Command | None = None


class Stepper:
    """Goes through rows with a person. `rows` are those there are; `failed` counts those that failed."""

    def __init__(self, person: Person, rows: range) -> None:
        self.failed = 0
        self._person = person
        self._rows = rows
        self._row = _Row(rows.start)

    async def go(self, first: int, run_row: Callable[[int], Awaitable[LocalRunResult]]) -> None:
        """Runs the row `first`, then those that the person asks for, until they quit."""
        self._person.show(KEYS)
        index: int | None = first
        while index is not None:
            self._row = row = _Row(index)
            self._person.show(f"\nRow {index} ({self._rows.start} to {self._rows.stop - 1})")
            result = await run_row(index)
            row.running = False
            if row.way_out is None:
                self._ended(result)
                row.way_out = await self._decide(f"[Row {index} ended] > ")
            index = row.way_out.row

    async def before_call(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
        """Shows what is new in the conversation, and waits for the person.

        Raises:
            RowLeft: they want to go elsewhere.
        """
        row = self._row
        if row.way_out is None:
            row.step += 1
            row.tools = tools
            self._show_new(messages)
            if row.pausing:
                command = await self._decide(f"[Step {row.step}] > ")
                row.pausing = command.key is Key.NEXT
                row.way_out = command if command.key in (Key.ROW, Key.QUIT) else None
        if row.way_out is not None:
            raise RowLeft("the row was left")

    def answered(self, answer: CompletionsResult, duration_ms: float) -> None:
        """Shows what the model said, how long it took, and what it cost."""
        self._show_new([*self._row.messages, answer.message])
        tokens = format_tokens(answer.usage.get("total_tokens", 0))
        self._person.show(f"    ({format_duration(duration_ms)}, {tokens} tokens, {answer.finish_reason})")

    def failed_call(self, error: TrialError) -> None:
        """Shows why the model gave no answer; the agent may yet ask again."""
        self._person.show(f"The call failed: {error}")

    def _ended(self, run: LocalRunResult) -> None:
        self.failed += not run.success
        told = "Result: ERROR"
        if run.result is not None:
            self._show_new(run.result.final_messages)
            told = f"Result: {run.result.status}"
            if run.result.reward is not None:
                told += f" (reward={run.result.reward})"
        if run.error is not None:
            told += f" - {run.error}"
        tokens = format_tokens(run.token_usage.get("total_tokens", 0))
        self._person.show(f"{told}\nTokens: {tokens}, calls: {run.token_usage.get('num_llm_calls', 0)}")

    def _show_new(self, messages: Sequence[Message]) -> None:
        """Shows messages from the first on that was not there before."""
        pairs = zip(self._row.messages, messages, strict=False)
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._row.messages = list(messages)
        self._show_messages(known)

    def _show_messages(self, start: int = 0) -> None:
        for number, message in enumerate(self._row.messages[start:], start):
            self._person.show(message_text(number, message))

    async def _decide(self, prompt: str) -> Command:
        """Asks until a line says where to go on."""
        row = self._row
        while True:
            line = await self._person.ask(prompt)
            command = read_command(line)
            if command.key is Key.NEXT and not row.running:
                command = Command(Key.ROW, row.index + 1)
            match command.key:
                case Key.MESSAGES:
                    self._show_messages()
                case Key.TOOLS:
                    self._person.show("\n".join(map(tool_text, row.tools)) or "There are no tools.")
                case Key.HELP:
                    self._person.show(HELP)
                case Key.ROW if command.row is not None and command.row not in self._rows:
                    self._person.show(out_of_range(command.row, self._rows))
                case None:
                    self._person.show(f"Unknown command: {line}. Enter ? for help.")
                case Key.CONTINUE if not row.running:
                    self._person.show("The row has ended. Enter ? for help.")
                case _:
                    return command


class SteppingClient:
    """A client whose every call waits for a person; one call at a time, though the agent make several."""

    def __init__(self, client: LocalLLMClientProtocol, stepper: Stepper) -> None:
        self._client = client
        self._stepper = stepper
        self._tools: list[dict[str, Any]] = []
        self._one_at_a_time = asyncio.Lock()

    @property
    def failure(self) -> object:
        """See `ExternalLLMClient.failure`."""
        return getattr(self._client, "failure", None)

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Asks the model when the person says so.

        Raises:
            RowLeft: they went elsewhere.
            ProviderError: no usable answer came.
        """
        async with self._one_at_a_time:
            await self._stepper.before_call(messages, kwargs.get("tools") or self._tools)
            started = time.monotonic()
            try:
                answer = await self._client.chat_completions(messages, **kwargs)
            except TrialError as error:
                self._stepper.failed_call(error)
                raise
            self._stepper.answered(answer, (time.monotonic() - started) * 1000)
            return answer

    def set_tools(self, tools: list[OpenAIFunctionToolSchema]) -> None:
        """Offers these tools with every call."""
        self._tools = [tool.model_dump(exclude_none=True) for tool in tools]
        self._client.set_tools(tools)

    def clear_tools(self) -> None:
        """Offers no tools any more."""
        self._tools = []
        self._client.clear_tools()

    def reset_metrics(self) -> None:
        """Starts counting from 0."""
        self._client.reset_metrics()

    def get_metrics(self) -> RolloutMetrics:
        """The calls since the last reset."""
        return self._client.get_metrics()
