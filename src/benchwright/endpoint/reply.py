"""A model's answer: assembled from whole messages or from deltas, reasoning split off once and for all."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from benchwright.records import MOST, NO_USAGE, Message, RequestRecord, Usage


class Reply(msgspec.Struct, gc=False):
    """One answer of a model.

    `message` is the assistant message as it goes back into a conversation (role, content, tool_calls);
    `text` is the answer proper and `reasoning` what the model thought, split from it whichever way the
    server sent it. `tool_calls` have the OpenAI shape, their arguments a JSON string. `extra` holds answer
    fields unknown to us; `raw` is the answer as JSON (put together, where it was streamed).
    """

    message: Message
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = []
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage = NO_USAGE
    logprobs: Any = None
    model: str | None = None
    extra: dict[str, Any] = {}
    raw: bytes = b"null"
    record: RequestRecord = RequestRecord(id="")


_OPENING = re.compile(r"<think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>\s*")


def answer_start(content: str) -> int:
    """Where the answer proper starts in a text that may hold its reasoning inline.

    Models write `<think>…</think>` before the answer; some chat templates have already opened the block,
    so that only its end shows. A block that never ends has no answer behind it: the length is returned.
    """
    if "</think" in content:
        closing = _CLOSING.search(content)
        if closing is not None:
            return closing.end()
    return len(content) if _OPENING.match(content.lstrip()) else 0


def split_reasoning(content: str) -> tuple[str, str]:
    """(reasoning, answer) of a text that may hold its reasoning inline; see `answer_start`."""
    start = answer_start(content)
    if start == 0:
        return "", content
    thought = _CLOSING.sub("", _OPENING.sub("", content[:start], count=1))
    return thought.strip(), content[start:]


def content_text(content: Any) -> tuple[str, str]:
    """(text, reasoning) of a message's content: a string, null, or a list of typed parts.

    Raises:
        TypeError: it is none of these.
    """
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        raise TypeError(f"content is neither text nor a list of parts: {type(content).__name__}")
    text, reasoning = [], []
    for part in content:
        if part.get("type") == "thinking":
            thought = part.get("thinking")
            reasoning.append(thought if isinstance(thought, str) else content_text(thought)[0])
        else:
            text.append(part.get("text") or "")
    return "".join(text), "".join(reasoning)


def read_usage(usage: Any) -> Usage:
    """Token counts of an answer's `usage` object; None for what is missing, no number, or more than the whole.

    Some servers (xAI's) count reasoning beside the answer's tokens and not among them, which the total tells; it is
    added, so that the tokens of an answer mean the same everywhere.
    """
    if not isinstance(usage, dict):
        return NO_USAGE
    of_prompt, of_answer = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    cached = _count(of_prompt.get("cached_tokens")) if isinstance(of_prompt, dict) else None
    reasoning = _count(of_answer.get("reasoning_tokens")) if isinstance(of_answer, dict) else None
    if completion is not None and reasoning:
        total = _count(usage.get("total_tokens"))
        if reasoning > completion or total == (prompt or 0) + completion + reasoning:
            completion += reasoning
    if cached is not None and prompt is not None and cached > prompt:
        cached = None
    return Usage(
        prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, reasoning_tokens=reasoning
    )


def with_estimate(usage: Usage, reasoning: str, rest: str) -> Usage:
    """The usage with an estimate of the reasoning tokens, where reasoning was sent and not counted apart.

    A server may also count 0 for reasoning that it sent; that is taken as not counted.
    """
    if usage.reasoning_tokens or not reasoning or usage.completion_tokens is None:
        return usage
    share = len(reasoning) / (len(reasoning) + len(rest))
    estimate = round(usage.completion_tokens * share)
    return msgspec.structs.replace(usage, reasoning_tokens=None, estimated_reasoning_tokens=estimate)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST else None


def assistant_message(text: str, tool_calls: list[dict[str, Any]], refusal: str | None) -> Message:
    """The message that goes back into the conversation."""
    message: Message = {"role": "assistant", "content": text if text or not tool_calls else None}
    if tool_calls:
        message["tool_calls"] = tool_calls
    if refusal:
        message["refusal"] = refusal
    return message
