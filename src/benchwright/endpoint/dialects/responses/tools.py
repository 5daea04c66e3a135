"""Conversion of Responses tools, and of the names of these tools, into functions of chat completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

import msgspec

from benchwright.endpoint.dialects.conversation import function_tool
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.responses.client_tools import CLIENT_TOOLS
from benchwright.endpoint.dialects.tool_names import offered_tool_name
from benchwright.records import DECODE_ERRORS

NAMESPACE_SEPARATOR = "__"
"""Separator between the name of a namespace (a group of tools) and the name of a tool in the namespace."""

FREE_TEXT_ARGUMENT = "input"
"""Name of the only argument of a function that stands for a free-text tool."""

_FREE_TEXT = {
    "type": "object",
    "properties": {FREE_TEXT_ARGUMENT: {"type": "string"}},
    "required": [FREE_TEXT_ARGUMENT],
}

ToolKind = Literal["function", "custom", "local_shell", "shell", "apply_patch", "tool_search"]
"""Types of tools that the client runs and that can be expressed as functions."""

_OFFERING_ITEMS = ("additional_tools", "tool_search_output")
"""Types of input items that offer further tools."""


class OfferedTool(NamedTuple):
    """A tool that is offered to the model as a function.

    `chat_name`: the name that the model sees. `name`, `kind`, `namespace`: name, type and group of the tool
    in Responses, used to translate calls back; `namespace` is None if the tool belongs to no group.
    `chat_tool`: the tool in the format of chat completions.
    """

    chat_name: str
    name: str
    kind: ToolKind
    namespace: str | None
    chat_tool: dict[str, Any]


def offered_tools(body: Mapping[str, Any], losses: TranslationLosses | None = None) -> dict[str, OfferedTool]:
    """Return the tools that the client runs: a mapping from the tool's name in chat completions to the tool.

    A request offers tools in `tools` and in items of the input. If several tools have one name, the last one
    counts. Tools that `tool_choice` does not allow are left out. Tools that the client does not run are added
    to `losses`.
    """
    lost = TranslationLosses() if losses is None else losses
    offered = {tool.chat_name: tool for listed in _lists(body) for tool in _readable(listed, lost)}
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice["tools"]
        return {
            name: tool for name, tool in offered.items() if any(is_chosen_tool(one, tool) for one in allowed)
        }
    return offered


class _OfferingItem(msgspec.Struct):
    type: str = ""
    tools: list[msgspec.Raw] = []


_decode_items = msgspec.json.Decoder(list[_OfferingItem]).decode


def offers_tools(fields: Mapping[str, Any]) -> bool:
    """Return True if a request offers any tool, in `tools` or in an item of the input.

    The values of `fields` are undecoded JSON.
    """
    if bytes(fields.get("tools", b"")) not in (b"", b"[]", b"null"):
        return True
    items = bytes(fields.get("input", b""))
    if b'"additional_tools"' not in items:
        return False
    try:
        return any(item.type == "additional_tools" and item.tools for item in _decode_items(items))
    except DECODE_ERRORS:
        return False


def is_chosen_tool(choice: Mapping[str, Any], tool: OfferedTool) -> bool:
    """Return True if a `tool_choice` selects this tool.

    The type must be equal. Name and namespace must be equal, too, if the `tool_choice` has them.
    """
    if choice["type"] == "namespace":
        return bool(tool.namespace == choice["name"])
    return bool(
        choice["type"] == tool.kind
        and choice.get("name") in (None, tool.name)
        and choice.get("namespace") in (None, tool.namespace)
    )


def chat_tool_name(name: str, namespace: str | None) -> str:
    """Return the name of a tool in chat completions: the namespace, if there is one, then the tool's name.

    Chat completions have no namespaces.
    """
    return offered_tool_name(name if namespace is None else f"{namespace}{NAMESPACE_SEPARATOR}{name}")


def _lists(body: Mapping[str, Any]) -> Iterator[Any]:
    """Yield every list of tools in a request."""
    yield body.get("tools")
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type") in _OFFERING_ITEMS:
            yield item.get("tools")


def _readable(tools: Any, losses: TranslationLosses) -> Iterator[OfferedTool]:
    for tool in tools or ():
        if tool["type"] == "namespace":
            yield from _grouped(tool, losses)
        elif _is_run_by_client(tool):
            yield _offered(tool, None)
        elif tool["type"] != "tool_search":  # if the server searches, its results are offered already
            losses.add_tool(tool["type"])


def _grouped(group: Mapping[str, Any], losses: TranslationLosses) -> Iterator[OfferedTool]:
    """Yield the tools of a namespace. The namespace's description is put before the description of the first tool."""
    about = f"{group['name']}: {group['description']}\n\n" if group.get("description") else ""
    for tool in group.get("tools") or ():
        if _is_run_by_client(tool):
            yield _offered({**tool, "description": about + (tool.get("description") or "")}, group["name"])
            about = ""
        else:
            losses.add_tool(tool["type"])


def _is_run_by_client(tool: Mapping[str, Any]) -> bool:
    if tool["type"] == "tool_search":
        return tool.get("execution") == "client"
    if tool["type"] == "shell":
        return bool((tool.get("environment") or {}).get("type", "local") == "local")
    return tool["type"] in get_args(ToolKind)


def _offered(tool: Mapping[str, Any], namespace: str | None) -> OfferedTool:
    kind = cast(ToolKind, tool["type"])
    known = CLIENT_TOOLS.get(kind)
    own_name = kind if known is not None else tool["name"]
    name = chat_tool_name(own_name, namespace)
    description = tool.get("description") or (known.description if known else None)
    parameters = tool.get("parameters") or (known.parameters if known else None)
    if kind == "custom":
        parameters, description = _FREE_TEXT, _with_grammar(description, tool.get("format") or {})
    return OfferedTool(name, own_name, kind, namespace, function_tool(name, description, parameters))


def _with_grammar(description: str | None, form: Mapping[str, Any]) -> str | None:
    """Return a free-text tool's description, with the grammar of the text appended. Return None if there is neither.

    Servers cannot be made to enforce the grammar.
    """
    if not form.get("definition"):
        return description
    grammar = f"The text follows this grammar ({form.get('syntax')}):\n{form['definition']}"
    return f"{description}\n\n{grammar}" if description else grammar
