"""What traps for careless readers of results have in common: a registry, and hands that change files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.interop.foreign_results import ForeignTrial
from benchwright.interop.result_formats import import_runs
from benchwright.interop.run_import import StoredRun
from benchwright.runs.manifest import origin_of, read_manifest

KINDS = ("prefix", "version", "missing", "doubles", "beside", "damaged")
"""Names that are prefixes of others, keys that a version lacks, parts that are missing, doubles, files that change
beside a digest, and damage."""

Trap = Callable[[Path], None]

TRAPS: dict[tuple[str, str], Trap | str] = {
    ("inspect", "prefix"): "a log names its task and its samples whole",
    ("inspect", "beside"): "a log is one file",
    ("promptfoo", "beside"): "results are one file",
    ("scores", "version"): "lines of ids and scores have one version",
    ("scores", "prefix"): "ids stand alone in a field",
    ("scores", "beside"): "lines are one file",
    ("atif", "prefix"): "a trajectory lies in the folder of its trial",
    ("atif", "doubles"): "a trial has one trajectory",
}
"""A trap for each format and kind, or the reason why there can be none."""


def trap(format: str, kind: str) -> Callable[[Trap], Trap]:
    """Put a function into the registry that builds a trap in a folder, and checks what is read."""

    def put(function: Trap) -> Trap:
        assert (format, kind) not in TRAPS
        TRAPS[format, kind] = function
        return function

    return put


def imported(path: Path) -> list[StoredRun]:
    return import_runs(path).runs


def notes(path: Path) -> str:
    """The notes of all runs of a path, once imported."""
    origins = [origin_of(read_manifest(run.directory)) for run in imported(path)]
    return "\n".join(note for origin in origins if origin is not None for note in origin.notes)


def values(trials: list[ForeignTrial], score: str) -> list[float | None]:
    return [trial.scores[score].value if score in trial.scores else None for trial in trials]


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def put_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def changed(path: Path, change: Callable[[Any], object]) -> Path:
    """Change a JSON file in place."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def cut(path: Path, characters: int = 20) -> Path:
    path.write_bytes(path.read_bytes()[:-characters])
    return path


def lm_results(folder: Path) -> Path:
    (found,) = folder.glob("*results_*.json")
    return found


def lm_samples(folder: Path) -> Path:
    (found,) = folder.glob("samples_*")
    return found


def evalscope_part(out: Path, part: str, name: str) -> Path:
    return out / part / out.name / name


def cells(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """Change the cells of promptfoo's results in place."""
    return changed(path, lambda whole: change(whole["results"]["results"]))


def harbor_trial(job: Path, number: int = 0) -> Path:
    (found,) = job.glob(f"sum-{number}__*")
    return found
