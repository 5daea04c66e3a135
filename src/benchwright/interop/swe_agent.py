"""Reads trajectories of SWE-agent (`.traj`): one file, or the output folder of `sweagent run-batch`.

Source of the format: sweagent/types.py, sweagent/agent/agents.py and docs/usage/trajectories.md of version 1.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    JSON_ERRORS,
    count_or_none,
    object_or_empty,
    objects_in_list,
    read_json,
    require_object,
    text_or_empty,
)
from benchwright.records import Message, RequestRecord, Status, Usage

FORMAT = "swe-agent"
FILE_ENDING = ".traj"
STATUS_BY_EXIT_STATUS = {
    "exit_api": Status.PROVIDER_ERROR,
    "exit_environment_error": Status.EXECUTION_ERROR,
    "exit_error": Status.EXECUTION_ERROR,
    "early_exit": Status.CANCELLED,
}
"""Mapping from exit statuses that are failures, not limits, to the status of the trial.

If a patch was submitted after the failure, the exit status is written as "submitted (exit_…)".
"""
MESSAGE_ROLES = ("system", "user", "assistant", "tool")


def recognises(path: Path) -> bool:
    """Return True if the path is a trajectory of SWE-agent, or a folder with such files."""
    return bool(trajectory_files(path, FILE_ENDING))


def read(path: Path) -> ReadResults:
    """Read a file or a folder of trajectories as one run.

    Raises:
        UnreadableResults: If every file is damaged.
    """
    told = read_trajectories(trajectory_files(path, FILE_ENDING), FILE_ENDING, lambda file: _told(file, path))
    return [run_from_trajectories(path, FORMAT, told, ["times of requests", "tokens of single requests"])]


def _told(file: Path, path: Path) -> Trajectory:
    found = require_object(read_json(file), file)
    info, name = object_or_empty(found.get("info")), file.name.removesuffix(FILE_ENDING)
    messages = [
        _message(one) for one in objects_in_list(found.get("history")) if one.get("role") in MESSAGE_ROLES
    ]
    status, reason = status_of_exit(text_or_empty(info.get("exit_status")), STATUS_BY_EXIT_STATUS)
    trial = ForeignTrial(
        sample=name,
        status=status,
        reason=reason,
        input=_problem(found) or _first_question(found),
        messages=messages,
        answer=text_or_empty(info.get("submission")),
        requests=_sums(object_or_empty(info.get("model_stats")), name),
    )
    folder = path if path.is_dir() else file.parent
    version = text_or_empty(info.get("swe_agent_version"))
    return Trajectory(_model(found) or folder.resolve().name, f"SWE-agent {version}".strip(), trial)


def _config(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration for replaying the run, which is stored as JSON text. Empty if it is damaged."""
    try:
        return object_or_empty(json.loads(text_or_empty(found.get("replay_config")) or "{}"))
    except JSON_ERRORS:
        return {}


def _model(found: Mapping[str, Any]) -> str:
    agent = object_or_empty(_config(found).get("agent"))
    return text_or_empty(object_or_empty(agent.get("model")).get("name"))


def _problem(found: Mapping[str, Any]) -> str | None:
    return text_or_empty(object_or_empty(_config(found).get("problem_statement")).get("text")) or None


def _first_question(found: Mapping[str, Any]) -> str | None:
    asked = (
        one
        for one in objects_in_list(found.get("history"))
        if one.get("role") == "user" and not one.get("is_demo")
    )
    return next((content_as_text(one.get("content")) for one in asked), None)


def _message(entry: Mapping[str, Any]) -> Message:
    message: Message = {
        "role": text_or_empty(entry.get("role")),
        "content": content_as_text(entry.get("content")),
    }
    thought = [text_or_empty(one.get("thinking")) for one in objects_in_list(entry.get("thinking_blocks"))]
    if any(thought):
        message["reasoning_content"] = "\n".join(filter(None, thought))
    calls = [(one, object_or_empty(one.get("function"))) for one in objects_in_list(entry.get("tool_calls"))]
    if calls and message["role"] == "assistant":
        message["tool_calls"] = [
            openai_tool_call(
                text_or_empty(one.get("id")), text_or_empty(function.get("name")), function.get("arguments")
            )
            for one, function in calls
        ]
    answers = entry.get("tool_call_ids")
    if message["role"] == "tool" and isinstance(answers, list) and answers:
        message["tool_call_id"] = text_or_empty(answers[0])
    return message


def _sums(stats: Mapping[str, Any], name: str) -> list[RequestRecord]:
    """Return one request record with the tokens of all requests, because the log has no single requests."""
    usage = Usage(count_or_none(stats.get("tokens_sent")), count_or_none(stats.get("tokens_received")))
    return [RequestRecord(name, usage=usage)] if usage.total_tokens else []
