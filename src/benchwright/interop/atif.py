"""Converts trajectories in ATIF (Agent Trajectory Interchange Format) to messages and requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.interop.messages import content_as_text, openai_tool_call
from benchwright.interop.untrusted_files import count_or_none, object_or_empty, objects_in_list, text_or_empty
from benchwright.records import Message, RequestRecord, Usage

OPENAI_ROLE_BY_SOURCE = {"system": "system", "user": "user", "agent": "assistant"}


def messages_of(trajectory: Mapping[str, Any]) -> list[Message]:
    """Return the steps of a trajectory as OpenAI messages.

    The observations of a step (the results of its tool calls) become tool messages after the step's message.
    """
    found: list[Message] = []
    for step in objects_in_list(trajectory.get("steps")):
        role = OPENAI_ROLE_BY_SOURCE.get(text_or_empty(step.get("source")))
        if role is None:
            continue
        message: Message = {"role": role, "content": content_as_text(step.get("message"))}
        if reasoning := text_or_empty(step.get("reasoning_content")):
            message["reasoning_content"] = reasoning
        if calls := [_call(one) for one in objects_in_list(step.get("tool_calls"))]:
            message["tool_calls"] = calls
        found.append(message)
        for one in objects_in_list(object_or_empty(step.get("observation")).get("results")):
            answer: Message = {"role": "tool", "content": content_as_text(one.get("content"))}
            if named := text_or_empty(one.get("source_call_id")):
                answer["tool_call_id"] = named
            found.append(answer)
    return found


def requests_of(trajectory: Mapping[str, Any], name: str) -> list[RequestRecord]:
    """Return a request record for each agent step that reports its tokens. The times are unknown."""
    steps = [
        step for step in objects_in_list(trajectory.get("steps")) if object_or_empty(step.get("metrics"))
    ]
    return [
        RequestRecord(f"{name}-{turn}", turn=turn, usage=_usage(object_or_empty(step.get("metrics"))))
        for turn, step in enumerate(steps)
    ]


def _usage(metrics: Mapping[str, Any]) -> Usage:
    return Usage(
        *(count_or_none(metrics.get(f"{name}_tokens")) for name in ("prompt", "completion", "cached"))
    )


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return openai_tool_call(
        text_or_empty(call.get("tool_call_id")),
        text_or_empty(call.get("function_name")),
        call.get("arguments"),
    )
