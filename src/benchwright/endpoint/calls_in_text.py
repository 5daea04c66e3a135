"""Tool calls that are left in the text of an answer, because the server lacks the right tool parser.

They are detected and reported with the trial. They are never executed, because it is unknown how the right
parser would read them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS

_MARKS = re.compile(
    r"<\|?(?:seed:|minimax:|longcat_|start_)?(?:tool_calls?|function_calls?)(?:_begin|_start)?\|?>"  # Hermes, Qwen, …
    r"|<(?:antml:)?invoke name=|<function=\w|<function\(\w"  # Anthropic's and MiniMax's, Qwen3-Coder and Llama
    r"|<\|python_tag\|>|\[TOOL_CALLS\]|\[TOOL_REQUEST\]|functools\[\s*\{"  # Llama, Mistral, LM Studio, Phi
    r"|<\|tool_calls_section_begin\|>|<\|tool_call_argument_begin\|>|<\|open\|>tool"  # Kimi
    r"|<[|｜](?:tool[▁_]calls?[▁_]begin|DSML)[|｜]"  # DeepSeek
    r"|<\|action_start\|>|<\|START_ACTION\|>"  # InternLM, Command R
    r"|\bto=functions\.\w|```tool_(?:code|call)"  # gpt-oss, Gemma
)
"""Matches the beginnings of tool calls in the formats of chat templates."""

_WORDS = (
    *(
        "tool_call",
        "function_call",
        "invoke name=",
        "<function",
        "python_tag",
        "[TOOL_",
        "functools[",
        "|>tool",
    ),
    *("▁begin", "_begin", "DSML", "action_start", "START_ACTION", "to=functions.", "```tool_"),
)
"""Strings of which every match of `_MARKS` contains at least one.

Searching for these strings first takes a hundredth of the time of the regular expression.
"""

_FENCE = "```"
_PYTHONIC = re.compile(r"\[(\w[\w.]*)\(")
_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = frozenset({"arguments", "parameters", "args", "input"})


def offered_tool_names(tools: Any, choice: Any = None) -> tuple[str, ...] | None:
    """Return the names of the functions that a request offers in `tools`.

    Return None if the request offers no functions, or if `choice` (its `tool_choice`) forbids calls.
    """
    if not isinstance(tools, Sequence) or not tools or choice == "none":
        return None
    functions = (tool.get("function") for tool in tools if isinstance(tool, dict))
    return tuple(str(function.get("name")) for function in functions if isinstance(function, dict))


def find_call_text(text: str, offered: Collection[str]) -> str | None:
    """Return the text from the beginning of a tool call to its end. Return None if the text contains no call.

    A call begins with a marker of a chat template (`_MARKS`). A text without such a marker is a call if all
    of it is JSON or a Python-style list that names an offered tool. If `offered` is empty, the offered tools
    are unknown, and any name will do.
    """
    if any(word in text for word in _WORDS) and (mark := _MARKS.search(text)):
        return text[mark.start() :]
    bare = text.strip()
    if bare.startswith(_FENCE) and bare.endswith(_FENCE):
        bare = bare.strip("`").removeprefix("json").strip()
    if bare[:1] in ("{", "["):
        names = list(_called(bare))
        if names and (not offered or any(name in offered for name in names)):
            return bare
    return None


def _called(text: str) -> Iterator[str]:
    """Yield the names of the tools that a text calls. The text is JSON, or a list of Python-style calls (Llama 4)."""
    if pythonic := _PYTHONIC.match(text):
        yield pythonic[1]
        return
    try:
        value = msgspec.json.decode(text)
    except DECODE_ERRORS:
        return
    for call in value if isinstance(value, list) else [value]:
        if isinstance(call, dict):
            yield from _names(call)


def _names(call: dict[str, Any]) -> Iterator[str]:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    if inner.keys() & _ARGUMENTS:
        yield from (name for key in _NAMES if isinstance(name := inner.get(key), str))
