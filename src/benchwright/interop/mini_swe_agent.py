"""Reads trajectories of mini-SWE-agent (`.traj.json`): one file, or the output folder of `mini-extra
swebench`.

Source of the formats 1 and 1.1: minisweagent/agents/default.py and minisweagent/models of version 2.4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.interop.foreign_results import ForeignTrial, ReadResults
from benchwright.interop.messages import content_as_text, openai_tool_call
from benchwright.interop.trajectory_folders import (
    Trajectory,
    read_trajectories,
    run_from_trajectories,
    status_of_exit,
    trajectory_files,
)
from benchwright.interop.untrusted_files import (
    count_or_none,
    object_or_empty,
    objects_in_list,
    read_json,
    require_object,
    text_or_empty,
)
from benchwright.records import Message, RequestRecord, Status, Usage

FORMAT = "mini-swe-agent"
FILE_ENDING = ".traj.json"
LIMIT_EXIT_STATUSES = ("LimitsExceeded", "TimeExceeded", "RepeatedFormatError")
EXIT_ROLE = "exit"
"""The role of the last entry of a complete trajectory. The entry with this role has the exit status."""


def recognises(path: Path) -> bool:
    """Return True if the path is a trajectory of mini-SWE-agent, or a folder with such files."""
    return bool(trajectory_files(path, FILE_ENDING))


def read(path: Path) -> ReadResults:
    """Read a file or a folder of trajectories as one run.

    Raises:
        UnreadableResults: If every file is damaged.
    """
    told = read_trajectories(trajectory_files(path, FILE_ENDING), FILE_ENDING, _told)
    return [run_from_trajectories(path, FORMAT, told, ["times of requests"])]


def _told(file: Path) -> Trajectory:
    found = require_object(read_json(file), file)
    info = object_or_empty(found.get("info"))
    model = text_or_empty(object_or_empty(object_or_empty(info.get("config")).get("model")).get("model_name"))
    entries = objects_in_list(found.get("messages"))
    messages = list(_messages(entries))
    status, reason = _ending(text_or_empty(info.get("exit_status")))
    trial = ForeignTrial(
        sample=text_or_empty(found.get("instance_id")) or file.name.removesuffix(FILE_ENDING),
        status=status,
        reason=reason,
        input=next((text_or_empty(one["content"]) for one in messages if one["role"] == "user"), None),
        messages=messages,
        answer=text_or_empty(info.get("submission")),
        requests=list(_requests(entries, file.name.removesuffix(FILE_ENDING))),
    )
    version = text_or_empty(info.get("mini_version"))
    return Trajectory(model or "?", f"mini-SWE-agent {version}".strip(), trial)


def _ending(said: str) -> tuple[Status, str | None]:
    """Return (status, reason) of a trial, derived from its exit status.

    If the exit status denotes neither an end nor a limit, it is the name of an exception.
    """
    if said and said.lower() != "submitted" and said not in LIMIT_EXIT_STATUSES:
        return Status.EXECUTION_ERROR, said
    return status_of_exit(said, {})


def _messages(entries: list[dict[str, Any]]) -> Iterator[Message]:
    """Yield the messages of a trajectory.

    If the agent could not parse a response, that response is stored only in the user message that reports the
    problem.
    """
    for entry in entries:
        response = object_or_empty(object_or_empty(entry.get("extra")).get("response"))
        if entry.get("role") == EXIT_ROLE:
            continue
        if entry.get("role") == "user" and response:
            yield _unread(response)
        if entry.get("object") == "response":
            yield _of_items(objects_in_list(entry.get("output")))
        elif entry.get("type") == "function_call_output":
            output = content_as_text(entry.get("output"))
            yield {"role": "tool", "content": output, "tool_call_id": text_or_empty(entry.get("call_id"))}
        else:
            yield _message(entry)


def _message(entry: Mapping[str, Any]) -> Message:
    message: Message = {
        "role": text_or_empty(entry.get("role")) or "user",
        "content": content_as_text(entry.get("content")),
    }
    if reasoning := text_or_empty(entry.get("reasoning_content")):
        message["reasoning_content"] = reasoning
    calls = [(one, object_or_empty(one.get("function"))) for one in objects_in_list(entry.get("tool_calls"))]
    if calls:
        message["tool_calls"] = [
            openai_tool_call(
                text_or_empty(one.get("id")), text_or_empty(function.get("name")), function.get("arguments")
            )
            for one, function in calls
        ]
    if named := text_or_empty(entry.get("tool_call_id")):
        message["tool_call_id"] = named
    return message


def _unread(response: Mapping[str, Any]) -> Message:
    choices = objects_in_list(response.get("choices"))
    if choices:
        return _message({"role": "assistant", **object_or_empty(choices[0].get("message"))})
    return _of_items(objects_in_list(response.get("output")))


def _of_items(items: list[dict[str, Any]]) -> Message:
    """Return a response of the Responses API as one message. `items`: the output items of the response."""
    message: Message = {"role": "assistant"}
    said = [content_as_text(one.get("content")) for one in items if one.get("type") == "message"]
    thought = [content_as_text(one.get("summary")) for one in items if one.get("type") == "reasoning"]
    calls = [one for one in items if one.get("type") == "function_call"]
    message["content"] = "\n".join(said)
    if any(thought):
        message["reasoning_content"] = "\n".join(filter(None, thought))
    if calls:
        message["tool_calls"] = [
            openai_tool_call(
                text_or_empty(one.get("call_id")), text_or_empty(one.get("name")), one.get("arguments")
            )
            for one in calls
        ]
    return message


def _requests(entries: list[dict[str, Any]], name: str) -> Iterator[RequestRecord]:
    """Yield a request record for each model response. It has the response's token counts if they were recorded."""
    turn = 0
    for entry in entries:
        response = (
            entry
            if entry.get("object") == "response"
            else object_or_empty(entry.get("extra")).get("response")
        )
        if entry.get("role") != "assistant" and not object_or_empty(response):
            continue
        yield RequestRecord(
            f"{name}-{turn}", turn=turn, usage=_usage(object_or_empty(object_or_empty(response).get("usage")))
        )
        turn += 1


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = object_or_empty(usage.get("prompt_tokens_details")) or object_or_empty(
        usage.get("input_tokens_details")
    )
    return Usage(
        _first(usage, "prompt_tokens", "input_tokens"),
        _first(usage, "completion_tokens", "output_tokens"),
        count_or_none(details.get("cached_tokens")),
    )


def _first(usage: Mapping[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := count_or_none(usage.get(name))) is not None), None)
