"""A request of Responses as a request of chat completions."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.dialects.conversation import (
    Conversation,
    NotTranslated,
    image_part,
    json_format,
    present,
    text_part,
)
from benchwright.endpoint.dialects.responses.tools import INPUT, chat_name, offered_tools

REFUSED = ("previous_response_id", "conversation", "background")
"""Fields that need a server which keeps what was said."""


def chat_request(body: dict[str, Any]) -> dict[str, Any]:
    """The fields of a chat completion that asks the same.

    Left out are `reasoning`, `include`, `store`, `prompt_cache_key`, `client_metadata`, encrypted reasoning, and tools
    that OpenAI's own servers run.

    Raises:
        NotTranslated: it is not a request of Responses, or needs a server that keeps conversations.
    """
    for name in REFUSED:
        if body.get(name):
            raise NotTranslated(f"{name} is not supported: send the whole conversation in each request.")
    try:
        return _chat_request(body)
    except (KeyError, TypeError, AttributeError) as error:
        raise NotTranslated(
            f"This is not a request of Responses ({type(error).__name__}: {error})."
        ) from None


def _chat_request(body: dict[str, Any]) -> dict[str, Any]:
    conversation = Conversation()
    conversation.instruct(body.get("instructions") or "")
    items = body["input"]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        _say(conversation, item)
    tools = [tool.chat_tool for tool in offered_tools(body.get("tools"))]
    output = (body.get("text") or {}).get("format") or {}
    return present(
        [
            ("model", body.get("model")),
            ("messages", conversation.messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(body.get("tool_choice")) if tools else None),
            ("parallel_tool_calls", body.get("parallel_tool_calls") if tools else None),
            ("max_tokens", body.get("max_output_tokens")),
            ("temperature", body.get("temperature")),
            ("top_p", body.get("top_p")),
            ("response_format", _format(output)),
            ("stream", body.get("stream")),
        ]
    )


def _say(conversation: Conversation, item: dict[str, Any]) -> None:
    kind = item.get("type") or "message"
    if kind == "message":
        _say_message(conversation, item["role"], item["content"])
    elif kind == "function_call":
        name = chat_name(item["name"], item.get("namespace"))
        conversation.call(item["call_id"], name, item["arguments"])
    elif kind == "custom_tool_call":
        arguments = msgspec.json.encode({INPUT: item["input"]}).decode()
        conversation.call(item["call_id"], chat_name(item["name"], item.get("namespace")), arguments)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        images = conversation.result(item["call_id"], _parts(item["output"]))
        if images:
            conversation.tell(images)
    elif kind == "reasoning":
        thought = "".join(part["text"] for part in item.get("content") or ())
        if thought:
            conversation.answer("", thought)


def _say_message(conversation: Conversation, role: str, content: Any) -> None:
    parts = _parts(content)
    text = "\n\n".join(part["text"] for part in parts if part["type"] == "text")
    if role in ("system", "developer"):
        conversation.instruct(text)
    elif role == "assistant":
        conversation.answer(text)
    elif role == "user":
        conversation.tell(parts)
    else:
        raise NotTranslated(f"Responses have no role {role!r}.")


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(part) for part in content]


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] in ("input_text", "output_text", "text"):
        return text_part(part["text"])
    if part["type"] == "refusal":
        return text_part(part["refusal"])
    if part["type"] == "input_image" and part.get("image_url"):
        return image_part(part["image_url"])
    return text_part(f"[A part of the type {part['type']} was left out: chat completions have none.]")


def _tool_choice(choice: Any) -> Any:
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") in ("function", "custom"):
        name = chat_name(choice["name"], choice.get("namespace"))
        return {"type": "function", "function": {"name": name}}
    return choice.get("mode", "auto")


def _format(output: dict[str, Any]) -> dict[str, Any] | None:
    if output.get("type") == "json_schema":
        return json_format(output["schema"], output.get("name") or "answer")
    return {"type": "json_object"} if output.get("type") == "json_object" else None
