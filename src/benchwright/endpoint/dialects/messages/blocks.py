"""Conversion of the blocks of a Messages request into a chat completions conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from benchwright.endpoint.dialects.conversation import (
    ConversationBuilder,
    UntranslatableRequest,
    image_part,
    text_part,
)
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.tool_names import offered_tool_name

BILLING_BLOCK_PREFIX = "x-anthropic-billing-header:"
"""Beginning of a system block that holds billing data of the client instead of instructions.

The block differs in each session, so it would make prefix caches useless.
"""

ContentBlock = dict[str, Any]


def read_conversation(body: Mapping[str, Any], losses: TranslationLosses) -> ConversationBuilder:
    """Return the conversation of a request: its system prompt and its messages.

    Raises:
        UntranslatableRequest: If a message has an unknown role.
        KeyError, TypeError, AttributeError: If the body is not a request of Messages.
    """
    conversation = ConversationBuilder()
    _instruct(conversation, body.get("system") or [])
    for message in body["messages"]:
        _say(conversation, message["role"], _blocks(message["content"]), losses)
    return conversation


def _blocks(content: Any) -> list[ContentBlock]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _instruct(conversation: ConversationBuilder, content: Any) -> None:
    texts = (block["text"] for block in _blocks(content) if block["type"] == "text")
    conversation.add_instructions(
        "\n\n".join(text for text in texts if not text.startswith(BILLING_BLOCK_PREFIX))
    )


def _say(
    conversation: ConversationBuilder, role: str, blocks: list[ContentBlock], losses: TranslationLosses
) -> None:
    if role == "system":
        _instruct(conversation, blocks)
    elif role == "assistant":
        _say_as_model(conversation, blocks, losses)
    elif role == "user":
        _say_as_user(conversation, blocks, losses)
    else:
        raise UntranslatableRequest(f"Messages have no role {role!r}.")


def _say_as_model(
    conversation: ConversationBuilder, blocks: Iterable[ContentBlock], losses: TranslationLosses
) -> None:
    texts: list[str] = []
    thoughts: list[str] = []

    def speak() -> None:
        conversation.add_answer("".join(texts), "".join(thoughts))
        texts.clear()
        thoughts.clear()

    for block in blocks:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "thinking":
            thoughts.append(block["thinking"])
        elif block["type"] == "tool_use":
            speak()
            arguments = msgspec.json.encode(block.get("input") or {}).decode()
            conversation.add_call(block["id"], offered_tool_name(block["name"]), arguments)
        elif block["type"] != "redacted_thinking":
            losses.add_part(block["type"])
    speak()


def _say_as_user(
    conversation: ConversationBuilder, blocks: Iterable[ContentBlock], losses: TranslationLosses
) -> None:
    """Add the blocks of a user turn. Tool results come first, because they must directly follow the calls."""
    said, images = [], []
    for block in blocks:
        if block["type"] == "tool_result":
            images += conversation.add_result(block["tool_use_id"], _result(block, losses))
        else:
            said += _parts(block, losses)
    if images or said:
        conversation.add_user_message([*images, *said])


def _result(block: ContentBlock, losses: TranslationLosses) -> list[dict[str, Any]]:
    parts = [part for inner in _blocks(block.get("content") or "") for part in _parts(inner, losses)]
    return [text_part("Error:"), *parts] if block.get("is_error") else parts


def _parts(block: ContentBlock, losses: TranslationLosses) -> list[dict[str, Any]]:
    kind = block["type"]
    source = block.get("source") or {}
    if kind == "text":
        return [text_part(block["text"])]
    if kind == "image" and source.get("type") == "base64":
        return [image_part(f"data:{source['media_type']};base64,{source['data']}")]
    if kind == "image" and source.get("type") == "url":
        return [image_part(source["url"])]
    if kind == "document" and source.get("type") in ("text", "content"):
        content = source.get("data") or source.get("content") or ""
        return [*_titled(block), *(part for inner in _blocks(content) for part in _parts(inner, losses))]
    if kind == "search_result":
        texts = (part for inner in _blocks(block["content"]) for part in _parts(inner, losses))
        return [text_part(f"{block['title']} ({source or 'no source'})"), *texts]
    if kind == "tool_reference":
        return [text_part(f"The tool {offered_tool_name(block['tool_name'])} can be called now.")]
    losses.add_part(kind)
    return [text_part(f"[A block of the type {kind} was left out: chat completions have none.]")]


def _titled(block: ContentBlock) -> list[dict[str, Any]]:
    """Return the title and the context of a document as text parts. Return [] if the document has neither."""
    return [text_part(block[name]) for name in ("title", "context") if block.get(name)]
