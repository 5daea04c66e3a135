"""What the tests of runners share: rows, a client that needs no server, and a server that shows what it got."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from benchwright.agents.eval_fns import EvalFnWrapper
from benchwright.agents.rollout.types import CompletionsResult, RolloutMetrics

KEYS = ("BENCHWRIGHT_API_KEY", "OPENAI_API_KEY", "LITELLM_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def make_rows() -> Callable[[int], list[dict[str, Any]]]:
    """Rows whose right answer is their number."""

    def make(count: int) -> list[dict[str, Any]]:
        return [
            {"system_prompt": "Be brief.", "user_prompt": f"Say {number}.", "ground_truth": str(number)}
            for number in range(count)
        ]

    return make


class FakeClient:
    """A client in memory: says what `answer` makes of the messages, 3 tokens for a prompt of 7.

    `busy` counts the rollouts that use it at the moment, `most_busy` the most there ever were.
    """

    def __init__(self, answer: Callable[[list[dict[str, Any]]], Any] | None = None) -> None:
        self._answer = answer or (lambda messages: messages[-1]["content"].strip("Say ."))
        self._metrics = RolloutMetrics()
        self.asked: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.tools: list[Any] = []
        self.closed = 0
        self.busy = 0
        self.most_busy = 0

    async def chat_completions(self, messages: list[dict[str, Any]], **kwargs: Any) -> CompletionsResult:
        self.calls.append("chat")
        self.asked.append(kwargs)
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        await asyncio.sleep(0)
        self.busy -= 1
        said = self._answer(messages)
        if isinstance(said, BaseException):
            raise said
        self._metrics.num_llm_calls += 1
        self._metrics.prompt_tokens += 7
        self._metrics.response_tokens += 3
        message = {"role": "assistant", "content": said}
        return CompletionsResult(message, [], [], {"total_tokens": 10}, "stop")

    def set_tools(self, tools: list[Any]) -> None:
        self.calls.append("set_tools")
        self.tools = tools

    def clear_tools(self) -> None:
        self.calls.append("clear_tools")
        self.tools = []

    def reset_metrics(self) -> None:
        self.calls.append("reset_metrics")
        self._metrics = RolloutMetrics()

    def get_metrics(self) -> RolloutMetrics:
        self.calls.append("get_metrics")
        return self._metrics.model_copy()

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def fake_client() -> type[FakeClient]:
    return FakeClient


@pytest.fixture
def exact() -> EvalFnWrapper:
    """An eval function: 1 for the right number, else 0."""

    def exact(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> float:
        return float(solution_str == ground_truth)

    return EvalFnWrapper(exact, "exact")


class Request:
    """What a server was sent: header names in lower case, the body as JSON."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode().split("\r\n")
        self.path = first.split()[1]
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        self.body: dict[str, Any] = json.loads(body)


class ShowingServer:
    """Answers every chat with "hello" and keeps the requests as they came."""

    ANSWER = json.dumps(
        {
            "choices": [
                {"message": {"role": "assistant", "content": "hello", "audio": None}, "finish_reason": None}
            ]
        }
    ).encode()

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.base_url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            body = await reader.readexactly(int(length.split(b":")[1]))
            self.requests.append(Request(head, body))
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                % (len(self.ANSWER), self.ANSWER)
            )
        writer.close()


@pytest.fixture
async def server() -> AsyncIterator[ShowingServer]:
    showing = ShowingServer()
    listening = await asyncio.start_server(showing.serve, "127.0.0.1", 0)
    showing.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    yield showing
    listening.close()
    await listening.wait_closed()
