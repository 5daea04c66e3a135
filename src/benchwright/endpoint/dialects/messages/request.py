"""A request of Messages as a request of chat completions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.endpoint.dialects.conversation import (
    Conversation,
    NotTranslated,
    function_tool,
    image_part,
    json_format,
    present,
    text_part,
)

BILLING = "x-anthropic-billing-header:"
"""How a system block begins that is not an instruction: it differs in each session and spoils prefix caches."""

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def chat_request(body: dict[str, Any]) -> dict[str, Any]:
    """The fields of a chat completion that asks the same.

    Left out are cache marks, `thinking`, `top_k`, `metadata`, `context_management`, and tools that Anthropic's own
    servers run.

    Raises:
        NotTranslated: it is not a request of Messages.
    """
    try:
        return _chat_request(body)
    except (KeyError, TypeError, AttributeError) as error:
        raise NotTranslated(
            f"This is not a request of Messages ({type(error).__name__}: {error}).".replace("\n", " ")
        ) from None


def _chat_request(body: dict[str, Any]) -> dict[str, Any]:
    conversation = Conversation()
    _instruct(conversation, body.get("system") or [])
    for message in body["messages"]:
        _say(conversation, message["role"], _blocks(message["content"]))
    tools = [_tool(tool) for tool in body.get("tools") or () if "input_schema" in tool]
    choice = body.get("tool_choice") or {}
    output = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return present(
        [
            ("model", body.get("model")),
            ("messages", conversation.messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(choice) if tools and choice else None),
            ("parallel_tool_calls", False if tools and choice.get("disable_parallel_tool_use") else None),
            ("max_tokens", body.get("max_tokens")),
            ("stop", body.get("stop_sequences") or None),
            ("temperature", body.get("temperature")),
            ("top_p", body.get("top_p")),
            ("response_format", json_format(output["schema"]) if "schema" in output else None),
            ("stream", body.get("stream")),
        ]
    )


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _instruct(conversation: Conversation, content: Any) -> None:
    texts = (block["text"] for block in _blocks(content) if block["type"] == "text")
    conversation.instruct("\n\n".join(text for text in texts if not text.startswith(BILLING)))


def _say(conversation: Conversation, role: str, blocks: list[dict[str, Any]]) -> None:
    if role == "system":
        _instruct(conversation, blocks)
    elif role == "assistant":
        _say_as_model(conversation, blocks)
    elif role == "user":
        _say_as_user(conversation, blocks)
    else:
        raise NotTranslated(f"Messages have no role {role!r}.")


def _say_as_model(conversation: Conversation, blocks: Iterable[dict[str, Any]]) -> None:
    texts, thoughts, calls = [], [], []
    for block in blocks:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "thinking":
            thoughts.append(block["thinking"])
        elif block["type"] == "tool_use":
            calls.append(block)
    conversation.answer("".join(texts), "".join(thoughts))
    for call in calls:
        conversation.call(call["id"], call["name"], msgspec.json.encode(call.get("input") or {}).decode())


def _say_as_user(conversation: Conversation, blocks: Iterable[dict[str, Any]]) -> None:
    """The results of tools come first: they belong right behind the calls."""
    said, images = [], []
    for block in blocks:
        if block["type"] == "tool_result":
            images += conversation.result(block["tool_use_id"], _result(block))
        else:
            said.append(_part(block))
    if images or said:
        conversation.tell([*images, *said])


def _result(block: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [_part(inner) for inner in _blocks(block.get("content") or "")]
    return [text_part("Error:"), *parts] if block.get("is_error") else parts


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return text_part(block["text"])
    source = block.get("source") or {}
    if block["type"] == "image" and source.get("type") == "base64":
        return image_part(f"data:{source['media_type']};base64,{source['data']}")
    if block["type"] == "image" and source.get("type") == "url":
        return image_part(source["url"])
    if block["type"] == "document" and source.get("type") == "text":
        return text_part(source["data"])
    return text_part(f"[A block of the type {block['type']} was left out: chat completions have none.]")


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    return function_tool(tool["name"], tool.get("description"), tool["input_schema"])


def _tool_choice(choice: dict[str, Any]) -> Any:
    if choice["type"] == "tool":
        return {"type": "function", "function": {"name": choice["name"]}}
    return _CHOICES[choice["type"]]
