"""Imports results of other programs into the store, and reports on each imported run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchwright.analysis.shortfalls import count_failed_trials
from benchwright.analysis.summary import summarise
from benchwright.interop.foreign_results import UnreadableResults
from benchwright.interop.result_formats import find_result_paths, import_runs
from benchwright.records import Record
from benchwright.runs.manifest import origin_of, read_manifest
from benchwright.runs.table import read_table
from benchwright.runs.tags_and_notes import models_of
from benchwright.statistic import Statistic


class ImportedRun(Record, frozen=True):
    """An imported run. `new`: False if the run was already in the store.

    `scores`: the mean of each score of the first model, over the trials that have a value. `lacks`: data that
    the results do not contain. `notes`: remarks on the import. `lacks` and `notes` are from the run's
    `Origin`.
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


class ImportReport(Record, frozen=True):
    """Result of an import. `unread`: a sentence for each result that could not be read, with the reason."""

    imported: list[ImportedRun]
    unread: list[str] = []


def import_results(paths: Sequence[Path]) -> ImportReport:
    """Import the contents of each path: results of one program, or a folder of results.

    Damaged results are skipped and reported.

    Raises:
        UserError: If a path is of no known format, or nothing at all can be read.
        JournalError: If the store cannot be written.
    """
    runs: list[ImportedRun] = []
    unread: list[UnreadableResults] = []
    for path in (one for given in paths for one in find_result_paths(given)):
        try:
            found = import_runs(path)
        except UnreadableResults as error:
            unread.append(error)
            continue
        runs += [_imported(kept.directory, new=kept.is_new) for kept in found.runs]
        unread += found.unreadable_results
    if unread and not runs:
        raise unread[0]
    return ImportReport(runs, [str(error) for error in unread])


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
        failed=sum(count_failed_trials(target.statuses) for target in summary.targets),
        scores={score.scorer: score.mean_scored for score in summary.targets[0].scores}
        if summary.targets
        else {},
        lacks=origin.lacks,
        notes=origin.notes,
    )
