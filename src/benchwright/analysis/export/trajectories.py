"""Exports a run as trajectories in ATIF (Harbor's RFC 0001, version 1.7), one file for each trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import xxhash

import benchwright
from benchwright.analysis.export.counted_trials import CountedTrial, counted_trials, file_name_part, iso_time
from benchwright.analysis.export.message_parts import texts_and_pictures
from benchwright.analysis.report.messages import ParsedMessage, parse_messages
from benchwright.analysis.trial_preview import trial_preview
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.files import write_atomically
from benchwright.pictures import decode_data_url, find_pictures
from benchwright.records import RequestRecord, TrialRecord
from benchwright.runs.flags import FLAGS_KEY
from benchwright.runs.journal import TrialBody, encode_json
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import agent_of, answering_program_of
from benchwright.runs.pictures import PICTURES_FOLDER, picture_name
from benchwright.runs.table import RunTable

ATIF_VERSION = "ATIF-v1.7"


def write_trajectories(manifest: Manifest, table: RunTable, directory: Path) -> Iterator[Path]:
    """Write the trajectory of each counted trial, and the images in it. Yield the paths.

    The table must be read with `effort=True`. A trial without any message has no trajectory.

    Raises:
        UserError: If a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    models = {
        target.slot: manifest.typed_models.get(target.slot, target.model) for target in manifest.targets
    }
    for counted in counted_trials(table):
        agent = {**_agent(manifest, counted.body), "model_name": models[counted.trial.record.target]}
        trajectory = trajectory_of(counted, agent)
        if trajectory["steps"]:
            yield from _write_pictures(counted.body, directory / PICTURES_FOLDER)
            path = directory / trajectory_file_name(counted.trial.record)
            write_atomically(path, encode_json(trajectory))
            yield path


def _write_pictures(body: TrialBody, directory: Path) -> Iterator[Path]:
    """Write the images of a conversation that are not in the directory yet.

    Each file is named as the image is named in the run.
    """
    for one in parse_messages(body, (), 0, 1 << 30)[0]:
        for url, _ in find_pictures(one.message.get("content")):
            path = directory / str(picture_name(url))
            if not path.exists():
                write_atomically(path, decode_data_url(url))
                yield path


def _agent(manifest: Manifest, body: TrialBody) -> dict[str, str]:
    """Return the name and version of the agent: another program, a recipe's agent, the user's own agent, or
    Benchwright.
    """
    name, _, version = (answering_program_of(manifest) or str(body.artifacts.get("agent") or "")).rpartition(
        " "
    )
    if name:
        return {"name": name, "version": version}
    return {"name": version or agent_of(manifest) or "benchwright", "version": benchwright.__version__}


def trajectory_file_name(record: TrialRecord) -> str:
    """Return a file name that is unique to the trial and that every file system accepts."""
    unique = xxhash.xxh3_64_hexdigest(record.key.encode())[:8]
    return f"{file_name_part(record.sample)}-{record.repeat + 1}-{unique}.json"


def trajectory_of(counted: CountedTrial, agent: Mapping[str, str]) -> dict[str, Any]:
    """Return the conversation of a trial as an ATIF trajectory, which consists of steps.

    Scores and status, for which ATIF has no field, are under `extra`.
    """
    trial, body = counted.trial, counted.body
    record, own = trial.record, counted.requests
    parsed, _ = parse_messages(body, (), 0, 1 << 30)
    told = trial_preview(trial, body)
    steps = list(_steps(parsed, own, record.started_at, agent["model_name"]))
    if not steps and told.input:
        steps = [{"step_id": 1, "source": "user", "message": told.input}]
    return {
        "schema_version": ATIF_VERSION,
        "session_id": counted.unique_id,
        "agent": dict(agent),
        "steps": steps,
        "final_metrics": _sums(own, len(steps)),
        "extra": {
            "sample": record.sample,
            "repeat": record.repeat,
            "status": str(trial.status),
            "scores": {**record.scores, **{name: score.value for name, score in trial.scores.items()}},
            **({"reason": record.reason} if record.reason else {}),
            **({"target": told.target} if told.target else {}),
            **({FLAGS_KEY: msgspec.to_builtins(trial.flags)} if trial.flags else {}),
        },
    }


def _steps(
    messages: Sequence[ParsedMessage], requests: Sequence[RequestRecord], began: int, model: str
) -> Iterator[dict[str, Any]]:
    """Yield the numbered steps of a conversation. The results of tools belong to the step that called the tools."""
    answered = iter(requests)
    step: dict[str, Any] | None = None
    number = 0
    for one in messages:
        if one.role == "tool" and step is not None and step["source"] == "agent":
            _observe(step, one)
            continue
        if step is not None:
            yield step
        number += 1
        step = {"step_id": number, **_step(one, model)}
        if step["source"] == "agent" and (request := next(answered, None)) is not None:
            step["metrics"] = _metrics(request)
            if began:
                step["timestamp"] = iso_time(began + request.started)
    if step is not None:
        yield step


def _step(message: ParsedMessage, model: str) -> dict[str, Any]:
    source = {"assistant": "agent", "system": "system", "developer": "system"}.get(message.role, "user")
    made: dict[str, Any] = {"source": source, "message": _said(message)}
    if source != "agent":
        return made
    made["model_name"] = model
    if message.reasoning:
        made["reasoning_content"] = message.reasoning
    if message.calls:
        made["tool_calls"] = [
            {
                "tool_call_id": call.id or f"call-{place}",
                "function_name": call.name,
                "arguments": _arguments(call.arguments),
            }
            for place, call in enumerate(message.calls)
        ]
    return made


def _said(message: ParsedMessage) -> str | list[dict[str, Any]]:
    """Return a message's text. If the message has images, return a list of parts.

    The images are files beside the trajectory.
    """
    parts = texts_and_pictures(message.message.get("content"))
    return [_part(text, url) for text, url in parts] or message.text


def _part(text: str, url: str | None) -> dict[str, Any]:
    name = None if url is None else picture_name(url)
    if name is None:
        return {"type": "text", "text": text}
    kind = name.rpartition(".")[2]
    return {"type": "image", "source": {"media_type": f"image/{kind}", "path": f"{PICTURES_FOLDER}/{name}"}}


def _arguments(written: str) -> dict[str, Any]:
    """Return the arguments of a tool call as an object.

    If they are not a JSON object, they are under the key `raw`.
    """
    found = read_object_arguments(written, lenient=True)
    return {"raw": written} if found is None else found


def _observe(step: dict[str, Any], message: ParsedMessage) -> None:
    result: dict[str, Any] = {"content": _said(message)}
    named = message.message.get("tool_call_id")
    if any(call["tool_call_id"] == named for call in step.get("tool_calls", [])):
        result["source_call_id"] = str(named)
    step.setdefault("observation", {"results": []})["results"].append(result)


def _metrics(request: RequestRecord) -> dict[str, Any]:
    usage = request.usage
    found: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    times = {"latency_seconds": request.total or None, "time_to_first_token_seconds": request.ttft}
    extra = {name: value / 1e9 for name, value in times.items() if value is not None}
    return {name: value for name, value in {**found, "extra": extra or None}.items() if value is not None}


def _sums(requests: Sequence[RequestRecord], steps: int) -> dict[str, int]:
    return {
        "total_prompt_tokens": sum(one.prompt_tokens for one in requests),
        "total_completion_tokens": sum(one.completion_tokens for one in requests),
        "total_cached_tokens": sum(one.usage.cached_tokens or 0 for one in requests),
        "total_steps": steps,
    }
