"""Folders in which an agent for issues writes down what it did: a trajectory for each instance, and its patches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchwright.interop.foreign import ForeignRun, ForeignTarget, ForeignTrial, UnreadableResults
from benchwright.records import Record, Status

MOST_TRAJECTORIES = 50_000
NOT_GRADED = "Its patches are not graded: `benchwright run swe_bench --option predictions=PATH` does that."


class Told(Record, frozen=True):
    """One trajectory: whose it is, by which program, and the trial; its `answer` is the patch that was submitted."""

    model: str
    program: str
    trial: ForeignTrial


def trajectory_files(path: Path, ending: str) -> list[Path]:
    """The path itself, or the files with this ending in a folder and in those directly in it; links are not followed.

    Raises:
        UnreadableResults: there are too many.
    """
    if path.is_file():
        return [path] if path.name.endswith(ending) else []
    if not path.is_dir():
        return []
    found = sorted(one for one in _beside_and_below(path) if one.name.endswith(ending))
    if len(found) > MOST_TRAJECTORIES:
        raise UnreadableResults(
            f"{path} holds {len(found):,} trajectories; at most {MOST_TRAJECTORIES:,} are read."
        )
    return found


def run_of(path: Path, form: str, told: Sequence[Told], lacks: Sequence[str]) -> ForeignRun:
    """The run that trajectories make; each model is a target, and nothing has a score."""
    models = list(dict.fromkeys(one.model for one in told))
    slots = dict(zip(models, ["primary"] if len(models) == 1 else models, strict=True))
    name = path.name.partition(".")[0] if path.is_file() else path.resolve().name
    return ForeignRun(
        format=form,
        program=", ".join(dict.fromkeys(one.program for one in told)),
        path=path,
        task=name,
        targets=[ForeignTarget(slot, model) for model, slot in slots.items()],
        scores={},
        trials=[_in_slot(one.trial, slots[one.model]) for one in told],
        planned=len(told),
        lacks=["scores", *lacks],
        notes=[NOT_GRADED],
    )


def ending_of(reason: str, failures: dict[str, Status]) -> tuple[Status, str | None]:
    """The status of a trial by how its agent said that it ended; what is no failure and no end is a limit."""
    if reason.lower() == "submitted":
        return Status.ANSWERED, None
    for name, status in failures.items():
        if name in reason:
            return status, reason
    return Status.LIMIT, reason or "the agent was not done when its trajectory was written"


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
