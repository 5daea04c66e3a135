"""Builder of the messages of a chat completion, used to translate conversations from other dialects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchwright.endpoint.dialects.message_order import ConversationEntry, order_messages
from benchwright.records import Message


class UntranslatableRequest(ValueError):
    """Raised if a request cannot be expressed as a chat completion."""


class ConversationBuilder:
    """The messages of a chat completion, added one by one and returned in the order that servers require.

    See `message_order.order_messages`. Instructions before the model's first answer become one system
    message, because many chat templates allow only one system message. Later instructions become user
    messages.
    """

    def __init__(self) -> None:
        self._system: list[str] = []
        self._entries: list[ConversationEntry] = []
        self._answered = False

    @property
    def messages(self) -> list[Message]:
        """All messages so far, in the order that servers require."""
        system = "\n\n".join(self._system)
        messages = order_messages(self._entries)
        return [{"role": "system", "content": system}, *messages] if system else messages

    def add_instructions(self, text: str) -> None:
        """Add instructions from the developer or operator of the program."""
        if not text:
            return
        if self._answered:
            self.add_user_message([{"type": "text", "text": text}])
        else:
            self._system.append(text)

    def add_user_message(self, parts: list[dict[str, Any]]) -> None:
        """Add a user message that consists of chat completions parts. If all parts are text, they become one string."""
        content: Any = parts
        if all(part["type"] == "text" for part in parts):
            content = "\n\n".join(part["text"] for part in parts)
        self._entries.append(ConversationEntry("other", {"role": "user", "content": content}))

    def add_answer(self, text: str, reasoning: str = "") -> None:
        """Add text of the model. Add the model's reasoning, too, if there is any."""
        if text or reasoning:
            self._answered = True
            self._entries.append(
                ConversationEntry("answer", {"content": text, "reasoning_content": reasoning})
            )

    def add_call(self, identity: str, name: str, arguments: str) -> None:
        """Add a tool call of the model."""
        self._answered = True
        function = {"name": name, "arguments": arguments or "{}"}
        call = {"id": identity, "type": "function", "function": function}
        self._entries.append(ConversationEntry("call", {"tool_calls": [call]}, identity))

    def add_result(self, identity: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add the result of a tool call.

        Return the parts of the result that a tool message cannot hold, which are images.
        """
        text = "\n\n".join(part["text"] for part in parts if part["type"] == "text")
        message: Message = {"role": "tool", "tool_call_id": identity, "content": text}
        self._entries.append(ConversationEntry("result", message, identity))
        return [part for part in parts if part["type"] != "text"]


def function_tool(name: str, description: Any, parameters: Any) -> dict[str, Any]:
    """Return a tool in the format of chat completions."""
    function = {"name": name, "description": description, "parameters": parameters or {"type": "object"}}
    return {
        "type": "function",
        "function": {field: value for field, value in function.items() if value is not None},
    }


def text_part(text: str) -> dict[str, Any]:
    """Return a text part of a message."""
    return {"type": "text", "text": text}


def image_part(url: str) -> dict[str, Any]:
    """Return a message part for an image. `url`: a URL or data URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def json_format(schema: Any, name: str = "answer") -> dict[str, Any]:
    """Return the `response_format` that requests an answer conforming to a JSON schema."""
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def drop_none(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields whose value is not None."""
    return {name: value for name, value in fields if value is not None}
