"""Conversion of the contents of a Gemini request into a chat completions conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.endpoint.dialects.conversation import (
    ConversationBuilder,
    UntranslatableRequest,
    image_part,
    text_part,
)
from benchwright.endpoint.dialects.encoded_reasoning import decode_reasoning
from benchwright.endpoint.dialects.gemini.field_names import read_field
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.tool_names import offered_tool_name

_BESIDE = {"thought", "thoughtSignature", "thought_signature"}
"""Fields of a part that describe the part instead of holding its content."""


class ContentsConverter:
    """Converter that adds the contents of a request to a conversation, in order.

    A call and a result without ids belong together if they have the same function name.
    """

    def __init__(self, conversation: ConversationBuilder, losses: TranslationLosses) -> None:
        self._conversation = conversation
        self._losses = losses
        self._calls = 0
        self._open: list[tuple[str, str]] = []

    def add_contents(self, contents: Any) -> None:
        """Add contents to the conversation. `contents` is a list of contents, a single content, or a text."""
        listed = contents if isinstance(contents, list) else [contents]
        for content in listed:
            role = content.get("role") or "user"
            parts = content.get("parts") or []
            if role == "model":
                self._say_as_model(parts)
            elif role in ("user", "function"):
                self._say_as_user(parts)
            else:
                raise UntranslatableRequest(f"Gemini has no role {role!r}.")

    def _say_as_model(self, parts: list[dict[str, Any]]) -> None:
        texts: list[str] = []
        thoughts: list[str] = []

        def speak() -> None:
            self._conversation.add_answer("".join(texts), "".join(thoughts))
            texts.clear()
            thoughts.clear()

        for part in parts:
            if part.get("text") is not None:
                (thoughts if part.get("thought") else texts).append(part["text"])
            elif (call := read_field(part, "functionCall")) is not None:
                if not thoughts:
                    thoughts.append(decode_reasoning(read_field(part, "thoughtSignature")))
                speak()
                arguments = msgspec.json.encode(call.get("args") or {}).decode()
                self._conversation.add_call(self._called(call), offered_tool_name(call["name"]), arguments)
            else:
                for name in part.keys() - _BESIDE:
                    self._losses.add_part(name)
        speak()

    def _called(self, call: dict[str, Any]) -> str:
        self._calls += 1
        identity = call.get("id") or f"call_{self._calls}"
        self._open.append((call["name"], identity))
        return str(identity)

    def _say_as_user(self, parts: list[dict[str, Any]]) -> None:
        """Add the parts of a user turn. Tool results come first, because they must directly follow the calls."""
        told, shown = [], []
        for part in parts:
            response = read_field(part, "functionResponse")
            if response is None:
                told.append(_part(part, self._losses))
            else:
                shown += self._conversation.add_result(
                    self._answered(response), list(_result(response, self._losses))
                )
        if shown or told:
            self._conversation.add_user_message([*shown, *told])

    def _answered(self, response: dict[str, Any]) -> str:
        """Return the id of the call to which a result belongs.

        If the result has no id, it belongs to the first open call of the same function.
        """
        name = response["name"]
        identity = response.get("id") or next((one for called, one in self._open if called == name), name)
        self._open = [(called, one) for called, one in self._open if one != identity]
        return str(identity)


def _result(response: dict[str, Any], losses: TranslationLosses) -> Iterator[dict[str, Any]]:
    """Yield the parts of a function's result.

    The first part holds the field `output` or `error` of the response, as Gemini's API documents. If the
    response has neither field, the part holds all fields of the response.
    """
    told = response.get("response") or {}
    if "error" in told and "output" not in told:
        yield text_part("Error:")
    value = told.get("output", told.get("error", told))
    yield text_part(value if isinstance(value, str) else msgspec.json.encode(value).decode())
    for part in response.get("parts") or ():
        yield _part(part, losses)


def _part(part: dict[str, Any], losses: TranslationLosses) -> dict[str, Any]:
    if part.get("text") is not None:
        return text_part(part["text"])
    data, file = read_field(part, "inlineData"), read_field(part, "fileData")
    if data is not None and read_field(data, "mimeType").startswith("image/"):
        return image_part(f"data:{read_field(data, 'mimeType')};base64,{data['data']}")
    if file is not None and (read_field(file, "mimeType") or "").startswith("image/"):
        return image_part(read_field(file, "fileUri"))
    kind = read_field(data or file or {}, "mimeType") or ", ".join(part) or "nothing"
    losses.add_part(kind)
    return text_part(f"[A part of the type {kind} was left out: chat completions have none.]")
