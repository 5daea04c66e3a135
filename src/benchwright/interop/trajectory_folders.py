"""Output folders of software-engineering agents: one trajectory per instance, and the patches that were submitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignTarget,
    ForeignTrial,
    UnreadableResults,
    damaged_trial,
)
from benchwright.interop.untrusted_files import object_or_empty, read_json
from benchwright.records import Record, Status

MAX_TRAJECTORIES = 50_000
NOT_GRADED_NOTE = (
    "Its patches are not graded: `benchwright run swe_bench --option predictions=PATH` does that."
)
PATCHES_FILE = "preds.json"
"""Name of the file in an output folder that lists the submitted patches by instance."""


class Trajectory(Record, frozen=True):
    """One trajectory (the record of an agent's work on one instance): its model, its program, and the trial.

    The trial's `answer` is the submitted patch. In a damaged trajectory, `model` and `program` cannot be read
    and are empty.
    """

    model: str
    program: str
    trial: ForeignTrial


def trajectory_files(path: Path, ending: str) -> list[Path]:
    """Return `path` itself if it is a file.

    If it is a folder, return the files with this ending in it and its direct subfolders. Links are not
    followed.

    Raises:
        UnreadableResults: If there are more than `MAX_TRAJECTORIES` files.
    """
    if path.is_file():
        return [path] if path.name.endswith(ending) else []
    if not path.is_dir():
        return []
    found = sorted(one for one in _beside_and_below(path) if one.name.endswith(ending))
    if len(found) > MAX_TRAJECTORIES:
        raise UnreadableResults(
            f"{path} holds {len(found):,} trajectories; at most {MAX_TRAJECTORIES:,} are read."
        )
    return found


def read_trajectories(
    files: Iterable[Path], ending: str, read: Callable[[Path], Trajectory]
) -> list[Trajectory]:
    """Read each trajectory.

    A damaged trajectory becomes a failed trial, which does not count against the model.

    Raises:
        UnreadableResults: If all trajectories are damaged.
    """
    told, errors = [], []
    for file in files:
        try:
            told.append(read(file))
        except UnreadableResults as error:
            errors.append(error)
            told.append(Trajectory("", "", damaged_trial(file.name.removesuffix(ending), error)))
    if errors and len(errors) == len(told):
        raise errors[0]
    return told


def run_from_trajectories(
    path: Path, form: str, told: Sequence[Trajectory], lacks: Sequence[str]
) -> ForeignRun:
    """Combine trajectories into one run. Each model is a target, and no trial has a score.

    A damaged trajectory does not name its model. It is counted with the first model.
    """
    models = list(dict.fromkeys(one.model for one in told if not one.trial.is_damaged))
    slots = dict(zip(models, ["primary"] if len(models) == 1 else models, strict=True))
    name = path.name.partition(".")[0] if path.is_file() else path.resolve().name
    listed = _listed(path)
    return ForeignRun(
        format=form,
        program=", ".join(dict.fromkeys(one.program for one in told if one.program)),
        path=path,
        task=name,
        targets=[ForeignTarget(slot, model) for model, slot in slots.items()],
        scores={},
        trials=[_in_slot(one.trial, slots.get(one.model, slots[models[0]])) for one in told],
        planned_trials=len({*(one.trial.sample for one in told), *listed}),
        missing_data=["scores", *lacks],
        notes=[NOT_GRADED_NOTE, *_notes(told, listed)],
    )


def status_of_exit(reason: str, failures: Mapping[str, Status]) -> tuple[Status, str | None]:
    """Return (status, reason) of a trial, derived from the exit status that its agent reported.

    `failures` is a mapping from words within an exit status to trial statuses. An exit status that is neither
    a submission nor contains one of these words counts as a limit. A trajectory without an exit status was
    written while its agent worked, so its run was stopped.
    """
    if reason.lower() == "submitted":
        return Status.ANSWERED, None
    if not reason:
        return Status.CANCELLED, "the agent was not done when its trajectory was written"
    for name, status in failures.items():
        if name in reason:
            return status, reason
    return Status.LIMIT, reason


def _listed(path: Path) -> frozenset[str]:
    """Return the instances in the folder's list of submitted patches. Empty if the list is missing or damaged."""
    if not (path / PATCHES_FILE).is_file():
        return frozenset()
    try:
        return frozenset(object_or_empty(read_json(path / PATCHES_FILE)))
    except UnreadableResults:
        return frozenset()


def _notes(told: Sequence[Trajectory], listed: frozenset[str]) -> Iterator[str]:
    without = sorted(listed - {one.trial.sample for one in told})
    if without:
        yield f"{PATCHES_FILE} names {len(without)} instances that have no trajectory, such as {without[0]}."


def _in_slot(trial: ForeignTrial, slot: str) -> ForeignTrial:
    return msgspec.structs.replace(trial, slot=slot)


def _beside_and_below(path: Path) -> Iterator[Path]:
    for one in path.iterdir():
        if one.is_symlink():
            continue
        if one.is_dir():
            yield from (inner for inner in one.iterdir() if inner.is_file() and not inner.is_symlink())
        elif one.is_file():
            yield one
