"""Conversion of a Gemini request into a chat completions request.

The body of the Gemini request includes the model and the form of the answer, which were added from the URL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchwright.endpoint.dialects.conversation import (
    ConversationBuilder,
    UntranslatableRequest,
    drop_none,
    function_tool,
    json_format,
)
from benchwright.endpoint.dialects.gemini.contents import ContentsConverter
from benchwright.endpoint.dialects.gemini.field_names import read_field
from benchwright.endpoint.dialects.gemini.schemas import json_schema
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.tool_names import offered_tool_name
from benchwright.records import DECODE_ERRORS

_SAMPLING = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "seed": "seed",
}
_CHOICES = {"AUTO": "auto", "ANY": "required", "NONE": "none", "VALIDATED": "auto"}


def chat_request(body: dict[str, Any], losses: TranslationLosses | None = None) -> dict[str, Any]:
    """Return the fields of the chat completion that is equivalent to a Gemini request.

    Parts of the request that a chat completion cannot express are added to `losses`. The following are
    dropped, but not added to `losses`: `topK`, `thinkingConfig`, `safetySettings`, `labels` and thought
    signatures.

    Raises:
        UntranslatableRequest: If the body is not a request of Gemini, or if the request needs data stored at Google
            or asks for several answers.
    """
    try:
        return _chat_request(body, TranslationLosses() if losses is None else losses)
    except UntranslatableRequest:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UntranslatableRequest(
            f"This is not a request of Gemini ({type(error).__name__}: {error}).".replace("\n", " ")
        ) from None


def offers_tools(fields: Mapping[str, Any]) -> bool:
    """Return True if a request's tools include functions, or if the tools cannot be decoded.

    The values of `fields` are undecoded JSON.
    """
    try:
        tools = msgspec.json.decode(fields.get("tools") or b"null")
    except DECODE_ERRORS:
        return True
    listed = tools if isinstance(tools, list) else []
    return any(isinstance(tool, dict) and read_field(tool, "functionDeclarations") for tool in listed)


def request_to_count(body: dict[str, Any]) -> dict[str, Any]:
    """Return the request whose tokens are to be counted.

    It is the value of the field `generateContentRequest`. If the body has no such field, it is the body
    itself.
    """
    asked = read_field(body, "generateContentRequest")
    return {**asked, "model": body["model"]} if isinstance(asked, dict) else body


def _chat_request(body: dict[str, Any], losses: TranslationLosses) -> dict[str, Any]:
    if read_field(body, "cachedContent"):
        raise UntranslatableRequest(
            "cachedContent is not supported: send the whole conversation in each request."
        )
    config = read_field(body, "generationConfig") or {}
    if (read_field(config, "candidateCount") or 1) > 1:
        raise UntranslatableRequest("Several candidates are not supported: ask for one.")
    conversation = ConversationBuilder()
    conversation.add_instructions(_text(read_field(body, "systemInstruction") or {}))
    ContentsConverter(conversation, losses).add_contents(body["contents"])
    choice = read_field(read_field(body, "toolConfig") or {}, "functionCallingConfig") or {}
    allowed = read_field(choice, "allowedFunctionNames") or []
    tools = [
        _tool(one)
        for one in _declarations(body.get("tools"), losses)
        if not allowed or one["name"] in allowed
    ]
    return drop_none(
        [
            ("model", body.get("model")),
            ("messages", conversation.messages),
            ("tools", tools or None),
            ("tool_choice", _tool_choice(choice, allowed) if tools and choice else None),
            *((name, read_field(config, other)) for other, name in _SAMPLING.items()),
            ("stop", read_field(config, "stopSequences") or None),
            ("response_format", _format(config)),
            ("stream", body.get("stream")),
        ]
    )


def _text(content: Any) -> str:
    parts = content if isinstance(content, str) else content.get("parts") or []
    return (
        parts if isinstance(parts, str) else "\n\n".join(part["text"] for part in parts if part.get("text"))
    )


def _declarations(tools: Any, losses: TranslationLosses) -> Iterator[dict[str, Any]]:
    """Yield the declarations of the functions that the client runs.

    Tools that Google's servers run are added to `losses`.
    """
    for tool in tools or ():
        yield from read_field(tool, "functionDeclarations") or ()
        for name in tool.keys() - {"functionDeclarations", "function_declarations"}:
            losses.add_tool(name)


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    parameters = read_field(tool, "parametersJsonSchema")
    if parameters is None and tool.get("parameters") is not None:
        parameters = json_schema(tool["parameters"])
    return function_tool(offered_tool_name(tool["name"]), tool.get("description"), parameters)


def _tool_choice(choice: dict[str, Any], allowed: list[str]) -> Any:
    mode = choice.get("mode") or "AUTO"
    if mode == "ANY" and len(allowed) == 1:
        return {"type": "function", "function": {"name": offered_tool_name(allowed[0])}}
    return _CHOICES.get(mode, "auto")


def _format(config: dict[str, Any]) -> dict[str, Any] | None:
    schema = read_field(config, "responseJsonSchema") or config.get("_responseJsonSchema")
    if schema is None and read_field(config, "responseSchema") is not None:
        schema = json_schema(read_field(config, "responseSchema"))
    if read_field(config, "responseMimeType") != "application/json":
        return None
    return {"type": "json_object"} if schema is None else json_format(schema)
