"""Folders in a comparison: the runs and result files in each folder, and which of them have the same task."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchwright.analysis.comparison.references import ResolvedReference, resolve_reference
from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.errors import UserError
from benchwright.interop.result_formats import find_result_paths, format_of, import_runs
from benchwright.records import Record
from benchwright.runs.manifest import MANIFEST_FILE
from benchwright.user_paths import expand_user_path

RUNS_FOLDER = "runs"
"""Name of the folder in a Benchwright home directory that holds the runs."""
JSON_LINES_FORMAT = "JSON Lines"


class ComparedFolder(Record, frozen=True):
    """The runs and result files found in a folder, the oldest first.

    `notes`: a message for each file that was not read.
    """

    path: Path
    references: list[ResolvedReference]
    notes: list[str] = []


def read_folder(reference: str) -> ComparedFolder | None:
    """Read the contents of a folder: runs and result files of Benchwright.

    If there are none, read results of other programs. Return None if the reference is not a folder of several
    results: a run, a file, or results that are one run.

    Raises:
        UserError: If the folder contains nothing that can be compared.
        JournalError: If a run cannot be read, or the store cannot be written.
    """
    path = expand_user_path(reference)
    if not path.is_dir() or (path / MANIFEST_FILE).exists():
        return None
    own = list(_own(path)) or list(_own(path / RUNS_FOLDER))
    if own:
        return ComparedFolder(path, own)
    try:
        parts = find_result_paths(path)
    except UserError:
        raise UserError(f"{path} holds no runs, and no results that can be read.") from None
    members, notes = [], []
    for part in parts:
        found = import_runs(part)
        members += [
            ResolvedReference(str(part), run=RunSides(run.directory, str(part))) for run in found.runs
        ]
        notes += [f"not read: {error}" for error in found.unreadable_results]
    return ComparedFolder(path, members, notes)


def _own(path: Path) -> Iterator[ResolvedReference]:
    """Yield the runs and result files in a folder. Other JSON files are ignored."""
    if not path.is_dir():
        return
    for one in sorted(path.iterdir()):
        if (one / MANIFEST_FILE).is_file() or (one.suffix == ".json" and one.is_file() and _has_results(one)):
            yield resolve_reference(str(one))


def _has_results(path: Path) -> bool:
    """Return True if a file has the keys of a result file written by `run` or by `eval -o`."""
    if format_of(path) is not None:
        return False
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    return {"benchmark", "model"} <= found.keys() or (
        "config" in found and ("rows" in found or "runs" in found)
    )


class MatchedTasks(NamedTuple):
    """Pairs of sides. The two sides of a pair have the same task.

    `notes`: messages about results that occur twice, have different names, or match no result of the other
    folder.
    """

    pairs: list[tuple[Side, Side]]
    notes: list[str]


def match_tasks(first: Sequence[Side], second: Sequence[Side], names: tuple[str, str]) -> MatchedTasks:
    """Pair the results of two folders by task. If a folder holds several models, pair them by task and model.

    If there are several runs of one task and model, the last one counts. If each folder holds a single task,
    the two tasks are paired whatever their names. Tasks of different programs are also paired if their names
    differ only by a prefix before a slash.
    """
    notes: list[str] = []
    left, right = (_latest(sides, name, notes) for sides, name in zip((first, second), names, strict=True))
    partner = _partners(list(left), list(right))
    pairs: list[tuple[Side, Side]] = []
    for task, other in partner.items():
        found = _by_model(left[task], right[other])
        if not found:
            notes.append(
                f"{task} is there of several models on a side, and of none on both: it is not compared"
            )
        if task != other:
            notes.append(f"{task} of {names[0]} is compared with {other} of {names[1]}")
        pairs += found
    for name, tasks, known in (
        (names[0], left, partner.keys()),
        (names[1], right, set(partner.values())),
    ):
        alone = [task for task in tasks if task not in known]
        if alone:
            notes.append(f"only in {name}: {', '.join(alone)}")
    return MatchedTasks(pairs, notes)


def task_of(side: Side) -> str:
    """Return a side's task with its variant. If the side is a file of plain ids and scores, return the file's name."""
    facts = side.facts
    if facts.source_program == JSON_LINES_FORMAT:
        return Path(facts.reference).stem
    return facts.subject if facts.variant is None else f"{facts.subject}:{facts.variant}"


def _latest(sides: Sequence[Side], folder: str, notes: list[str]) -> dict[str, dict[str, Side]]:
    """Return the sides as {task: {model: side}}.

    Of several sides for a task and model, keep the last, and add a message to `notes`.
    """
    found: defaultdict[str, dict[str, Side]] = defaultdict(dict)
    for side in sides:
        task, model = task_of(side), side.facts.title
        if model in found[task]:
            notes.append(f"{folder} holds several results of {task} by {model}: the last one counts")
        found[task][model] = side
    return dict(found)


def _partners(left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    """Return a mapping from each task of the first folder to the matching task of the second.

    Unmatched tasks are left out.
    """
    if len(left) == len(right) == 1:
        return {left[0]: right[0]}
    found = {task: task for task in left if task in right}
    rest = {_last_part(task): task for task in right if task not in found}
    for task in left:
        if task not in found and (other := rest.get(_last_part(task))) is not None:
            found[task] = other
    return found


def _last_part(task: str) -> str:
    return task.rpartition("/")[2].lower().replace("-", "_")


def _by_model(left: dict[str, Side], right: dict[str, Side]) -> list[tuple[Side, Side]]:
    if len(left) == len(right) == 1:
        return [(next(iter(left.values())), next(iter(right.values())))]
    return [(side, right[model]) for model, side in left.items() if model in right]
