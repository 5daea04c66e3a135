"""Parser of tool calls in a delta or message, in all formats that servers use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


class ToolCallDelta(msgspec.Struct, frozen=True, gc=False):
    """A tool call, or a piece of a tool call.

    If the server left a field out, or sent it as null or "", `index` and `id` are None, and `name` and
    `arguments` are "".
    """

    index: int | None
    id: str | None
    name: str
    arguments: str


def read_tool_calls(message: dict[str, Any], *, whole: bool = False) -> Iterator[ToolCallDelta]:
    """Yield the pieces of tool calls in a delta or message.

    They are read from `tool_calls`. If there is no such field, they are read from the older `function_call`.
    In a `whole` message each entry is a separate call, even if indexes are equal.

    Raises:
        TypeError: If an entry is not an object.
    """
    calls = message.get("tool_calls") or ()
    if isinstance(calls, dict):
        calls = (calls,)
    for place, call in enumerate(calls):
        if call is not None:
            piece = read_call_entry(call)
            yield msgspec.structs.replace(piece, index=place) if whole else piece
    if not calls and message.get("function_call"):
        yield read_call_entry({"index": 0, "function": message["function_call"]})


def read_content_part(part: dict[str, Any]) -> ToolCallDelta:
    """Return the tool call in a part of a message's content, in Anthropic's format."""
    return ToolCallDelta(None, part.get("id"), part.get("name") or "", _arguments(part.get("input")))


def read_call_entry(call: Any) -> ToolCallDelta:
    """Return the piece of a call in an entry of `tool_calls`.

    Name and arguments may be in `function`, or in the entry itself.

    Raises:
        TypeError: If the entry does not have the shape of a tool call.
    """
    if not isinstance(call, dict):
        raise TypeError(f"a tool call is an object, not {call!r:.40}")
    function = call.get("function") or call.get("custom") or call
    if not isinstance(function, dict):
        raise TypeError(f"the function of a tool call is an object, not {function!r:.40}")
    index = call.get("index")
    if isinstance(index, str) and index.isdecimal():
        index = int(index)
    arguments = function.get("arguments", function.get("input"))
    return ToolCallDelta(
        index if isinstance(index, int) else None,
        call.get("id") or None,
        _without_tokens(function.get("name") or ""),
        _arguments(arguments),
    )


def _without_tokens(name: Any) -> str:
    """Return a function's name without chat template tokens that a server left at its end (gpt-oss on vLLM).

    Raises:
        TypeError: If the name is not a string.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a function is text, not {name!r:.40}")
    return name.partition("<|")[0] or name


def _arguments(arguments: Any) -> str:
    """Return arguments as text. Values that some servers send in place of JSON text are encoded as JSON."""
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    import json

    return json.dumps(arguments, ensure_ascii=False)
