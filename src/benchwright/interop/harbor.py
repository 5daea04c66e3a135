"""Jobs of Harbor: a folder with one folder for each attempt at a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.interop.atif import messages_of, requests_of
from benchwright.interop.foreign import (
    ForeignRun,
    ForeignScale,
    ForeignScore,
    ForeignTarget,
    ForeignTrial,
    UnreadableResults,
)
from benchwright.interop.reading import an_object, count, mapping, moment, number, read_json, text
from benchwright.records import Message, RequestRecord, Status, Usage
from benchwright.text import one_line

FORMAT = "harbor"
RESULT = "result.json"
MOST_TRIALS = 200_000
LONGEST_REASON = 500
Entrant = tuple[str, str]
"""An agent's name, and its model."""
OUT_OF_BUDGET = ("AgentTimeoutError",)
"""Exceptions after which what the agent had done by then was graded."""


def recognises(path: Path) -> bool:
    """Whether this is the folder of a job: it has a result or a configuration, and so have folders in it."""
    if not path.is_dir() or not any((path / name).is_file() for name in (RESULT, "config.json")):
        return False
    return any((trial / name).is_file() for trial in _trial_folders(path) for name in (RESULT, "config.json"))


def read(path: Path) -> list[ForeignRun]:
    """The run of a job.

    Raises:
        UnreadableResults: a result is damaged, no trial has one, or there are too many.
    """
    folders = list(_trial_folders(path))
    if len(folders) > MOST_TRIALS:
        raise UnreadableResults(f"{path} holds {len(folders):,} trials; at most {MOST_TRIALS:,} are read.")
    results = {
        folder: an_object(read_json(folder / RESULT), folder / RESULT)
        for folder in folders
        if (folder / RESULT).is_file()
    }
    if not results:
        raise UnreadableResults(f"{path} holds no trial that has ended.")
    job = mapping(read_json(path / RESULT)) if (path / RESULT).is_file() else {}
    slots = _slots(results.values())
    trials = list(_trials(results, slots))
    missing = len(folders) - len(results)
    sources = list(dict.fromkeys(filter(None, (text(result.get("source")) for result in results.values()))))
    return [
        ForeignRun(
            format=FORMAT,
            program="Harbor",
            path=path,
            task=sources[0] if len(sources) == 1 else path.name,
            targets=[ForeignTarget(slot, model) for (_, model), slot in slots.items()],
            scores=dict.fromkeys((name for trial in trials for name in trial.scores), ForeignScale()),
            trials=trials,
            created_at=moment(job.get("started_at")),
            ended_at=moment(job.get("finished_at")),
            state="unfinished" if missing else "finished",
            repeats=1 + max(trial.repeat for trial in trials),
            planned=count(job.get("n_total_trials")) or len(folders),
            lacks=["times of requests"],
            notes=list(_notes(trials, missing)),
        )
    ]


def _trial_folders(path: Path) -> Iterator[Path]:
    """Folders directly in the job; links are not followed."""
    return (one for one in sorted(path.iterdir()) if one.is_dir() and not one.is_symlink())


def _slots(results: Iterable[Mapping[str, Any]]) -> dict[Entrant, str]:
    """The slot of each agent with each model; the agent is part of its name where there are several."""
    entrants = list(dict.fromkeys(map(_entrant, results)))
    if len(entrants) == 1:
        return {entrants[0]: "primary"}
    several = len({agent for agent, _ in entrants}) > 1
    return {(agent, model): f"{agent} {model}" if several else model for agent, model in entrants}


def _entrant(result: Mapping[str, Any]) -> Entrant:
    agent, configured = mapping(result.get("agent_info")), mapping(mapping(result.get("config")).get("agent"))
    model = text(configured.get("model_name")) or text(mapping(agent.get("model_info")).get("name"))
    name = text(agent.get("name")) or text(configured.get("name"))
    return name, model or name or "?"


def _trials(results: Mapping[Path, dict[str, Any]], slots: Mapping[Entrant, str]) -> Iterator[ForeignTrial]:
    """The attempts in the order in which they were begun, by which they are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    for folder, result in sorted(results.items(), key=lambda one: (moment(one[1].get("started_at")), one[0])):
        sample, slot = text(result.get("task_name")), slots[_entrant(result)]
        if not sample:
            raise UnreadableResults(f"{folder / RESULT}: it does not name its task.")
        scores = _scores(result)
        status, reason = _status(mapping(result.get("exception_info")), bool(scores))
        began, ended = moment(result.get("started_at")), moment(result.get("finished_at"))
        messages, requests = _trajectory(folder)
        said = [message for message in messages if message["role"] == "assistant"]
        yield ForeignTrial(
            sample=sample,
            repeat=seen[slot, sample],
            slot=slot,
            status=status,
            reason=reason,
            scores=scores,
            identity=text(result.get("task_checksum")) or None,
            input=next((one["content"] for one in messages if one["role"] == "user"), None),
            messages=messages,
            answer=said[-1]["content"] if said else "",
            requests=requests or _sums(result, folder.name),
            started_at=began,
            duration=max(0, ended - began) if began else 0,
            labels={"agent": agent} if (agent := text(mapping(result.get("agent_info")).get("name"))) else {},
        )
        seen[slot, sample] += 1


def _scores(result: Mapping[str, Any]) -> dict[str, ForeignScore]:
    rewards = mapping(mapping(result.get("verifier_result")).get("rewards"))
    worth = ((name, number(reward)) for name, reward in rewards.items())
    return {name: ForeignScore(value) for name, value in worth if value is not None}


def _status(exception: Mapping[str, Any], scored: bool) -> tuple[Status, str | None]:
    kind = text(exception.get("exception_type"))
    told = one_line(f"{kind}: {text(exception.get('exception_message'))}".rstrip(": "), LONGEST_REASON)
    if scored:
        return (Status.LIMIT, told) if kind in OUT_OF_BUDGET else (Status.ANSWERED, None)
    return Status.EXECUTION_ERROR, told or "no reward was written"


def _trajectory(folder: Path) -> tuple[list[Message], list[RequestRecord]]:
    path = folder / "agent" / "trajectory.json"
    if not path.is_file() or path.is_symlink():
        return [], []
    trajectory = mapping(read_json(path))
    return messages_of(trajectory), requests_of(trajectory, folder.name)


def _sums(result: Mapping[str, Any], name: str) -> list[RequestRecord]:
    agent = mapping(result.get("agent_result"))
    usage = Usage(
        count(agent.get("n_input_tokens")),
        count(agent.get("n_output_tokens")),
        count(agent.get("n_cache_tokens")),
    )
    return [RequestRecord(name, usage=usage)] if usage != Usage() else []


def _notes(trials: Sequence[ForeignTrial], missing: int) -> Iterator[str]:
    if missing:
        yield f"{missing} trials have no result yet."
    names = dict.fromkeys(name for trial in trials for name in trial.scores)
    for name in names:
        without = sum(name not in trial.scores for trial in trials)
        if without:
            yield f"{name}: {without} trials have none; Harbor's own mean counts them 0, here they are left out."
