"""The order in which strict servers of each dialect take a conversation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

Messages = list[dict[str, Any]]


def check_openai(messages: Messages) -> None:
    """Each call is answered by exactly one tool message right behind its assistant message, and no other is there.

    Source: OpenAI's API, DeepSeek and Kimi answer 400 to all else. Two assistant messages in a row are one turn.
    """
    open_calls: list[str] = []
    before = None
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] in open_calls, "a result without a call before it"
            open_calls.remove(message["tool_call_id"])
            assert isinstance(message["content"], str | list), "a result without content"
        else:
            assert not open_calls, f"calls without results before a message of {role}"
        if role == "assistant":
            assert before != "assistant", "a turn in two messages"
            open_calls = [call["id"] for call in message.get("tool_calls", [])]
            assert open_calls or isinstance(message["content"], str), "an answer without text and calls"
        before = role
    assert not open_calls, "calls without results at the end"


def check_anthropic(messages: Messages) -> None:
    """Roles alternate, and the results of all calls come first in the next message.

    Source: Anthropic's API answers 400: "tool_use ids were found without tool_result blocks immediately after".
    """
    roles = [message["role"] for message in messages]
    assert all(one != other for one, other in pairwise(roles))
    for message, following in zip(messages, [*messages[1:], {"content": []}], strict=True):
        called = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        kinds = [block["type"] for block in following["content"]]
        results = [block["tool_use_id"] for block in following["content"] if block["type"] == "tool_result"]
        assert sorted(called) == sorted(results)
        assert kinds[: len(results)] == ["tool_result"] * len(results)


def check_gemini(contents: Messages) -> None:
    """A turn with calls is followed at once by one with as many results.

    Source: Google's API answers 400: "Please ensure that the number of function response parts is equal to the number
    of function call parts of the function call turn."
    """
    for content, following in zip(contents, [*contents[1:], {"parts": []}], strict=True):
        calls = sum("functionCall" in part for part in content["parts"])
        assert calls == sum("functionResponse" in part for part in following["parts"])
