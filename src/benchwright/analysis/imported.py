"""Results of other programs that were taken into the store: what there is of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchwright.analysis.shortfalls import failed_trials
from benchwright.analysis.summary import summarise
from benchwright.interop.recognising import import_runs, results_below
from benchwright.records import Record
from benchwright.runs.listing import models_of
from benchwright.runs.manifest import origin_of, read_manifest
from benchwright.runs.table import read_table
from benchwright.statistic import Statistic


class ImportedRun(Record, frozen=True):
    """An imported run. `new` is false where it was in the store already; `scores` has the mean of each score of the
    first model, over the trials that have one. `lacks` and `notes` are those of its origin.
    """

    id: str
    new: bool
    path: str
    program: str
    task: str
    models: list[str]
    trials: int
    failed: int
    scores: dict[str, Statistic]
    lacks: list[str]
    notes: list[str]


def import_all(paths: Sequence[Path]) -> list[ImportedRun]:
    """Imports what each path holds: results of one program, or a folder of such.

    Raises:
        UserError: a path is of no known format, or damaged.
        JournalError: the store cannot be written.
    """
    return [
        _imported(kept.directory, new=kept.new)
        for path in paths
        for one in results_below(path)
        for kept in import_runs(one)
    ]


def _imported(directory: Path, *, new: bool) -> ImportedRun:
    manifest = read_manifest(directory)
    summary = summarise(manifest, read_table(directory))
    origin = origin_of(manifest)
    assert origin is not None
    return ImportedRun(
        id=manifest.id,
        new=new,
        path=origin.path,
        program=origin.program,
        task=manifest.task.name,
        models=models_of(manifest),
        trials=sum(target.trials for target in summary.targets),
        failed=sum(failed_trials(target.statuses) for target in summary.targets),
        scores={score.scorer: score.mean_scored for score in summary.targets[0].scores}
        if summary.targets
        else {},
        lacks=origin.lacks,
        notes=origin.notes,
    )
