"""Conversion of a Messages request into a chat completions request."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.dialects.conversation import UntranslatableRequest, drop_none, json_format
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.messages.blocks import read_conversation
from benchwright.endpoint.dialects.messages.tools import chat_tools
from benchwright.endpoint.dialects.tool_names import offered_tool_name

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def chat_request(body: dict[str, Any], losses: TranslationLosses | None = None) -> dict[str, Any]:
    """Return the fields of the chat completion that is equivalent to a request of Messages.

    Parts of the request that a chat completion cannot express are added to `losses`. The following are
    dropped, but not added to `losses`: cache marks, `thinking`, `top_k`, `metadata` and `context_management`.

    Raises:
        UntranslatableRequest: If the body is not a request of Messages.
    """
    try:
        return _chat_request(body, TranslationLosses() if losses is None else losses)
    except (KeyError, TypeError, AttributeError) as error:
        raise UntranslatableRequest(
            f"This is not a request of Messages ({type(error).__name__}: {error}).".replace("\n", " ")
        ) from None


def _chat_request(body: dict[str, Any], losses: TranslationLosses) -> dict[str, Any]:
    tools = list(chat_tools(body.get("tools") or (), losses))
    choice = body.get("tool_choice") or {}
    output = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return drop_none(
        [
            ("model", body.get("model")),
            ("messages", read_conversation(body, losses).messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(choice, tools) if tools and choice else None),
            ("parallel_tool_calls", False if tools and choice.get("disable_parallel_tool_use") else None),
            ("max_tokens", body.get("max_tokens")),
            ("stop", body.get("stop_sequences") or None),
            ("temperature", body.get("temperature")),
            ("top_p", body.get("top_p")),
            ("response_format", json_format(output["schema"]) if "schema" in output else None),
            ("stream", body.get("stream")),
        ]
    )


def _tool_choice(choice: dict[str, Any], tools: list[dict[str, Any]]) -> Any:
    """Return the `tool_choice` for chat completions. Return "auto" if the chosen tool is not offered."""
    if choice["type"] != "tool":
        return _CHOICES[choice["type"]]
    name = offered_tool_name(choice["name"])
    offered = any(tool["function"]["name"] == name for tool in tools)
    return {"type": "function", "function": {"name": name}} if offered else "auto"
