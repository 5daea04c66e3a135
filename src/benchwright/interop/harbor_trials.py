"""Converts the attempts of a Harbor job at its tasks to trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from benchwright.interop.atif import messages_of, requests_of
from benchwright.interop.foreign_results import ForeignScore, ForeignTrial, UnreadableResults
from benchwright.interop.untrusted_files import (
    count_or_none,
    number_or_none,
    object_or_empty,
    objects_in_list,
    parse_time,
    read_json,
    require_object,
    text_or_empty,
)
from benchwright.records import Message, RequestRecord, Status, Usage
from benchwright.text import one_line

RESULT_FILE = "result.json"
MAX_REASON_LENGTH = 500

SlotByAgentAndModel = Mapping[tuple[str, str], str]
"""Mapping from (agent, model) to the slot of the target."""

STATUS_BY_AGENT_EXCEPTION = {
    "AgentTimeoutError": Status.LIMIT,
    "ContextWindowExceededError": Status.LIMIT,
    "ContextLengthExceededError": Status.LIMIT,
    "OutputTokenExceededError": Status.LIMIT,
    "OutputLengthExceededError": Status.LIMIT,
    "AgentSafetyRefusalError": Status.REFUSED,
    "ContentPolicyViolationError": Status.REFUSED,
}
"""Mapping from exceptions that the agent itself caused to the status of the trial.

Harbor counts the reward of a trial with such an exception (models/trial/error_policy.py).
"""

CANCELLED_EXCEPTION = "CancelledError"
"""Name of the exception of a trial that was stopped together with its job."""

DAMAGED_TRAJECTORY_NOTE = "The trajectory is damaged, and left out; the reward counts"
INVALID_REWARD_NOTE = (
    "A reward after a failure, which Harbor's own mean counts, is left out: Harbor holds it for invalid"
)
CHANGED_TASK_NOTE = "The task was changed between attempts: each version of it is a sample of its own"


class HarborAttempt(NamedTuple):
    """An attempt at a task: its folder and its result."""

    folder: Path
    result: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> HarborAttempt:
        """Read the attempt in a folder, with its result.

        Raises:
            UnreadableResults: If the result is damaged, or does not name its task.
        """
        found = cls(folder, require_object(read_json(folder / RESULT_FILE), folder / RESULT_FILE))
        if not found.task:
            raise UnreadableResults(f"{folder / RESULT_FILE}: it does not name its task.")
        return found

    @property
    def task(self) -> str:
        """The name of the task."""
        return text_or_empty(self.result.get("task_name"))

    @property
    def dataset(self) -> str:
        """The dataset of the task. Empty for a task without a dataset."""
        return text_or_empty(self.result.get("source"))

    @property
    def task_checksum(self) -> str:
        """Harbor's digest of the task. Empty if unknown."""
        return text_or_empty(self.result.get("task_checksum"))


def agent_and_model(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return (name of the agent, name of the model that it used)."""
    agent, configured = (
        object_or_empty(result.get("agent_info")),
        object_or_empty(object_or_empty(result.get("config")).get("agent")),
    )
    model = text_or_empty(configured.get("model_name")) or text_or_empty(
        object_or_empty(agent.get("model_info")).get("name")
    )
    name = text_or_empty(agent.get("name")) or text_or_empty(configured.get("name"))
    return name, model or name or "?"


def trials_of(attempts: Sequence[HarborAttempt], slots: SlotByAgentAndModel) -> list[ForeignTrial]:
    """Return the attempts at one dataset as trials. Repeats are numbered in the order of their starts."""
    versions: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for attempt in attempts:
        versions[attempt.task][attempt.task_checksum] = None
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for attempt in sorted(attempts, key=lambda one: (parse_time(one.result.get("started_at")), one.folder)):
        slot = slots[agent_and_model(attempt.result)]
        changed = len(versions[attempt.task]) > 1
        version = xxhash.xxh3_64_hexdigest(attempt.task_checksum.encode())[:8]
        sample = f"{attempt.task} {version}" if changed else attempt.task
        found.append(
            _trial(attempt, sample, slot, seen[slot, sample], (CHANGED_TASK_NOTE,) if changed else ())
        )
        seen[slot, sample] += 1
    return found


def _trial(
    attempt: HarborAttempt, sample: str, slot: str, repeat: int, remarks: tuple[str, ...]
) -> ForeignTrial:
    result, folder = attempt.result, attempt.folder
    scores = _scores(result)
    status, reason = _status(result, bool(scores))
    if scores and status in (Status.EXECUTION_ERROR, Status.CANCELLED):
        scores, remarks = {}, (*remarks, INVALID_REWARD_NOTE)
    began, ended = parse_time(result.get("started_at")), parse_time(result.get("finished_at"))
    try:
        messages, requests = _trajectory(folder)
    except UnreadableResults:
        messages, requests, remarks = [], [], (*remarks, DAMAGED_TRAJECTORY_NOTE)
    said = [message for message in messages if message["role"] == "assistant"]
    return ForeignTrial(
        sample=sample,
        repeat=repeat,
        slot=slot,
        status=status,
        reason=reason,
        scores=scores,
        sample_digest=attempt.task_checksum or None,
        input=next((one["content"] for one in messages if one["role"] == "user"), None),
        messages=messages,
        answer=said[-1]["content"] if said else "",
        requests=requests or _sums(result, folder.name),
        started_at=began,
        duration=max(0, ended - began) if began else 0,
        labels={"agent": agent}
        if (agent := text_or_empty(object_or_empty(result.get("agent_info")).get("name")))
        else {},
        remarks=remarks,
    )


def _scores(result: Mapping[str, Any]) -> dict[str, ForeignScore]:
    rewards = object_or_empty(object_or_empty(result.get("verifier_result")).get("rewards"))
    worth = ((name, number_or_none(reward)) for name, reward in rewards.items())
    return {name: ForeignScore(value) for name, value in worth if value is not None}


def _status(result: Mapping[str, Any], rewarded: bool) -> tuple[Status, str | None]:
    """Return (status, reason) of a trial, by the exceptions of the trial and of its steps."""
    steps = (
        object_or_empty(step.get("exception_info")) for step in objects_in_list(result.get("step_results"))
    )
    raised = [one for one in (object_or_empty(result.get("exception_info")), *steps) if one]
    if rewarded and not raised:
        return Status.ANSWERED, None
    worst = next(
        (one for one in raised if _kind(one) not in STATUS_BY_AGENT_EXCEPTION), raised[0] if raised else {}
    )
    told = one_line(
        f"{_kind(worst)}: {text_or_empty(worst.get('exception_message'))}".rstrip(": "), MAX_REASON_LENGTH
    )
    if _kind(worst) == CANCELLED_EXCEPTION:
        return Status.CANCELLED, told
    if rewarded:
        return STATUS_BY_AGENT_EXCEPTION.get(_kind(worst), Status.EXECUTION_ERROR), told
    return Status.EXECUTION_ERROR, told or "no reward was written"


def _kind(exception: Mapping[str, Any]) -> str:
    return text_or_empty(exception.get("exception_type"))


def _trajectory(folder: Path) -> tuple[list[Message], list[RequestRecord]]:
    path = folder / "agent" / "trajectory.json"
    if not path.is_file() or path.is_symlink():
        return [], []
    trajectory = object_or_empty(read_json(path))
    return messages_of(trajectory), requests_of(trajectory, folder.name)


def _sums(result: Mapping[str, Any], name: str) -> list[RequestRecord]:
    agent = object_or_empty(result.get("agent_result"))
    usage = Usage(
        count_or_none(agent.get("n_input_tokens")),
        count_or_none(agent.get("n_output_tokens")),
        count_or_none(agent.get("n_cache_tokens")),
    )
    return [RequestRecord(name, usage=usage)] if usage != Usage() else []
