"""A server of chat completions alone that refuses what OpenAI, DeepSeek and Kimi refuse, and plays a model with a tool.

The model runs one command in each turn and sends a newline behind each call, as some do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from tests.endpoint.dialects.orders import check_openai

FIELDS = {
    *(
        "model",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_tokens",
        "temperature",
        "top_p",
    ),
    *("stop", "response_format", "stream", "stream_options", "seed", "reasoning_effort"),
}
MESSAGE_FIELDS = {"role", "content", "tool_calls", "tool_call_id", "reasoning_content", "name"}


class Tool(NamedTuple):
    """A tool by the end of its name, and the argument that takes a command; `script` has it in place of COMMAND."""

    end: str
    argument: str
    script: str = ""

    def arguments(self, command: str) -> str:
        """The arguments of a call."""
        text = self.script.replace("COMMAND", json.dumps(command)) if self.script else command
        return json.dumps({self.argument: text} | ({} if self.script else {"description": "A step"}))


AGENTS_TOOLS = (
    Tool("exec_command", "cmd"),
    Tool("functions__exec", "input", "text(await tools.exec_command({cmd: COMMAND}));"),
    Tool("run_shell_command", "command"),
    Tool("Bash", "command"),
    Tool("bash", "command"),
)
"""The tools with which the pinned agents run a command."""


class StrictServer(ThreadingHTTPServer):
    """Does `commands` with the first of the `tools` that it is offered, one after another, and is done.

    Without tools it says `said`, an answer in each turn. `answered` are all requests that it took, `requests` those for
    a stream: others are of Benchwright's own check, and of agents that do not stream.
    """

    def __init__(
        self, tools: Sequence[Tool], commands: Sequence[str], done: str, said: Sequence[str] = ()
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tools = tools
        self.commands = commands
        self.done = done
        self.said = said
        self.requests: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []
        self.refusals: list[str] = []

    @property
    def base_url(self) -> str:
        """The base URL, with `/v1`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def refusal(self, asked: dict[str, Any]) -> str | None:
        """Why a request is refused; None if it is not."""
        unknown = asked.keys() - FIELDS
        inner = {name for message in asked["messages"] for name in message.keys() - MESSAGE_FIELDS}
        if unknown or inner:
            return f"unknown fields: {', '.join(sorted(unknown | inner))}"
        names = [tool["function"]["name"] for tool in asked.get("tools", ())]
        if len(set(names)) < len(names) or any(len(name) > 64 for name in names):
            return f"names of tools: {names}"
        try:
            check_openai(asked["messages"])
        except AssertionError as error:
            return str(error)
        return None

    def answer(self, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The deltas of the model's answer."""
        names = [tool["function"]["name"] for tool in asked.get("tools", ())]
        found = [(name, tool) for tool in self.tools for name in names if name.endswith(tool.end)]
        step = sum(message["role"] == "tool" for message in asked["messages"])
        if self.said:
            yield {"role": "assistant", "content": [*self.said, self.done][max(len(self.requests) - 1, 0)]}
            return
        if not found or step >= len(self.commands):
            yield {"role": "assistant", "content": self.done}
            return
        name, tool = found[0]
        function = {"name": name, "arguments": tool.arguments(self.commands[step])}
        call = {"index": 0, "id": f"call_{step}", "type": "function", "function": function}
        yield {"role": "assistant", "content": "I do it.", "tool_calls": [call]}
        yield {"content": "\n"}


class _Handler(BaseHTTPRequestHandler):
    server: StrictServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self._send(404, b"{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith("/chat/completions"):
            self._send(404, b'{"error": {"message": "Not found."}}')
            return
        asked = json.loads(body)
        refusal = self.server.refusal(asked)
        if refusal is not None:
            self.server.refusals.append(refusal)
            self._send(400, json.dumps({"error": {"message": refusal}}).encode())
            return
        self.server.answered.append(asked)
        if asked.get("stream"):
            self.server.requests.append(asked)
        self._answer(asked)

    def _answer(self, asked: dict[str, Any]) -> None:
        deltas = list(self.server.answer(asked))
        reason = "tool_calls" if any("tool_calls" in delta for delta in deltas) else "stop"
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        if not asked.get("stream"):
            choice = {"index": 0, "message": deltas[0], "finish_reason": reason}
            self._send(200, json.dumps({"id": "c", "choices": [choice], "usage": usage}).encode())
            return
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        chunks: list[dict[str, Any]] = [{"id": "c", "choices": [one]} for one in choices]
        chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        chunks.append({"id": "c", "choices": [], "usage": usage})
        lines = [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]
        self._send(200, "".join(lines).encode(), "text/event-stream")

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def strict_chat_server(
    tools: Sequence[Tool], commands: Sequence[str], done: str, said: Sequence[str] = ()
) -> Iterator[StrictServer]:
    """Run a strict server until the end of the block."""
    with StrictServer(tools, commands, done, said) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
