"""Stepping through rollouts: before each call to the model, a person decides how to continue.

`Stepper` holds the state of the person's session, but no terminal. `SteppingClient` is the client whose calls
wait for the person. Each dataset row is run by the engine like any other. `Stepper.run_rows` does not start
these runs itself: its caller passes the function that does (`run_row`).
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
from benchwright.agents.runners.step_keys import (
    HELP_TEXT,
    KEY_SUMMARY,
    StepCommand,
    StepKey,
    out_of_range_message,
    parse_command,
)
from benchwright.errors import TrialError
from benchwright.records import Message


class StepConsole(Protocol):
    """The person who steps through rollouts, as a `Stepper` sees them: shows texts, and asks for input.

    Texts to show may come from a model. The implementation must make them harmless.
    """

    def show(self, text: str) -> None:
        """Show some lines of text to the person."""
        ...

    async def ask(self, prompt: str) -> str | None:
        """Ask the person for a line, and return the line. Return None at the end of the input."""
        ...


class RowExit(BaseException):
    """Raised when the person leaves the row. It is not an Exception, so that the agent does not catch it."""


@dataclass
class _Row:
    """The state of the current row: the messages shown so far, and the person's decisions.

    `way_out`: the command with which the person leaves the row; None until then.
    """

    index: int
    messages: list[Message] = field(default_factory=list)
    tools: Sequence[Mapping[str, Any]] = ()
    step: int = 0
    running: bool = True
    pausing: bool = True
    way_out: StepCommand | None = None


class Stepper:
    """A person's session of stepping through rollouts, one per row.

    `rows`: the available rows. `failed`: the number of rollouts that failed.
    """

    def __init__(self, person: StepConsole, rows: range) -> None:
        self.failed = 0
        self._person = person
        self._rows = rows
        self._row = _Row(rows.start)

    async def run_rows(self, first: int, run_row: Callable[[int], Awaitable[LocalRunResult]]) -> None:
        """Run the row `first`, and then the rows that the person chooses, until the person quits.

        `run_row`: a function that runs the row with a given index, and returns the result.
        """
        self._person.show(KEY_SUMMARY)
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

    async def pause_before_call(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        """Show new messages of the conversation, and wait until the person continues.

        Raises:
            RowExit: If the person wants to leave the row.
        """
        row = self._row
        if row.way_out is None:
            row.step += 1
            row.tools = tools
            self._show_new(messages)
            if row.pausing:
                command = await self._decide(f"[Step {row.step}] > ")
                row.pausing = command.key is StepKey.NEXT
                row.way_out = command if command.key in (StepKey.ROW, StepKey.QUIT) else None
        if row.way_out is not None:
            raise RowExit("the row was left")

    def show_response(self, answer: CompletionsResult, duration_ms: float) -> None:
        """Show the model's response, its duration and its tokens."""
        self._show_new([*self._row.messages, answer.message])
        tokens = format_tokens(answer.usage.get("total_tokens", 0))
        self._person.show(f"    ({format_duration(duration_ms)}, {tokens} tokens, {answer.finish_reason})")

    def show_failure(self, error: TrialError) -> None:
        """Show why a call failed. The agent may still make further calls."""
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
        """Show the first message that is new or changed since the last call, and all messages after it."""
        pairs = zip(self._row.messages, messages, strict=False)
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._row.messages = list(messages)
        self._show_messages(known)

    def _show_messages(self, start: int = 0) -> None:
        for number, message in enumerate(self._row.messages[start:], start):
            self._person.show(message_text(number, message))

    async def _decide(self, prompt: str) -> StepCommand:
        """Ask the person for commands until one of them continues the row or leaves it. Return this command."""
        row = self._row
        while True:
            line = await self._person.ask(prompt)
            command = parse_command(line)
            if command.key is StepKey.NEXT and not row.running:
                command = StepCommand(StepKey.ROW, row.index + 1)
            match command.key:
                case StepKey.MESSAGES:
                    self._show_messages()
                case StepKey.TOOLS:
                    self._person.show("\n".join(map(tool_text, row.tools)) or "There are no tools.")
                case StepKey.HELP:
                    self._person.show(HELP_TEXT)
                case StepKey.ROW if command.row is not None and command.row not in self._rows:
                    self._person.show(out_of_range_message(command.row, self._rows))
                case None:
                    self._person.show(f"Unknown command: {line}. Enter ? for help.")
                case StepKey.CONTINUE if not row.running:
                    self._person.show("The row has ended. Enter ? for help.")
                case _:
                    return command


class SteppingClient:
    """A client of a model. Each of its calls waits for a person.

    One call runs at a time, even if the agent makes several calls at once.
    """

    def __init__(self, client: LocalLLMClientProtocol, stepper: Stepper) -> None:
        self._client = client
        self._stepper = stepper
        self._tools: list[dict[str, Any]] = []
        self._one_at_a_time = asyncio.Lock()

    @property
    def failure(self) -> object:
        """The failure of the last call; see `ExternalLLMClient.failure`."""
        return getattr(self._client, "failure", None)

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Wait until the person continues, then send a request to the model, and return the response.

        Raises:
            RowExit: If the person left the row.
            ProviderError: If there is no usable response.
        """
        async with self._one_at_a_time:
            await self._stepper.pause_before_call(messages, kwargs.get("tools") or self._tools)
            started = time.monotonic()
            try:
                answer = await self._client.chat_completions(messages, **kwargs)
            except TrialError as error:
                self._stepper.show_failure(error)
                raise
            self._stepper.show_response(answer, (time.monotonic() - started) * 1000)
            return answer

    def set_tools(self, tools: list[OpenAIFunctionToolSchema]) -> None:
        """Offer these tools with every call."""
        self._tools = [tool.model_dump(exclude_none=True) for tool in tools]
        self._client.set_tools(tools)

    def clear_tools(self) -> None:
        """Stop offering tools."""
        self._tools = []
        self._client.clear_tools()

    def reset_metrics(self) -> None:
        """Reset all counts to 0."""
        self._client.reset_metrics()

    def get_metrics(self) -> RolloutMetrics:
        """Return the metrics since the last reset."""
        return self._client.get_metrics()
