"""Conversion of Messages tools into functions.

Some of these tools are defined by Anthropic and run by the client. Source: the parameters of the bash, text
editor and memory tools in Anthropic's API reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from benchwright.endpoint.dialects.conversation import function_tool
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.tool_names import offered_tool_name

_TEXT = {"type": "string"}
_LINES = {"type": "array", "items": {"type": "integer"}, "description": "First and last line."}
_EDITS = {"path": _TEXT, "view_range": _LINES, "file_text": _TEXT, "old_str": _TEXT, "new_str": _TEXT}


class _ClientTool(NamedTuple):
    description: str
    properties: dict[str, Any]
    commands: tuple[str, ...] = ()


_CLIENT_TOOLS = {
    "bash": _ClientTool(
        "Runs a command in a lasting shell on the user's machine, or restarts the shell.",
        {"command": _TEXT, "restart": {"type": "boolean"}},
    ),
    "text_editor": _ClientTool(
        "Views, creates and edits text files on the user's machine.",
        {**_EDITS, "insert_line": {"type": "integer"}, "insert_text": _TEXT},
        ("view", "create", "str_replace", "insert"),
    ),
    "memory": _ClientTool(
        "Views and edits the files below /memories, which are kept between conversations.",
        {**_EDITS, "insert_line": {"type": "integer"}, "insert_text": _TEXT}
        | {"old_path": _TEXT, "new_path": _TEXT},
        ("view", "create", "str_replace", "insert", "delete", "rename"),
    ),
}
"""Tools that come without a schema in the request: a mapping from the tool's type, without its date, to the tool."""

_DATED = re.compile(r"_\d{8}$")


def chat_tools(tools: Iterable[Mapping[str, Any]], losses: TranslationLosses) -> Iterator[dict[str, Any]]:
    """Yield the tools that the client runs, as functions of chat completions. Other tools are added to `losses`."""
    for tool in tools:
        kind = _DATED.sub("", tool.get("type") or "custom")
        known = _CLIENT_TOOLS.get(kind)
        if "input_schema" in tool:
            yield function_tool(
                offered_tool_name(tool["name"]), tool.get("description"), tool["input_schema"]
            )
        elif known is not None:
            yield function_tool(offered_tool_name(tool["name"]), known.description, _parameters(known))
        elif not kind.startswith("tool_search"):  # tools that the server would find are offered already
            losses.add_tool(kind)


def _parameters(tool: _ClientTool) -> dict[str, Any]:
    if not tool.commands:
        return {"type": "object", "properties": tool.properties}
    command = {"type": "string", "enum": list(tool.commands)}
    return {"type": "object", "properties": {"command": command, **tool.properties}, "required": ["command"]}
