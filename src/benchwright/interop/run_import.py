"""Stores another program's results as runs, so that everything that reads a run can read them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchwright.errors import JournalError
from benchwright.home import runs_directory
from benchwright.interop.foreign_results import ForeignRun, ForeignTrial
from benchwright.interop.import_tally import ImportTally
from benchwright.interop.journal_lines import score_lines, trial_line
from benchwright.interop.source_files import SourceFiles
from benchwright.records import RunEvent, ScoreRecord, Target, TaskSpec, TrialRecord
from benchwright.runs.journal import Journal, encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import MANIFEST_FILE, Manifest, ScorerInfo, read_manifest, write_manifest
from benchwright.runs.manifest_facts import IMPORT_KIND
from benchwright.runs.store import run_id

TRIALS_PER_WRITE = 256
"""Number of trials that are written to the journal at once."""

READER_VERSION = 2
"""Version of the code that reads other programs' results.

Increment it when that code changes. Files imported before the change are then imported anew.
"""


class StoredRun(NamedTuple):
    """A run in the store. `is_new`: True if this import created it."""

    directory: Path
    is_new: bool


def store_run(run: ForeignRun, sources: SourceFiles) -> StoredRun:
    """Write a run into the store, unless the store has it already.

    `sources`: the files from which the run is read. The run's directory appears complete or not at all.

    Raises:
        UnreadableResults: If the results are damaged, contain a trial twice with different contents, or changed
            while they were read.
        JournalError: If the store cannot be written.
    """
    slots = [target.slot for target in run.targets]
    identity = fingerprint(run.format, READER_VERSION, run.task, slots, sources.digest(run))
    name = f"{run.task} {run.targets[0].model}" if len(run.targets) == 1 else run.task
    created_at = run.created_at or int(run.path.stat().st_mtime * 1e9)
    for known in runs_directory().glob(f"*-{identity[:8]}/{MANIFEST_FILE}"):
        if read_manifest(known.parent).fingerprint == identity:
            return StoredRun(known.parent, is_new=False)
    directory = runs_directory() / run_id(name, identity, created_at)
    try:
        runs_directory().mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".import-", dir=runs_directory()))
    except OSError as error:
        raise JournalError(f"Cannot write to {runs_directory()}: {error.strerror}.") from None
    try:
        tally = _write_trials(run, unfinished, identity, created_at)
        sources.check_unchanged(run)
        write_manifest(unfinished, _manifest(run, directory.name, name, identity, created_at, tally))
        os.replace(unfinished, directory)
    except OSError as error:
        if (directory / MANIFEST_FILE).exists():  # another process imported it meanwhile
            return StoredRun(directory, is_new=False)
        raise JournalError(f"Cannot write the run to {directory}: {error.strerror}.") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return StoredRun(directory, is_new=True)


def _manifest(
    run: ForeignRun,
    identity: str,
    name: str,
    made_of: str,
    created_at: int,
    tally: ImportTally,
) -> Manifest:
    scores = tally.score_scales()
    origin = {
        "format": run.format,
        "program": run.program,
        "path": str(run.path.resolve()),
        "lacks": run.missing_data,
        "notes": [*run.notes, *tally.notes()],
        "imported_at": time.time_ns(),
        "scores": msgspec.to_builtins(scores),
    }
    return Manifest(
        id=identity,
        kind=IMPORT_KIND,
        name=name,
        fingerprint=made_of,
        created_at=created_at,
        task=TaskSpec(run.task, run.version, made_of),
        targets=[Target(one.slot, one.model, one.base_url, dict(one.settings)) for one in run.targets],
        scorers=[ScorerInfo(score, fingerprint(made_of, score)) for score in scores],
        repeats=run.repeats,
        concurrency=None,
        typed_models={one.slot: one.model for one in run.targets},
        settings=dict(run.settings),
        about={"origin": origin},
    )


def _write_trials(run: ForeignRun, directory: Path, identity: str, created_at: int) -> ImportTally:
    """Write the journal of a run and return the tally of its trials."""
    journal, tally = Journal(directory), ImportTally(run)
    try:
        told = {} if run.planned_trials is None else {"total": run.planned_trials}
        journal.write_lines(RunEvent("started", created_at, told))
        latest = created_at
        trials = iter(run.trials)
        while some := list(islice(trials, TRIALS_PER_WRITE)):
            entries = list(_entries(some, identity, tally))
            journal.write_trials_and_scores(
                [one.line for one in entries], [score for one in entries for score in one.scores]
            )
            latest = max(latest, *(trial.started_at + trial.duration for trial in some))
        tally.require_readable_trial()
        if run.state != "unfinished":
            ended, count = max(latest, run.ended_at), tally.trial_count
            journal.write_lines(
                RunEvent(run.state, ended, {"total": run.planned_trials or count, "finished": count})
            )
    finally:
        journal.close()
    return tally


class _Entry(NamedTuple):
    """The journal entries of a trial: the trial's line and body, and the lines of its scores."""

    line: tuple[TrialRecord, bytes]
    scores: list[ScoreRecord]


def _entries(trials: Iterable[ForeignTrial], identity: str, tally: ImportTally) -> Iterator[_Entry]:
    """Yield the journal entries of trials. A trial that was written before with equal content is skipped."""
    for trial in trials:
        key = _key(identity, trial)
        entry = _Entry(trial_line(trial, key), list(score_lines(trial, key)))
        if tally.add_trial(trial, key, encode_json([entry.line[0], entry.scores]) + entry.line[1]):
            yield entry


def _key(identity: str, trial: ForeignTrial) -> str:
    return fingerprint(identity, trial.slot, trial.sample, trial.repeat)
