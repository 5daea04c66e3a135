"""A response to a probe as the server sent it: in pieces, and before any repair."""

from __future__ import annotations

from functools import cached_property
from time import perf_counter_ns
from typing import Any

import msgspec

from benchwright.endpoint.connection import Headers, TransportError
from benchwright.endpoint.failures import error_detail
from benchwright.endpoint.simulation_marks import SIMULATED_HEADER
from benchwright.endpoint.sse import EventStream
from benchwright.records import DECODE_ERRORS
from benchwright.text import one_line

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
"""Maximum size of a response in bytes. A larger response is an error."""

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")

_decode = msgspec.json.Decoder().decode


class RecordingSink:
    """A sink that keeps each piece of a response with its arrival time (`perf_counter_ns`)."""

    def __init__(self) -> None:
        self.sent_at = perf_counter_ns()
        self.status = 0
        self.headers: Headers = []
        self.pieces: list[tuple[int, bytes]] = []
        self._size = 0

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        """Store the status and the headers."""
        self.status, self.headers = status, headers

    def receive_data(self, chunk: bytes, at: int) -> None:
        """Store a piece of the body."""
        self._size += len(chunk)
        if self._size > MAX_RESPONSE_BYTES:
            raise TransportError("malformed", f"the answer is larger than {MAX_RESPONSE_BYTES:,} bytes")
        self.pieces.append((at, chunk))

    def last_token_time(self) -> None:
        """Return None, because tokens are not timed here. So only the time limit of the whole response applies."""


class ResponseContent:
    """Content of a response's first choice, whether streamed or not, from chat or from completions.

    `reasoning_field`: the name of the field that held reasoning. `pieces`: the arrival times of the events
    that held text. `calls`: the tool calls as sent, or their deltas if the response was streamed.
    """

    def __init__(self) -> None:
        self.text = ""
        self.reasoning = ""
        self.reasoning_field: str | None = None
        self.finish_reason: str | None = None
        self.usage: dict[str, Any] = {}
        self.logprobs: Any = None
        self.calls: list[dict[str, Any]] = []
        self.function_call = False
        self.pieces: list[int] = []
        self.choices = 0

    @property
    def all_text(self) -> str:
        """The reasoning and the answer, joined."""
        return self.reasoning + self.text

    def token_count(self, name: str) -> int | None:
        """Return the count `name` from the response's `usage`. Return None if the count is missing or invalid."""
        return read_count(self.usage, name)

    def add_choice(self, choice: dict[str, Any], at: int) -> None:
        """Add the choice of a response or of a chunk. `at`: its arrival time."""
        message = choice.get("message") or choice.get("delta") or {}
        text, thought = _content(message.get("content") or choice.get("text"))
        for field in REASONING_FIELDS:
            if told := message.get(field):
                self.reasoning_field = self.reasoning_field or field
                thought += told if isinstance(told, str) else ""
                break
        if text or thought:
            self.pieces.append(at)
        self.text += text
        self.reasoning += thought
        self.calls += [call for call in message.get("tool_calls") or [] if isinstance(call, dict)]
        self.function_call = self.function_call or bool(message.get("function_call"))
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        self.logprobs = choice.get("logprobs") or self.logprobs


class ProbeResponse:
    """A response to a probe.

    `late`: True if the response did not end in time. `broken`: True if the exchange failed. In both cases the
    response is incomplete.
    """

    def __init__(self, recording: RecordingSink, *, late: bool = False, broken: bool = False) -> None:
        self.status = recording.status
        self.late = late
        self.broken = broken
        self.sent_at = recording.sent_at
        self.pieces = recording.pieces
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in recording.headers}

    @property
    def is_complete(self) -> bool:
        """True if the response is complete."""
        return not (self.late or self.broken)

    @property
    def is_accepted(self) -> bool:
        """True if the server accepted the request: neither the status nor the body reports an error."""
        return self.status == 200 and not self._error

    @property
    def is_simulated(self) -> bool:
        """True if the response is marked as simulated."""
        return any(name.endswith(SIMULATED_HEADER.decode()) for name in self.headers)

    @property
    def seconds(self) -> float:
        """Seconds from the sending of the request to the arrival of the response's last piece."""
        return (self.pieces[-1][0] - self.sent_at) / 1e9 if self.pieces else 0.0

    @property
    def is_stream(self) -> bool:
        """True if the content type is that of a stream."""
        return self.headers.get("content-type", "").lower().startswith("text/event-stream")

    @cached_property
    def body(self) -> bytes:
        """The response's body: all pieces joined."""
        return b"".join(piece for _, piece in self.pieces)

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body, decoded as a JSON object; {} if the body is not a JSON object."""
        try:
            found = _decode(self.body)
        except DECODE_ERRORS:
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def events(self) -> list[tuple[int, dict[str, Any]]]:
        """The JSON objects in a stream's events, each with its arrival time; empty if the response is not a stream."""
        found: list[tuple[int, dict[str, Any]]] = []
        if not self.is_stream:
            return found
        stream = EventStream()
        for at, piece in self.pieces:
            for data in stream.feed(piece):
                try:
                    event = _decode(data)
                except DECODE_ERRORS:
                    continue
                if isinstance(event, dict):
                    found.append((at, event))
        return found

    @property
    def _error(self) -> Any:
        return self.json.get("error") or next(
            (event["error"] for _, event in self.events if event.get("error")), None
        )

    @property
    def refusal(self) -> str:
        """The server's refusal of the request in one line: the status and the error message."""
        body = msgspec.json.encode({"error": self._error}) if self.events else self.body
        detail = error_detail(body)[1]
        return one_line(f"HTTP {self.status}: {detail}" if detail else f"HTTP {self.status}", 160)

    @cached_property
    def content(self) -> ResponseContent:
        """The content of the response's first choice.

        Raises one of `accumulator.MALFORMED_RESPONSE_ERRORS` if it is malformed.
        """
        said = ResponseContent()
        for at, event in self.events or [(self.pieces[-1][0] if self.pieces else 0, self.json)]:
            choices = event.get("choices") or []
            said.choices = max(said.choices, len(choices))
            if choices and not choices[0].get("index"):
                said.add_choice(choices[0], at)
            if isinstance(event.get("usage"), dict):
                said.usage = event["usage"]
        return said


def read_count(holder: Any, name: str) -> int | None:
    """Return the non-negative integer `name` from a JSON object. Return None if it is missing or invalid."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if type(value) is int and value >= 0 else None


def _content(content: Any) -> tuple[str, str]:
    """Return (text, reasoning) of a message's `content`, which is a string or a list of parts."""
    if not isinstance(content, list):
        return content or "", ""
    text = "".join(part.get("text") or "" for part in content if part.get("type") != "thinking")
    thought = "".join(str(part.get("thinking") or "") for part in content if part.get("type") == "thinking")
    return text, thought
