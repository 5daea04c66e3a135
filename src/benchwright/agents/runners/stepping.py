"""Stepping through rollouts: before every call of the model a person says how to go on.

`Stepper` knows what the person has seen and wants, but no terminal; `SteppingClient` is the client that it
holds up. Each row is still a run of its own, made by whoever calls `Stepper.go`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

from benchwright.agents.rollout.completions import CompletionsResult
from benchwright.agents.rollout.schemas import OpenAIFunctionToolSchema
from benchwright.agents.rollout.types import RolloutMetrics
from benchwright.agents.runners.conversations import message_text, tool_text
from benchwright.agents.runners.reports import format_duration, format_tokens
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol, LocalRunResult
from benchwright.errors import TrialError
from benchwright.records import Message

KEYS = "n: next call  c: no more pauses  m: messages  t: tools  r N: row N  q: quit  ?: help"

HELP = """\
  n, next, Enter   make the next call of the model; after a row, go to the next row
  c, continue      go on to the end of the row without pausing
  m, messages      show the conversation
  t, tools         show the tools that the model may call
  r N, row N       leave this row and go to row N
  q, quit, exit    leave
  ?, help          show this"""


class Key(Enum):
    """What a person can ask for."""

    NEXT = ("", "n", "next")
    CONTINUE = ("c", "continue")
    MESSAGES = ("m", "messages")
    TOOLS = ("t", "tools")
    ROW = ("r", "row")
    QUIT = ("q", "quit", "exit")
    HELP = ("?", "help")


_KEY_OF = {word: key for key in Key for word in key.value}


class Command(NamedTuple):
    """What a line asks for; `key` is None where it makes no sense, `row` is there with `Key.ROW`."""

    key: Key | None
    row: int | None = None


def read_command(line: str | None) -> Command:
    """Reads a line; None, the end of the input, quits. A mere number is a row."""
    if line is None:
        return Command(Key.QUIT)
    word, _, rest = line.strip().lower().partition(" ")
    key = _KEY_OF.get(word)
    if key not in (None, Key.ROW):
        return Command(key if not rest else None)
    try:
        return Command(Key.ROW, int(rest if key else line))
    except ValueError:
        return Command(None)


def out_of_range(row: int, rows: range) -> str:
    """What to say of a row that is not there."""
    return f"Row index out of range: {row}. Rows: {rows.start} to {rows.stop - 1}."


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


class Stepper:
    """Goes through rows with a person. `rows` are those there are; `failed` counts those that failed."""

    def __init__(self, person: Person, rows: range) -> None:
        self.failed = 0
        self._person = person
        self._rows = rows
        self._begin(rows.start)

    async def go(self, first: int, run_row: Callable[[int], Awaitable[LocalRunResult]]) -> None:
        """Runs the row `first`, then those that the person asks for, until they quit."""
        self._person.show(KEYS)
        row: int | None = first
        while row is not None:
            self._begin(row)
            self._person.show(f"\nRow {row} ({self._rows.start} to {self._rows.stop - 1})")
            result = await run_row(row)
            self._running = False
            if self._way_out is None:
                self._ended(result)
                self._way_out = await self._decide(f"[Row {row} ended] > ")
            row = self._way_out.row

    async def before_call(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
        """Shows what is new in the conversation, and waits for the person.

        Raises:
            RowLeft: they want to go elsewhere.
        """
        if self._way_out is None:
            self._step += 1
            self._tools = tools
            self._show_new(messages)
            if self._pausing:
                command = await self._decide(f"[Step {self._step}] > ")
                self._pausing = command.key is Key.NEXT
                self._way_out = command if command.key in (Key.ROW, Key.QUIT) else None
        if self._way_out is not None:
            raise RowLeft("the row was left")

    def answered(self, answer: CompletionsResult, duration_ms: float) -> None:
        """Shows what the model said, how long it took, and what it cost."""
        self._show_new([*self._messages, answer.message])
        tokens = format_tokens(answer.usage.get("total_tokens", 0))
        self._person.show(f"    ({format_duration(duration_ms)}, {tokens} tokens, {answer.finish_reason})")

    def failed_call(self, error: TrialError) -> None:
        """Shows why the model gave no answer; the agent may yet ask again."""
        self._person.show(f"The call failed: {error}")

    def _begin(self, row: int) -> None:
        self._row = row
        self._running = True
        self._pausing = True
        self._step = 0
        self._messages: list[Message] = []
        self._tools: Sequence[Mapping[str, Any]] = ()
        self._way_out: Command | None = None

    def _ended(self, run: LocalRunResult) -> None:
        self.failed += not run.success
        if run.result is not None:
            self._show_new(run.result.final_messages)
        status = run.result.status if run.result is not None else "ERROR"
        reward = run.result.reward if run.result is not None else None
        tokens = format_tokens(run.token_usage.get("total_tokens", 0))
        self._person.show(
            f"Result: {status}"
            + (f" (reward={reward})" if reward is not None else "")
            + (f" - {run.error}" if run.error is not None else "")
            + f"\nTokens: {tokens}, calls: {run.token_usage.get('num_llm_calls', 0)}"
        )

    def _show_new(self, messages: Sequence[Message]) -> None:
        """Shows messages from the first that was not there before, which is then what was there."""
        pairs = zip(self._messages, messages, strict=False)
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._show_messages(messages, known)
        self._messages = list(messages)

    def _show_messages(self, messages: Sequence[Message], start: int = 0) -> None:
        for number, message in enumerate(messages[start:], start):
            self._person.show(message_text(number, message))

    async def _decide(self, prompt: str) -> Command:
        """Asks until a line says where to go on."""
        while True:
            line = await self._person.ask(prompt)
            command = read_command(line)
            if command.key is Key.NEXT and not self._running:
                command = Command(Key.ROW, self._row + 1)
            match command.key:
                case Key.MESSAGES:
                    self._show_messages(self._messages)
                case Key.TOOLS:
                    self._person.show("\n".join(map(tool_text, self._tools)) or "There are no tools.")
                case Key.HELP:
                    self._person.show(HELP)
                case Key.ROW if command.row is not None and command.row not in self._rows:
                    self._person.show(out_of_range(command.row, self._rows))
                case None:
                    self._person.show(f"Unknown command: {line}. Enter ? for help.")
                case Key.CONTINUE if not self._running:
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
        """Starts counting anew."""
        self._client.reset_metrics()

    def get_metrics(self) -> RolloutMetrics:
        """The calls since the last reset."""
        return self._client.get_metrics()
