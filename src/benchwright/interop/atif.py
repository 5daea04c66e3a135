"""Converts trajectories in ATIF (Agent Trajectory Interchange Format) to messages and requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.interop.messages import content_of, openai_call
from benchwright.interop.reading import count, mapping, objects, text
from benchwright.records import Message, RequestRecord, Usage

ROLES = {"system": "system", "user": "user", "agent": "assistant"}


def messages_of(trajectory: Mapping[str, Any]) -> list[Message]:
    """Return the steps of a trajectory as OpenAI messages.

    Observations of a step follow it as tool messages.
    """
    found: list[Message] = []
    for step in objects(trajectory.get("steps")):
        role = ROLES.get(text(step.get("source")))
        if role is None:
            continue
        message: Message = {"role": role, "content": content_of(step.get("message"))}
        if reasoning := text(step.get("reasoning_content")):
            message["reasoning_content"] = reasoning
        if calls := [_call(one) for one in objects(step.get("tool_calls"))]:
            message["tool_calls"] = calls
        found.append(message)
        for one in objects(mapping(step.get("observation")).get("results")):
            answer: Message = {"role": "tool", "content": content_of(one.get("content"))}
            if named := text(one.get("source_call_id")):
                answer["tool_call_id"] = named
            found.append(answer)
    return found


def requests_of(trajectory: Mapping[str, Any], name: str) -> list[RequestRecord]:
    """Return a request record for each agent step that reports its tokens. The times are unknown."""
    steps = [step for step in objects(trajectory.get("steps")) if mapping(step.get("metrics"))]
    return [
        RequestRecord(f"{name}-{turn}", turn=turn, usage=_usage(mapping(step.get("metrics"))))
        for turn, step in enumerate(steps)
    ]


def _usage(metrics: Mapping[str, Any]) -> Usage:
    return Usage(*(count(metrics.get(f"{name}_tokens")) for name in ("prompt", "completion", "cached")))


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return openai_call(text(call.get("tool_call_id")), text(call.get("function_name")), call.get("arguments"))
