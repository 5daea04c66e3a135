"""A request of Gemini, with the model and the form of the answer in its body, as a request of chat completions."""

from __future__ import annotations

from collections.abc import Iterator
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
from benchwright.endpoint.dialects.gemini.names import said
from benchwright.endpoint.dialects.gemini.schemas import json_schema

_SAMPLING = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "seed": "seed",
}
_CHOICES = {"AUTO": "auto", "ANY": "required", "NONE": "none", "VALIDATED": "auto"}


def chat_request(body: dict[str, Any]) -> dict[str, Any]:
    """The fields of a chat completion that asks the same.

    Left out are `topK`, `thinkingConfig`, `safetySettings`, `labels`, signatures of thoughts, and tools that Google's
    own servers run.

    Raises:
        NotTranslated: it is not a request of Gemini, or needs what is kept at Google or several answers.
    """
    try:
        return _chat_request(body)
    except NotTranslated:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise NotTranslated(
            f"This is not a request of Gemini ({type(error).__name__}: {error}).".replace("\n", " ")
        ) from None


def offers_tools(tools: Any) -> bool:
    """Whether there are functions among the tools of a request, of whatever shape they are."""
    listed = tools if isinstance(tools, list) else []
    return any(isinstance(tool, dict) and said(tool, "functionDeclarations") for tool in listed)


def asked_to_count(body: dict[str, Any]) -> dict[str, Any]:
    """The request whose tokens are to be counted: it may stand in a field of its own."""
    asked = said(body, "generateContentRequest")
    return {**asked, "model": body["model"]} if isinstance(asked, dict) else body


def _chat_request(body: dict[str, Any]) -> dict[str, Any]:
    if said(body, "cachedContent"):
        raise NotTranslated("cachedContent is not supported: send the whole conversation in each request.")
    config = said(body, "generationConfig") or {}
    if (said(config, "candidateCount") or 1) > 1:
        raise NotTranslated("Several candidates are not supported: ask for one.")
    conversation = Conversation()
    conversation.instruct(_text(said(body, "systemInstruction") or {}))
    _Contents(conversation).say(body["contents"])
    choice = said(said(body, "toolConfig") or {}, "functionCallingConfig") or {}
    allowed = said(choice, "allowedFunctionNames") or []
    tools = [_tool(one) for one in _declarations(body.get("tools")) if not allowed or one["name"] in allowed]
    return present(
        [
            ("model", body.get("model")),
            ("messages", conversation.messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(choice, allowed) if tools and choice else None),
            *((name, said(config, other)) for other, name in _SAMPLING.items()),
            ("stop", said(config, "stopSequences") or None),
            ("response_format", _format(config)),
            ("stream", body.get("stream")),
        ]
    )


class _Contents:
    """What is said, part by part; calls and their results may come without ids, and belong together by their names."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._calls = 0
        self._open: list[tuple[str, str]] = []

    def say(self, contents: Any) -> None:
        """Adds contents: a list, one, or a text."""
        listed = contents if isinstance(contents, list) else [contents]
        for content in listed:
            role = content.get("role") or "user"
            parts = content.get("parts") or []
            if role == "model":
                self._say_as_model(parts)
            elif role in ("user", "function"):
                self._say_as_user(parts)
            else:
                raise NotTranslated(f"Gemini has no role {role!r}.")

    def _say_as_model(self, parts: list[dict[str, Any]]) -> None:
        texts: list[str] = []
        thoughts: list[str] = []
        calls = []
        for part in parts:
            if part.get("text") is not None:
                (thoughts if part.get("thought") else texts).append(part["text"])
            elif (call := said(part, "functionCall")) is not None:
                calls.append(call)
        text, thought = "".join(texts), "".join(thoughts)
        if text or thought:
            self._conversation.answer(text, thought)
        for call in calls:
            arguments = msgspec.json.encode(call.get("args") or {}).decode()
            self._conversation.call(self._called(call), call["name"], arguments)

    def _called(self, call: dict[str, Any]) -> str:
        self._calls += 1
        identity = call.get("id") or f"call_{self._calls}"
        self._open.append((call["name"], identity))
        return str(identity)

    def _say_as_user(self, parts: list[dict[str, Any]]) -> None:
        """The results of tools come first: they belong right behind the calls."""
        told, shown = [], []
        for part in parts:
            response = said(part, "functionResponse")
            if response is None:
                told.append(_part(part))
            else:
                shown += self._conversation.result(self._answered(response), list(_result(response)))
        if shown or told:
            self._conversation.tell([*shown, *told])

    def _answered(self, response: dict[str, Any]) -> str:
        """The id of the call that a result is of: the first open one of its name, where it has none."""
        name = response["name"]
        identity = response.get("id") or next((one for called, one in self._open if called == name), name)
        self._open = [(called, one) for called, one in self._open if one != identity]
        return str(identity)


def _result(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a function came to: by the documents its `output`, its `error`, or else all that it told."""
    told = response.get("response") or {}
    if "error" in told and "output" not in told:
        yield text_part("Error:")
    value = told.get("output", told.get("error", told))
    yield text_part(value if isinstance(value, str) else msgspec.json.encode(value).decode())
    for part in response.get("parts") or ():
        yield _part(part)


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("text") is not None:
        return text_part(part["text"])
    data, file = said(part, "inlineData"), said(part, "fileData")
    if data is not None and said(data, "mimeType").startswith("image/"):
        return image_part(f"data:{said(data, 'mimeType')};base64,{data['data']}")
    if file is not None and (said(file, "mimeType") or "").startswith("image/"):
        return image_part(said(file, "fileUri"))
    kind = said(data or file or {}, "mimeType") or ", ".join(part) or "nothing"
    return text_part(f"[A part of the type {kind} was left out: chat completions have none.]")


def _text(content: Any) -> str:
    parts = content if isinstance(content, str) else content.get("parts") or []
    return (
        parts if isinstance(parts, str) else "\n\n".join(part["text"] for part in parts if part.get("text"))
    )


def _declarations(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in tools or ():
        yield from said(tool, "functionDeclarations") or ()


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    parameters = said(tool, "parametersJsonSchema")
    if parameters is None and tool.get("parameters") is not None:
        parameters = json_schema(tool["parameters"])
    return function_tool(tool["name"], tool.get("description"), parameters)


def _tool_choice(choice: dict[str, Any], allowed: list[str]) -> Any:
    mode = choice.get("mode") or "AUTO"
    if mode == "ANY" and len(allowed) == 1:
        return {"type": "function", "function": {"name": allowed[0]}}
    return _CHOICES.get(mode, "auto")


def _format(config: dict[str, Any]) -> dict[str, Any] | None:
    schema = said(config, "responseJsonSchema") or config.get("_responseJsonSchema")
    if schema is None and said(config, "responseSchema") is not None:
        schema = json_schema(said(config, "responseSchema"))
    if said(config, "responseMimeType") != "application/json":
        return None
    return {"type": "json_object"} if schema is None else json_format(schema)
