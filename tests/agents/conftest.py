"""What the tests of this room share: a session whose model says what it is told, and a user's project."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.endpoint.reply import Reply, assistant_message
from benchwright.records import Message, RequestRecord, Sample, Target, Trial, Usage


class ScriptedSession:
    """A session whose model gives the replies in turn; an exception among them is raised."""

    target = Target("primary", "scripted", "http://127.0.0.1/v1")

    def __init__(self, *replies: Reply | Exception) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[list[Message], dict[str, Any]]] = []

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append((list(messages), params))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise NotImplementedError

    def progress(self, text: str) -> None:
        raise NotImplementedError

    @staticmethod
    def says(text: str, finish_reason: str | None = "stop", refusal: str | None = None) -> Reply:
        """An answer of 5 tokens to a prompt of 10, after 2 ms."""
        return Reply(
            message=assistant_message(text, [], refusal),
            text=text,
            refusal=refusal,
            finish_reason=finish_reason,
            usage=Usage(prompt_tokens=10, completion_tokens=5),
            record=RequestRecord(id="r", total=2_000_000),
        )

    @staticmethod
    def calls(name: str, **arguments: Any) -> Reply:
        """An answer that is one tool call."""
        function = {"name": name, "arguments": json.dumps(arguments)}
        tool_calls = [{"id": "call_1", "type": "function", "function": function}]
        return Reply(
            message=assistant_message("", tool_calls, None),
            tool_calls=tool_calls,
            finish_reason="tool_calls",
            usage=Usage(prompt_tokens=20, completion_tokens=8),
            record=RequestRecord(id="r", total=3_000_000),
        )


@pytest.fixture
def scripted() -> type[ScriptedSession]:
    return ScriptedSession


Run = Callable[[RolloutContext], Awaitable[RolloutResult]]


@pytest.fixture
def make_agent() -> Callable[..., RolloutAgentLoop]:
    """Makes an agent of a coroutine function; without one it asks once and is done."""

    async def ask_once(ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        messages.append((await ctx.chat(messages, **ctx.request.completion_params)).message)
        return ctx.complete(messages)

    def make(run: Run = ask_once, tools: Sequence[Any] = ()) -> RolloutAgentLoop:
        class Agent(RolloutAgentLoop):
            name = "test-agent"

            def get_tools(self, request: Any) -> list[Any]:
                return list(tools)

            async def run(self, ctx: RolloutContext) -> RolloutResult:
                return await run(ctx)

        return Agent()

    return make


ROW = {"ground_truth": "4", "user_prompt": "2 + 2?", "system_prompt": "Be brief.", "topic": "sums"}


@pytest.fixture
def row() -> dict[str, Any]:
    return dict(ROW)


@pytest.fixture
def make_trial() -> Callable[..., Trial]:
    def make(content: Any = ROW, *, row_index: int = 0, repeat: int = 0, slot: str = "primary") -> Trial:
        target = Target(slot, "scripted", "http://127.0.0.1/v1")
        return Trial(key="k", sample=Sample(str(row_index), content), target=target, repeat=repeat)

    return make


@pytest.fixture
def own_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets a test import modules of its working directory, and forgets them afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(os.getcwd() + os.sep):
            del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_imports: None) -> Callable[[str, str], Path]:
    """Writes a file of a user's project, which is the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write
