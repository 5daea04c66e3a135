"""Multi-turn tasks: asks step by step, executes the calls, returns their results, and judges the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from benchwright.catalog.asking import user
from benchwright.catalog.bfcl.call_decoding import decode_calls
from benchwright.catalog.bfcl.calls import Call, DecodingError, Mistake, read_tool_calls
from benchwright.catalog.bfcl.execution import EXECUTION_FAILED_KIND, CallExecutor, Executor
from benchwright.catalog.bfcl.solver import (
    MORE_FUNCTIONS_MESSAGE,
    CallMode,
    more_functions_text,
    offered_functions,
    with_system_prompt,
)
from benchwright.catalog.bfcl.tools import functions_as_tools
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Trial

MAX_STEPS = 20
"""Maximum number of executed steps in one turn. One more step ends the conversation."""

BAD_ARGUMENTS_ERROR = "Error during execution: the arguments are not a JSON object."


class MultiTurnSolver:
    """A solver that runs all turns of a multi-turn task (bfcl_eval, base_handler.py).

    The outcome's artifacts are `turns` (the calls as source text, by turn and step), and `failed` if the
    sandbox ended during a call.
    """

    def __init__(self, mode: CallMode, executor: Executor) -> None:
        self._mode = mode
        self._executor = executor

    async def converse(self, trial: Trial, session: Session) -> Outcome:
        """Run the turns until one takes too many steps, and return the outcome."""
        async with AsyncExitStack() as stack:
            execution = await stack.enter_async_context(self._executor.start(trial.sample.content))
            return await play_turns(self._mode, trial.sample.content, session, execution)


async def play_turns(
    mode: CallMode, content: dict[str, Any], session: Session, execution: CallExecutor
) -> Outcome:
    """Run the turns of a conversation on existing class instances, and return the outcome.

    `MultiTurnSolver` describes the outcome's artifacts. `execution`: the instances, in the sandbox.
    """
    return await _Conversation(mode, content, session, execution).play()


class _Conversation:
    """One conversation in progress."""

    def __init__(
        self, mode: CallMode, content: dict[str, Any], session: Session, execution: CallExecutor
    ) -> None:
        self._mode = mode
        self._content = content
        self._session = session
        self._execution = execution
        self._functions = offered_functions(content)
        self._messages: list[Message] = []
        self._reply: Reply | None = None

    async def play(self) -> Outcome:
        turns: list[list[list[str]]] = []
        artifacts: dict[str, Any] = {"turns": turns}
        try:
            for number, messages in enumerate(self._content["question"]):
                self._begin_turn(number, messages)
                turns.append([])
                if not await self._play_turn(number, turns[-1]):
                    break
        except ExecutionError as error:
            artifacts["failed"] = str(error)
        status, reason = answer_status(self._reply)
        answer = self._reply.text if self._reply else ""
        return Outcome(status, self._messages, answer, reason, artifacts=artifacts)

    def _begin_turn(self, number: int, messages: Sequence[Message]) -> None:
        more = self._content["missed"].get(str(number))  # no language hint, as in the official code
        if more:
            self._functions += more
            text = more_functions_text(more) if self._mode == "prompt" else MORE_FUNCTIONS_MESSAGE
            messages = [user(text)]
        if number == 0 and self._mode == "prompt":
            messages = with_system_prompt(messages, self._functions)
        self._messages += messages

    async def _play_turn(self, number: int, steps: list[list[str]]) -> bool:
        """Run one turn. Return True if the model ended the turn. Return False if the turn took too many steps."""
        while len(steps) <= MAX_STEPS:
            reply = self._reply = await self._ask()
            self._messages.append(reply.message)
            try:
                calls = self._calls(reply)
            except (DecodingError, TypeError):
                self._messages += [_tool_message(call, BAD_ARGUMENTS_ERROR) for call in reply.tool_calls]
                return True
            if not calls:
                return True
            self._session.progress(f"turn {number + 1}, step {len(steps) + 1}")
            steps.append(calls)
            self._tell(reply, calls, await self._execution.execute(calls))
        return False

    async def _ask(self) -> Reply:
        if self._mode == "prompt" or not self._functions:
            return await self._session.chat(self._messages)
        return await self._session.chat(self._messages, tools=functions_as_tools(self._functions))

    def _calls(self, reply: Reply) -> list[str]:
        if self._mode == "prompt":
            return [call_source_text(call) for call in decode_calls(reply.text)]
        return [_written_arguments(call, ",") for call in read_tool_calls(reply.tool_calls)]

    def _tell(self, reply: Reply, calls: Sequence[str], results: Sequence[str]) -> None:
        if self._mode == "prompt":
            told = zip(calls, results, strict=True)
            self._messages.append(
                user(repr([{"role": "tool", "name": call, "content": result} for call, result in told]))
            )
        else:
            told_calls = zip(reply.tool_calls, results, strict=True)
            self._messages += [_tool_message(call, result) for call, result in told_calls]


def _tool_message(call: dict[str, Any], text: str) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def _written_arguments(call: Call, comma: str) -> str:
    return f"{call.name}({comma.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def call_source_text(call: Call) -> str:
    """Return a parsed call as source text.

    A dictionary of dictionaries among the arguments is written as a call.

    Raises:
        DecodingError: If an argument is an empty dictionary, on which the official code fails.
    """
    return f"{call.name}({', '.join(f'{name}={_written(value)}' for name, value in call.arguments.items())})"


def _written(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    if not value:
        raise DecodingError("an argument is an empty dictionary")
    if all(isinstance(one, dict) for one in value.values()):
        name, arguments = next(iter(value.items()))
        return call_source_text(Call(name, arguments))
    return "{" + ", ".join(f"'{key}': {_written(one)}" for key, one in value.items()) + "}"


async def grade_conversation(
    executor: Executor, content: dict[str, Any], artifacts: Mapping[str, Any]
) -> Mistake | None:
    """Return the reason why a conversation is wrong. Return None if it is right.

    Raises:
        ExecutionError: If the sandbox cannot be started.
    """
    turns, gold = artifacts.get("turns", []), content["answer"]
    if "failed" in artifacts:
        return Mistake(EXECUTION_FAILED_KIND, artifacts["failed"])
    if len(turns) != len(gold):
        return Mistake("multi_turn:force_terminated", f"{len(turns)} turns of {len(gold)} were played.")
    return await executor.judge_calls(content, turns)


def format_turns(artifacts: Mapping[str, Any]) -> str:
    """Return the calls in an outcome's artifacts as readable text. `;` separates steps, and ` | ` separates turns."""
    turns = artifacts.get("turns", [])
    return " | ".join("; ".join(call for step in steps for call in step) for steps in turns)
