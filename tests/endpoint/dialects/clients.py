"""Clients of each dialect, as their libraries put a stream together: events in, the answer that they would see out."""

from __future__ import annotations

import copy
import json
from typing import Any


def events_in(stream: bytes) -> list[dict[str, Any]]:
    """The events of a stream; each has a name, which is that of its type, but for Gemini's. Comments are not events."""
    events = []
    for block in stream.decode().split("\n\n")[:-1]:
        if not block or block.startswith(":"):
            continue
        *names, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert names == ([f"event: {event['type']}"] if "type" in event else [])
        events.append(event)
    return events


def read_gemini(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer that a client of Gemini ends up with: the last event, with the parts of all, texts put together."""
    parts: list[dict[str, Any]] = []
    for event in events:
        (candidate,) = event["candidates"]
        assert candidate["content"]["role"] == "model"
        assert (event is events[-1]) == ("finishReason" in candidate)
        assert event is events[-1] or "usageMetadata" not in event
        for part in candidate["content"]["parts"]:
            if part.get("text") == "":
                continue
            joins = parts and part.keys() == parts[-1].keys() and "text" in part
            if joins:
                parts[-1]["text"] += part["text"]
            else:
                parts.append(copy.deepcopy(part))
    answer = copy.deepcopy(events[-1])
    answer["candidates"][0]["content"]["parts"] = parts
    return answer


def read_messages(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client of Messages ends up with; it insists on the order that the documents give."""
    events = [event for event in events if event["type"] != "ping"]
    assert events[0]["type"] == "message_start"
    assert events[-1]["type"] == "message_stop"
    message: dict[str, Any] = copy.deepcopy(events[0]["message"])
    opened: str | None = None
    for event in events[1:-1]:
        if event["type"] == "content_block_start":
            assert opened is None
            assert event["index"] == len(message["content"])
            message["content"].append(copy.deepcopy(event["content_block"]))
            opened = ""
        elif event["type"] == "content_block_delta":
            assert opened is not None
            assert event["index"] == len(message["content"]) - 1
            block, delta = message["content"][-1], event["delta"]
            if delta["type"] == "input_json_delta":
                opened += delta["partial_json"]
            else:
                field = {"text_delta": "text", "thinking_delta": "thinking"}[delta["type"]]
                block[field] += delta[field]
        elif event["type"] == "content_block_stop":
            if message["content"][-1]["type"] == "tool_use":
                message["content"][-1]["input"] = json.loads(opened or "{}")
            opened = None
        else:
            assert event["type"] == "message_delta"
            assert opened is None
            message.update(event["delta"])
            message["usage"].update(event["usage"])
    return message


def read_responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The response that a client ends up with, its items put together from the deltas.

    What was put together must be what the events that close an item, and the last one, hold as a whole.
    """
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    items: list[dict[str, Any]] = []
    for event in events[2:-1]:
        kind = event["type"]
        if kind == "response.output_item.added":
            assert event["output_index"] == len(items)
            items.append(copy.deepcopy(event["item"]))
            continue
        item = items[-1]
        assert event["output_index"] == len(items) - 1
        if kind == "response.output_item.done":
            at_the_end = {"status": "", "encrypted_content": ""}
            assert {**item, **at_the_end} == {**event["item"], **at_the_end}
            items[-1] = event["item"]
        else:
            assert event["item_id"] == item["id"]
            _take(kind, item, event)
    response = events[-1]["response"]
    assert events[-1]["type"] == f"response.{response['status']}"
    assert response["output"] == items
    return dict(response)


def _take(kind: str, item: dict[str, Any], event: dict[str, Any]) -> None:
    if kind == "response.content_part.added":
        item["content"].append(copy.deepcopy(event["part"]))
    elif kind == "response.content_part.done":
        assert item["content"][-1] == event["part"]
    elif kind.endswith(".delta"):
        field = _field(kind)
        place = item["content"][-1] if "content" in item else item
        place[field] += event["delta"]
    else:
        assert kind.endswith(".done")
        field = _field(kind)
        place = item["content"][-1] if "content" in item else item
        assert place[field] == event[field]


def _field(kind: str) -> str:
    name = kind.split(".")[1]
    return {
        "output_text": "text",
        "reasoning_text": "text",
        "refusal": "refusal",
        "function_call_arguments": "arguments",
        "custom_tool_call_input": "input",
    }[name]
