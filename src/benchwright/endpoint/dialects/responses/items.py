"""Conversion of the input of a Responses request into a chat completions conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.endpoint.dialects.conversation import (
    ConversationBuilder,
    UntranslatableRequest,
    image_part,
    text_part,
)
from benchwright.endpoint.dialects.encoded_reasoning import decode_reasoning
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.responses.calls import (
    call_id,
    called_tool_name,
    is_client_call,
    read_call_arguments,
    result_text,
)

COMPACTED_TEXT = (
    "[An earlier part of this conversation is kept encrypted by another server and cannot be read here.]"
)

_WITH_PARTS = ("function_call_output", "custom_tool_call_output")
_COMPACTIONS = ("compaction", "compaction_summary", "context_compaction")


def read_conversation(body: Mapping[str, Any], losses: TranslationLosses) -> ConversationBuilder:
    """Return the conversation of a request: its instructions and its input.

    Raises:
        UntranslatableRequest: If the request refers to data that only the server stores, or has an unknown role.
        KeyError, TypeError, AttributeError: If the body is not a request of Responses.
    """
    conversation = ConversationBuilder()
    conversation.add_instructions(body.get("instructions") or "")
    items = body["input"]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        _say(conversation, item, losses)
    return conversation


def _say(conversation: ConversationBuilder, item: dict[str, Any], losses: TranslationLosses) -> None:
    kind = item.get("type") or ("message" if "role" in item else "item_reference")
    text = result_text({**item, "type": kind})
    if kind == "message":
        _say_message(conversation, item["role"], _parts(item["content"], losses))
    elif kind == "agent_message":
        _say_agent_message(conversation, item, losses)
    elif is_client_call({**item, "type": kind}):
        conversation.add_call(call_id(item), called_tool_name(item), read_call_arguments(item))
    elif kind in _WITH_PARTS:
        _say_result(conversation, item, _parts(item["output"], losses))
    elif text is not None:
        _say_result(conversation, item, [text_part(text)])
    elif kind == "reasoning":
        thought = "".join(part["text"] for part in item.get("content") or ())
        conversation.add_answer("", thought or decode_reasoning(item.get("encrypted_content")))
    elif kind in _COMPACTIONS:
        losses.add_part(kind)
        conversation.add_user_message([text_part(COMPACTED_TEXT)])
    elif kind == "item_reference":
        raise UntranslatableRequest(
            "item_reference is not supported: send the whole conversation in each request."
        )
    elif kind not in ("additional_tools", "tool_search_output", "tool_search_call"):
        losses.add_part(kind)  # results of the provider's own tools


def _say_message(conversation: ConversationBuilder, role: str, parts: list[dict[str, Any]]) -> None:
    text = "\n\n".join(part["text"] for part in parts if part["type"] == "text")
    if role in ("system", "developer"):
        conversation.add_instructions(text)
    elif role == "assistant":
        conversation.add_answer(text)
    elif role == "user":
        conversation.add_user_message(parts)
    else:
        raise UntranslatableRequest(f"Responses have no role {role!r}.")


def _say_agent_message(
    conversation: ConversationBuilder, item: Mapping[str, Any], losses: TranslationLosses
) -> None:
    """Add a message of another agent as a user message, because this model did not write it.

    The user message begins with the other agent's name.
    """
    parts = _parts(item["content"], losses)
    conversation.add_user_message(
        [text_part(f"[Message from {item.get('author') or 'another agent'}]"), *parts]
    )


def _say_result(
    conversation: ConversationBuilder, item: Mapping[str, Any], parts: list[dict[str, Any]]
) -> None:
    if images := conversation.add_result(call_id(item), parts):
        conversation.add_user_message(images)


def _parts(content: Any, losses: TranslationLosses) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(part, losses) for part in content]


def _part(part: dict[str, Any], losses: TranslationLosses) -> dict[str, Any]:
    kind = part["type"]
    if kind in ("input_text", "output_text", "text", "summary_text", "reasoning_text"):
        return text_part(part["text"])
    if kind == "refusal":
        return text_part(part["refusal"])
    if kind == "input_image" and part.get("image_url"):
        return image_part(part["image_url"])
    losses.add_part(kind)
    return text_part(f"[A part of the type {kind} was left out: chat completions have none.]")
