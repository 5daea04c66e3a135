"""Conversion between items of Responses and function calls.

The items are calls of tools that the client runs, and the results of these calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.dialects.chat_answer import AnswerPart, parse_arguments
from benchwright.endpoint.dialects.responses.tools import FREE_TEXT_ARGUMENT, OfferedTool, chat_tool_name

ResponsesItem = dict[str, Any]

_NAMED_BY_TYPE = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
"""Mapping from the types of call items that hold no tool name to the name of the tool."""

_ITEM_TYPES = {kind: item for item, kind in _NAMED_BY_TYPE.items()} | {
    "function": "function_call",
    "custom": "custom_tool_call",
}
_ID_PREFIXES = {
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "local_shell_call": "lsh",
    "shell_call": "sh",
    "apply_patch_call": "apc",
    "tool_search_call": "tsc",
}


def is_client_call(item: Mapping[str, Any]) -> bool:
    """Return True if an item is a call that the client executes."""
    if item["type"] == "tool_search_call":
        return item.get("execution") == "client"
    return item["type"] in _ID_PREFIXES


def called_tool_name(item: Mapping[str, Any]) -> str:
    """Return the name that the tool of a call item has in chat completions."""
    own = _NAMED_BY_TYPE.get(item["type"]) or item["name"]
    return chat_tool_name(own, item.get("namespace"))


def call_id(item: Mapping[str, Any]) -> str:
    """Return the call id of an item that is a call or a result."""
    return str(item.get("call_id") or item["id"])


def read_call_arguments(item: Mapping[str, Any]) -> str:
    """Return the arguments of a call as JSON. Free text becomes the value of the argument `FREE_TEXT_ARGUMENT`."""
    if item["type"] == "function_call":
        return str(item["arguments"])
    if item["type"] == "custom_tool_call":
        return _encoded({FREE_TEXT_ARGUMENT: item["input"]})
    if item["type"] == "tool_search_call":
        return _encoded(item["arguments"])
    if item["type"] == "apply_patch_call":
        return _encoded(item["operation"])
    said = item["action"].items()
    return _encoded({name: value for name, value in said if value is not None and name != "type"})


def make_call_item(tool: OfferedTool | None, part: AnswerPart, identity: str, status: str) -> ResponsesItem:
    """Return the Responses item for a call of the model.

    `tool`: the called tool. If it was not offered (None), the item is a function call.
    """
    kind = _ITEM_TYPES["function" if tool is None else tool.kind]
    item: ResponsesItem = {"type": kind, "id": f"{_ID_PREFIXES[kind]}_{identity}", "call_id": part.id}
    if tool is None or tool.kind in ("function", "custom"):
        item["name"] = part.name if tool is None else tool.name
    if tool is not None and tool.namespace is not None:
        item["namespace"] = tool.namespace
    return {**item, **_WRITERS[kind](part.text), "status": status}


def result_text(item: Mapping[str, Any]) -> str | None:
    """Return the text of a call's result. Return None if the item is not a result of a known type."""
    if item["type"] == "local_shell_call_output":
        return str(item["output"])
    if item["type"] == "shell_call_output":
        return "\n".join(_shell_text(one) for one in item["output"])
    if item["type"] == "apply_patch_call_output":
        return f"{item['status']}: {item.get('output') or ''}".removesuffix(": ")
    if item["type"] == "tool_search_output" and item.get("call_id"):
        return _found_text(item["tools"])
    return None


def _found_text(tools: Any) -> str:
    names = [
        chat_tool_name(inner["name"], tool["name"] if tool["type"] == "namespace" else None)
        for tool in tools
        for inner in (tool["tools"] if tool["type"] == "namespace" else [tool])
        if "name" in inner
    ]
    return f"These tools can be called now: {', '.join(names)}." if names else "No tool was found."


def _shell_text(output: Mapping[str, Any]) -> str:
    outcome = output.get("outcome") or {}
    ended = "timed out" if outcome.get("type") == "timeout" else f"exit code {outcome.get('exit_code')}"
    texts = (output.get("stdout"), output.get("stderr"), f"[{ended}]")
    return "\n".join(text for text in texts if text)


def _free_text(arguments: str) -> str:
    """Return the text in the arguments of a call of a free-text tool.

    If the arguments have another form, they are returned unchanged.
    """
    text = (read_object_arguments(arguments) or {}).get(FREE_TEXT_ARGUMENT)
    return text if isinstance(text, str) else arguments


def _local_shell(arguments: str) -> ResponsesItem:
    told = parse_arguments(arguments)
    command = told.get("command") or []
    words = ["sh", "-c", command] if isinstance(command, str) else command
    return {"action": {"type": "exec", "env": {}, **told, "command": words}}


def _shell(arguments: str) -> ResponsesItem:
    told = parse_arguments(arguments)
    commands = told.get("commands") or []
    return {"action": {**told, "commands": [commands] if isinstance(commands, str) else commands}}


_WRITERS: dict[str, Callable[[str], ResponsesItem]] = {
    "function_call": lambda arguments: {"arguments": arguments},
    "custom_tool_call": lambda arguments: {"input": _free_text(arguments)},
    "local_shell_call": _local_shell,
    "shell_call": _shell,
    "apply_patch_call": lambda arguments: {"operation": parse_arguments(arguments)},
    "tool_search_call": lambda arguments: {"execution": "client", "arguments": parse_arguments(arguments)},
}
"""Mapping from the type of an item to the function that turns a call's arguments into fields of the item."""


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
