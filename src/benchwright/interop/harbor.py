"""Reads jobs of Harbor: a folder with one subfolder per attempt at a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignTarget,
    ForeignTrial,
    ReadResults,
    UnreadableResults,
)
from benchwright.interop.harbor_trials import (
    RESULT_FILE,
    HarborAttempt,
    SlotByAgentAndModel,
    agent_and_model,
    trials_of,
)
from benchwright.interop.untrusted_files import (
    count_or_none,
    object_or_empty,
    parse_time,
    read_json,
    text_or_empty,
)

FORMAT = "harbor"
CONFIG_FILE = "config.json"
MAX_TRIALS = 200_000


def recognises(path: Path) -> bool:
    """Return True if the path is a job: the folder itself and one of its subfolders each contain a result or a
    configuration.
    """
    if not path.is_dir() or not any((path / name).is_file() for name in (RESULT_FILE, CONFIG_FILE)):
        return False
    return any(
        (trial / name).is_file() for trial in _trial_folders(path) for name in (RESULT_FILE, CONFIG_FILE)
    )


def read(path: Path) -> ReadResults:
    """Read a job. Each dataset becomes a run of its own, because tasks of two datasets may share a name.

    Raises:
        UnreadableResults: If a result occurs twice with different contents, no trial has a result, or there are
            too many trials.
    """
    folders = list(_trial_folders(path))
    if len(folders) > MAX_TRIALS:
        raise UnreadableResults(f"{path} holds {len(folders):,} trials; at most {MAX_TRIALS:,} are read.")
    ended, damaged = _ended(folders)
    if not ended:
        raise damaged[0] if damaged else UnreadableResults(f"{path} holds no trial that has ended.")
    job = _job(path)
    slots = _slots(attempt.result for attempt in ended)
    sources = list(dict.fromkeys(attempt.dataset for attempt in ended))
    missing = len(folders) - len(ended) - len(damaged)
    return [
        _run(_Job(path, job, missing, damaged, len(sources) == 1), source, own, slots)
        for source in sources
        for own in [[attempt for attempt in ended if attempt.dataset == source]]
    ]


class _Job(NamedTuple):
    """A Harbor job. `path`: its folder. `result`: the job's own result, not the one of a trial.

    `missing`: number of trials without a result. `damaged`: errors of the damaged trials. `whole`: True if the
    job has only one dataset.
    """

    path: Path
    result: Mapping[str, Any]
    missing: int
    damaged: Sequence[UnreadableResults]
    whole: bool


def _run(job: _Job, source: str, attempts: Sequence[HarborAttempt], slots: SlotByAgentAndModel) -> ForeignRun:
    trials = trials_of(attempts, slots)
    used = {trial.slot for trial in trials}
    absent = job.missing + len(job.damaged)
    planned = count_or_none(job.result.get("n_total_trials")) or len(attempts) + absent
    return ForeignRun(
        format=FORMAT,
        program="Harbor",
        path=job.path,
        task=source or job.path.resolve().name,
        targets=[ForeignTarget(slot, model) for (_, model), slot in slots.items() if slot in used],
        scores=dict.fromkeys((name for trial in trials for name in trial.scores), ForeignScale()),
        trials=trials,
        created_at=parse_time(job.result.get("started_at")),
        ended_at=parse_time(job.result.get("finished_at")),
        state="unfinished" if job.missing else "finished",
        repeats=1 + max(trial.repeat for trial in trials),
        planned_trials=planned if job.whole else len(attempts),
        absent_trials=absent if job.whole else 0,
        missing_data=["times of requests"],
        notes=list(_notes(job, trials)),
    )


def _trial_folders(path: Path) -> Iterator[Path]:
    """Yield the direct subfolders of a job. Links are not followed."""
    return (one for one in sorted(path.iterdir()) if one.is_dir() and not one.is_symlink())


def _ended(folders: Iterable[Path]) -> tuple[list[HarborAttempt], list[UnreadableResults]]:
    """Return two lists: the attempts that have a result, and the errors of damaged results.

    If an attempt was also copied to another folder, it counts once.
    """
    found: dict[str, HarborAttempt] = {}
    damaged: list[UnreadableResults] = []
    for folder in folders:
        if not (folder / RESULT_FILE).is_file():
            continue
        try:
            attempt = HarborAttempt.read(folder)
        except UnreadableResults as error:
            damaged.append(error)
            continue
        first = found.setdefault(text_or_empty(attempt.result.get("id")) or str(folder), attempt)
        if first.result != attempt.result:
            raise UnreadableResults(
                f"{folder} and {first.folder} are one trial of Harbor, and their results differ."
            )
    return list(found.values()), damaged


def _job(path: Path) -> Mapping[str, Any]:
    if not (path / RESULT_FILE).is_file():
        return {}
    try:
        return object_or_empty(read_json(path / RESULT_FILE))
    except UnreadableResults:
        return {}


def _slots(results: Iterable[Mapping[str, Any]]) -> SlotByAgentAndModel:
    """Return the slot (the name of the target within the run) of each (agent, model).

    The slot includes the agent's name if there are several agents.
    """
    entrants = list(dict.fromkeys(map(agent_and_model, results)))
    if len(entrants) == 1:
        return {entrants[0]: "primary"}
    several = len({agent for agent, _ in entrants}) > 1
    return {(agent, model): f"{agent} {model}" if several else model for agent, model in entrants}


def _notes(job: _Job, trials: Sequence[ForeignTrial]) -> Iterator[str]:
    if job.missing:
        yield f"{job.missing} trials have no result yet."
    if job.damaged:
        yield f"The results of {len(job.damaged)} trials are damaged, and left out: {job.damaged[0]}"
    names = dict.fromkeys(name for trial in trials for name in trial.scores)
    for name in names:
        without = sum(name not in trial.scores for trial in trials)
        if without:
            yield f"{name}: {without} trials have none; Harbor's own mean counts them 0, here they are left out."
