"""Requests to generate, parsed into one form for both chat completions and plain completions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.endpoint.serving.http import HttpError
from benchwright.records import DECODE_ERRORS


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class ToolFunction(msgspec.Struct):
    """A function offered as a tool. `parameters`: a JSON schema."""

    name: str
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct):
    """A tool offered in a request."""

    function: ToolFunction


class Message(msgspec.Struct):
    """One message of a conversation, reduced to the fields that affect answers."""

    role: str
    content: str | list[Any] | None = None
    tool_calls: list[Any] | None = None

    @property
    def text(self) -> str:
        """Text of the content. Parts that are not text (images, audio) are left out."""
        if isinstance(self.content, str):
            return self.content
        parts = (part.get("text") for part in self.content or [] if isinstance(part, dict))
        return "\n".join(text for text in parts if isinstance(text, str))


class _Request(msgspec.Struct):
    model: str | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None


class _ChatRequest(_Request, kw_only=True):
    messages: list[Message]
    max_completion_tokens: int | None = None
    tools: list[Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None


class _CompletionRequest(_Request, kw_only=True):
    prompt: str | list[Any]
    logprobs: int | None = None


class ParsedRequest(msgspec.Struct):
    """A request to generate.

    `prompt`: the last user message, or the prompt of a plain completion. `prompt_words`: the tokens of the whole
    prompt, message after message, separated by single blanks. `prompt_tokens`: the number of these tokens.
    `token_limit`: the maximum number of tokens of the answer. `top_logprobs`: the number of alternatives
    requested per token; None if no log-probabilities are requested. `forced_tool`: the name that
    `tool_choice` requires; "" for any tool.
    """

    is_chat: bool
    model: str | None
    prompt: str
    prompt_words: str
    prompt_tokens: int
    stream: bool
    include_usage: bool
    token_limit: int | None
    stop_strings: list[str]
    messages: list[Message] = []
    tools: list[ToolFunction] = []
    forced_tool: str | None = None
    top_logprobs: int | None = None

    def pop_prompt_words(self) -> str:
        """Return `words`, and delete the attribute, because the words of a long prompt take much memory."""
        words, self.prompt_words = self.prompt_words, ""
        return words


_LONG = 1000
"""Length in characters from which a text is checked for other white space than single blanks before it is split.

Splitting a shorter text is faster than the check whether splitting is necessary.
"""

_OTHER_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f"
"""The white space characters of ASCII, without the blank."""

_decode_chat = msgspec.json.Decoder(_ChatRequest).decode
_decode_completion = msgspec.json.Decoder(_CompletionRequest).decode


def join_words(texts: Iterable[str]) -> str:
    """Return the words of these texts, separated by single blanks. Words are the tokens of a simulated model."""
    return " ".join(filter(None, map(_in_single_blanks, texts)))


def _in_single_blanks(text: str) -> str:
    if len(text) > _LONG and _has_single_blanks(text):
        return text
    return " ".join(text.split())


def _has_single_blanks(text: str) -> bool:
    """Return True if a text is ASCII and has single blanks between its words, but no other white space."""
    if not text.isascii() or text != text.strip() or "  " in text:
        return False
    return not any(blank in text for blank in _OTHER_BLANKS)


def read_chat(body: bytes) -> ParsedRequest:
    """Return the question in the body of POST /v1/chat/completions.

    Raises:
        HttpError: If the body is not JSON, or has the wrong shape.
    """
    try:
        request = _decode_chat(body)
    except DECODE_ERRORS as error:
        raise HttpError(400, str(error)) from None
    messages = request.messages
    if not messages:
        raise HttpError(400, "Expected at least one message - at `$.messages`")
    texts = [message.text for message in messages]
    asked = [text for message, text in zip(messages, texts, strict=True) if message.role == "user"]
    words = join_words(texts)
    choice = request.tool_choice
    limit = request.max_tokens if request.max_completion_tokens is None else request.max_completion_tokens
    return ParsedRequest(
        is_chat=True,
        model=request.model,
        prompt=asked[-1] if asked else texts[-1],
        prompt_words=words,
        prompt_tokens=words.count(" ") + 1 if words else 0,
        stream=bool(request.stream),
        include_usage=bool(request.stream_options and request.stream_options.include_usage),
        token_limit=_checked_limit(limit),
        stop_strings=_stops(request.stop),
        messages=messages,
        tools=[] if choice == "none" else [tool.function for tool in request.tools or []],
        forced_tool=_forced_tool(choice),
        top_logprobs=(request.top_logprobs or 0) if request.logprobs else None,
    )


def read_completion(body: bytes) -> ParsedRequest:
    """Return the question in the body of POST /v1/completions.

    Raises:
        HttpError: If the body is not JSON, has the wrong shape, or holds several prompts.
    """
    try:
        request = _decode_completion(body)
    except DECODE_ERRORS as error:
        raise HttpError(400, str(error)) from None
    prompt = _one_prompt(request.prompt)
    words = join_words([prompt])
    return ParsedRequest(
        is_chat=False,
        model=request.model,
        prompt=prompt,
        prompt_words=words,
        prompt_tokens=words.count(" ") + 1 if words else 0,
        stream=bool(request.stream),
        include_usage=bool(request.stream_options and request.stream_options.include_usage),
        token_limit=_checked_limit(request.max_tokens),
        stop_strings=_stops(request.stop),
        top_logprobs=request.logprobs,
    )


def _one_prompt(prompt: str | list[Any]) -> str:
    while isinstance(prompt, list):
        if prompt and all(isinstance(token, int) for token in prompt):
            return " ".join(map(str, prompt))
        if len(prompt) != 1 or not isinstance(prompt[0], str | list):
            raise HttpError(400, "Expected one prompt, as text or token ids - at `$.prompt`")
        prompt = prompt[0]
    return prompt


def _checked_limit(limit: int | None) -> int | None:
    if limit is not None and limit < 0:
        raise HttpError(400, f"Expected `int` >= 0, got {limit} - at `$.max_tokens`")
    return limit


def _stops(stop: str | list[str] | None) -> list[str]:
    return [text for text in ([stop] if isinstance(stop, str) else stop or []) if text]


def _forced_tool(choice: str | dict[str, Any] | None) -> str | None:
    if isinstance(choice, dict):
        function = choice.get("function")
        return str(function.get("name", "")) if isinstance(function, dict) else None
    return "" if choice == "required" else None
