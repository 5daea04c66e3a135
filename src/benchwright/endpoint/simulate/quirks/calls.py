"""Quirks of tool calls. Each function rewrites a stream or a whole answer in place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchwright.endpoint.simulate.quirks.stream import (
    Chunk,
    ChunkStream,
    body_message,
    insert_before_end,
    stream_choices,
    stream_deltas,
)

Call = dict[str, Any]


def set_equal_indexes(stream: ChunkStream) -> None:
    """Set the index of all calls to 0. Their ids stay different (Ollama, Dynamo, gateways before Gemini)."""
    for call in _entries(stream):
        call["index"] = 0


def remove_indexes(stream: ChunkStream) -> None:
    """Remove the index of each call (Gemini's OpenAI layer, older Ollama)."""
    for call in _entries(stream):
        del call["index"]


def convert_indexes_to_strings(stream: ChunkStream) -> None:
    """Send the indexes of choices and of calls as strings."""
    for choice in stream_choices(stream):
        choice["index"] = str(choice["index"])
    for call in _entries(stream):
        call["index"] = str(call["index"])


def set_equal_ids(stream: ChunkStream) -> None:
    """Give all calls the same id (llama.cpp)."""
    _number_alike(list(_entries(stream)))


def set_equal_ids_in_body(body: Chunk) -> None:
    """Give all calls of a whole answer the same id."""
    _number_alike(_calls(body))


def change_id_in_each_delta(stream: ChunkStream) -> None:
    """Give each delta of a call a different id (Poolside)."""
    for number, call in enumerate(_entries(stream)):
        call["id"] = f"piece_{number}"


def repeat_last_call(stream: ChunkStream) -> None:
    """Send the last call a second time at the end of the stream, in one delta."""
    for call in _whole(stream)[-1:]:
        insert_before_end(stream, {"tool_calls": [call]})


def repeat_last_arguments(stream: ChunkStream) -> None:
    """Send the arguments of the last call a second time at the end of the stream, in one delta."""
    for call in _whole(stream)[-1:]:
        again = {"index": call["index"], "function": {"arguments": call["function"]["arguments"]}}
        insert_before_end(stream, {"tool_calls": [again]})


def insert_empty_arguments(stream: ChunkStream) -> None:
    """Send an empty object before the arguments of each call (Bedrock and Gemini behind gateways)."""
    for call in _entries(stream):
        if call.get("id"):
            call["function"]["arguments"] = "{}"


def send_arguments_as_object(stream: ChunkStream) -> None:
    """Send the arguments of each call as a JSON object instead of JSON text."""
    _replace(stream, [_with_object(call) for call in _whole(stream)])


def send_arguments_as_object_in_body(body: Chunk) -> None:
    """Send the arguments of each call of a whole answer as a JSON object instead of JSON text."""
    for call in _calls(body):
        call |= _with_object(call)


def use_function_call_field(stream: ChunkStream) -> None:
    """Send the first call in the older field `use_function_call_field`."""
    for delta in stream_deltas(stream):
        calls = delta.pop("tool_calls", [])
        if calls and calls[0]["index"] == 0:
            delta["function_call"] = calls[0]["function"]
    _end_with(stream, "function_call", of="tool_calls")


def use_function_call_field_in_body(body: Chunk) -> None:
    """Send the first call of a whole answer in the older field `use_function_call_field`."""
    if calls := body_message(body).pop("tool_calls", None):
        body_message(body)["function_call"] = calls[0]["function"]
        body["choices"][0]["finish_reason"] = "function_call"


def flatten_calls(stream: ChunkStream) -> None:
    """Put name and arguments of each call beside its id, without `function` around them."""
    for call in _entries(stream):
        call |= call.pop("function")


def flatten_calls_in_body(body: Chunk) -> None:
    """Put name and arguments of each call of a whole answer beside its id, without `function` around them."""
    for call in _calls(body):
        call |= call.pop("function")


def move_calls_to_text(stream: ChunkStream) -> None:
    """Send calls as text of the answer, as servers without a tool parser do."""
    _say(stream, "content")


def move_calls_to_text_in_body(body: Chunk) -> None:
    """Send the calls of a whole answer as text of the answer."""
    _say_in_body(body, "content")


def move_calls_to_reasoning(stream: ChunkStream) -> None:
    """Send calls as text of the reasoning (Kimi K2 and Qwen3 on vLLM)."""
    _say(stream, "reasoning_content")


def move_calls_to_reasoning_in_body(body: Chunk) -> None:
    """Send the calls of a whole answer as text of the reasoning."""
    _say_in_body(body, "reasoning_content")


def remove_calls(stream: ChunkStream) -> None:
    """Remove the calls, but keep the finish reason that announces them."""
    for delta in stream_deltas(stream):
        delta.pop("tool_calls", None)


def remove_calls_in_body(body: Chunk) -> None:
    """Remove the calls of a whole answer, but keep the finish reason that announces them."""
    body_message(body).pop("tool_calls", None)


def move_calls_to_second_choice(body: Chunk) -> None:
    """Move the calls of a whole answer into a second choice (Copilot before Claude)."""
    if calls := body_message(body).pop("tool_calls", None):
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        body["choices"].append({**body["choices"][0], "message": message})


def truncate_arguments(stream: ChunkStream) -> None:
    """Drop the end of the arguments of each call (SGLang with DeepSeek's parser)."""
    for call in _whole(stream):
        rest = [one for one in _entries(stream) if one["index"] == call["index"] and not one.get("id")]
        if rest:
            rest[-1]["function"]["arguments"] = ""


def _entries(stream: ChunkStream) -> Iterator[Call]:
    for delta in stream_deltas(stream):
        yield from delta.get("tool_calls", ())


def _calls(body: Chunk) -> list[Call]:
    calls: list[Call] = body_message(body).get("tool_calls") or []
    return calls


def _whole(stream: ChunkStream) -> list[Call]:
    """Return the calls of a stream, each joined from its deltas."""
    calls: list[Call] = []
    for entry in _entries(stream):
        if entry.get("id"):
            calls.append({**entry, "function": dict(entry["function"])})
        else:
            calls[-1]["function"]["arguments"] += entry["function"]["arguments"]
    return calls


def _number_alike(calls: list[Call]) -> None:
    for call in calls:
        if call.get("id"):
            call["id"] = calls[0]["id"]


def _with_object(call: Call) -> Call:
    function = call["function"]
    return {**call, "function": {**function, "arguments": json.loads(function["arguments"] or "{}")}}


def _replace(stream: ChunkStream, calls: list[Call]) -> None:
    """Replace the deltas of each call by the complete call in `calls`, sent where the call's first delta was."""
    left = iter(calls)
    for delta in stream_deltas(stream):
        entries = delta.pop("tool_calls", [])
        if entries and entries[0].get("id"):
            delta["tool_calls"] = [next(left)]


def _say(stream: ChunkStream, field: str) -> None:
    calls = _whole(stream)
    for delta in stream_deltas(stream):
        entries = delta.pop("tool_calls", [])
        if entries and entries[0].get("id"):
            delta[field] = _as_text(calls.pop(0))
    _end_with(stream, "stop", of="tool_calls")


def _say_in_body(body: Chunk, field: str) -> None:
    if calls := body_message(body).pop("tool_calls", None):
        body_message(body)[field] = "".join(map(_as_text, calls))
        body["choices"][0]["finish_reason"] = "stop"


def _as_text(call: Call) -> str:
    """Return a call as text, in the format of Hermes and Qwen."""
    function = call["function"]
    said = {"name": function["name"], "arguments": json.loads(function["arguments"] or "{}")}
    return f"<tool_call>\n{json.dumps(said)}\n</tool_call>"


def _end_with(stream: ChunkStream, reason: str, of: str) -> None:
    for choice in stream_choices(stream):
        if choice["finish_reason"] == of:
            choice["finish_reason"] = reason
