"""Chat completions as servers send them, at random: whole, and as the chunks of a stream."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from benchwright.endpoint.accumulator import ResponseAccumulator

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
OBJECTS = st.dictionaries(TEXTS, TEXTS | st.integers(-9, 9) | st.booleans() | st.none(), max_size=3)
FINISH_REASONS = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])


@st.composite
def completions(draw: st.DrawFn) -> dict[str, Any]:
    """Whole chat completions: reasoning, text, calls, a reason to end, tokens."""
    names = draw(st.lists(st.sampled_from(["bash", "read", "ns__look"]), max_size=3))
    message: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS)}
    thought = draw(TEXTS)
    if thought:
        message["reasoning_content"] = thought
    if names:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(draw(OBJECTS))},
            }
            for number, name in enumerate(names)
        ]
    prompt, cached = draw(st.integers(0, 1000)), draw(st.integers(0, 1000))
    said, thought_tokens = draw(st.integers(0, 1000)), draw(st.integers(0, 1000))
    usage = {
        "prompt_tokens": prompt + cached,
        "completion_tokens": said + thought_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thought_tokens},
    }
    choice = {"index": 0, "message": message, "finish_reason": draw(FINISH_REASONS)}
    return {"id": "chatcmpl-1", "model": "m", "choices": [choice], "usage": usage}


@st.composite
def streams(draw: st.DrawFn, *, mixed: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(a completion, the chunks of a stream that says the same).

    The arguments of several calls may be mixed. With `mixed`, so is everything else, as few servers do it.
    """
    body = draw(completions())
    choice = body["choices"][0]
    message = choice["message"]
    calls = [_call_deltas(draw, index, call) for index, call in enumerate(message.get("tool_calls", []))]
    reasoning = [{"reasoning_content": piece} for piece in _cut(draw, message.get("reasoning_content", ""))]
    text = [{"content": piece} for piece in _cut(draw, message["content"])]
    apart = [*reasoning, *text, *_merged(draw, calls)]
    deltas = _merged(draw, [reasoning, text, *calls]) if mixed else apart
    chunks = [_chunk({"role": "assistant", "content": ""}), *map(_chunk, deltas)]
    last = _chunk({}, choice["finish_reason"])
    return body, [*chunks, last, {"id": "chatcmpl-1", "choices": [], "usage": body["usage"]}]


def _call_deltas(draw: st.DrawFn, index: int, call: dict[str, Any]) -> list[dict[str, Any]]:
    function = call["function"]
    first = {"index": index, "id": call["id"], "function": {"name": function["name"], "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": piece}} for piece in _cut(draw, function["arguments"])]
    return [{"tool_calls": [piece]} for piece in (first, *rest)]


def _cut(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.sets(st.integers(1, max(len(text) - 1, 1)), max_size=3)))
    edges = [0, *(place for place in places if place < len(text)), len(text)]
    return [text[start:end] for start, end in pairwise(edges) if end > start]


def _merged(draw: st.DrawFn, lists: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One list that keeps the order of each of these."""
    left = [list(each) for each in lists if each]
    merged = []
    while left:
        chosen = draw(st.sampled_from(left))
        merged.append(chosen.pop(0))
        left = [each for each in left if each]
    return merged


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def what_is_said(assembly: ResponseAccumulator) -> tuple[Any, ...]:
    """What a meter makes of an answer."""
    reply = assembly.make_reply(None)
    return reply.text, reply.reasoning, reply.tool_calls, reply.refusal, reply.finish_reason, reply.usage
