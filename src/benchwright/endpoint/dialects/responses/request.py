"""Conversion of a Responses request into a chat completions request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.endpoint.dialects.conversation import UntranslatableRequest, drop_none, json_format
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.responses.items import read_conversation
from benchwright.endpoint.dialects.responses.tools import OfferedTool, is_chosen_tool, offered_tools

REFUSED_FIELDS = ("previous_response_id", "conversation", "background", "prompt")
"""Request fields that require a server that stores conversations. Requests with one of these fields are refused."""


def chat_request(body: dict[str, Any], losses: TranslationLosses | None = None) -> dict[str, Any]:
    """Return the fields of the chat completion that is equivalent to a request of Responses.

    Parts of the request that a chat completion cannot express are added to `losses`. The following are
    dropped, but not added to `losses`: `reasoning`, `include`, `store`, `prompt_cache_key`,
    `client_metadata`, and encrypted reasoning.

    Raises:
        UntranslatableRequest: If the body is not a request of Responses, or needs a server that stores conversations.
    """
    for name in REFUSED_FIELDS:
        if body.get(name):
            raise UntranslatableRequest(
                f"{name} is not supported: send the whole conversation in each request."
            )
    try:
        return _chat_request(body, TranslationLosses() if losses is None else losses)
    except (KeyError, TypeError, AttributeError) as error:
        raise UntranslatableRequest(
            f"This is not a request of Responses ({type(error).__name__}: {error})."
        ) from None


def _chat_request(body: dict[str, Any], losses: TranslationLosses) -> dict[str, Any]:
    offered = offered_tools(body, losses)
    tools = [tool.chat_tool for tool in offered.values()]
    output = (body.get("text") or {}).get("format") or {}
    return drop_none(
        [
            ("model", body.get("model")),
            ("messages", read_conversation(body, losses).messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(body.get("tool_choice"), offered) if tools else None),
            ("parallel_tool_calls", body.get("parallel_tool_calls") if tools else None),
            ("max_tokens", body.get("max_output_tokens")),
            ("temperature", body.get("temperature")),
            ("top_p", body.get("top_p")),
            ("response_format", _format(output)),
            ("stream", body.get("stream")),
        ]
    )


def _tool_choice(choice: Any, offered: Mapping[str, OfferedTool]) -> Any:
    """Return the `tool_choice` for chat completions. Return "auto" if the chosen tool is not offered."""
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") == "allowed_tools":
        return choice.get("mode", "auto")
    name = next((name for name, tool in offered.items() if is_chosen_tool(choice, tool)), None)
    return "auto" if name is None else {"type": "function", "function": {"name": name}}


def _format(output: dict[str, Any]) -> dict[str, Any] | None:
    if output.get("type") == "json_schema":
        return json_format(output["schema"], output.get("name") or "answer")
    return {"type": "json_object"} if output.get("type") == "json_object" else None
