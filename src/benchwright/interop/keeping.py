"""Foreign results written into the store as runs, so that everything that reads a run reads them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import xxhash

from benchwright.errors import JournalError
from benchwright.home import runs_directory
from benchwright.interop.foreign import (
    ForeignRun,
    ForeignScale,
    ForeignTrial,
    UnreadableResults,
)
from benchwright.interop.lines import score_lines, trial_line
from benchwright.records import RunEvent, Target, TaskSpec
from benchwright.runs.about import IMPORT
from benchwright.runs.journal import Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import MANIFEST, Manifest, ScorerInfo, read_manifest, write_manifest
from benchwright.runs.store import run_id

AT_ONCE = 256
"""Trials that are written by one write."""

MOST_FILES = 200_000


class ImportedRun(NamedTuple):
    """A run in the store; `new` where it was not there before."""

    directory: Path
    new: bool


def digest_of(path: Path) -> str:
    """A digest of a file, or of the names and the content of all files below a folder (links aside): what makes an
    import the same.

    Raises:
        UnreadableResults: something cannot be read, or there are too many files.
    """
    files = (
        [path]
        if path.is_file()
        else sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
    )
    if len(files) > MOST_FILES:
        raise UnreadableResults(f"{path} holds {len(files):,} files; at most {MOST_FILES:,} are read.")
    digest = xxhash.xxh3_128()
    for file in files:
        digest.update(f"{file.relative_to(path)}\0".encode("utf-8", "surrogatepass"))
        try:
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise UnreadableResults(f"{file} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()


def keep(run: ForeignRun, digest: str) -> ImportedRun:
    """Writes a run into the store, unless it is there; `digest` is that of the path which it was read from.

    The run's directory appears with all that is in it, or not at all.

    Raises:
        UnreadableResults: the results are damaged, or have the same trial twice.
        JournalError: the store cannot be written.
    """
    identity = fingerprint(run.format, run.task, [target.slot for target in run.targets], digest)
    name = f"{run.task} {run.targets[0].model}" if len(run.targets) == 1 else run.task
    created_at = run.created_at or int(run.path.stat().st_mtime * 1e9)
    for known in runs_directory().glob(f"*-{identity[:8]}/{MANIFEST}"):
        if read_manifest(known.parent).fingerprint == identity:
            return ImportedRun(known.parent, new=False)
    directory = runs_directory() / run_id(name, identity, created_at)
    try:
        runs_directory().mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".import-", dir=runs_directory()))
    except OSError as error:
        raise JournalError(f"Cannot write to {runs_directory()}: {error.strerror}.") from None
    try:
        scores = _write_trials(run, unfinished, identity, created_at)
        write_manifest(unfinished, _manifest(run, directory.name, name, identity, created_at, scores))
        os.replace(unfinished, directory)
    except OSError as error:
        if (directory / MANIFEST).exists():  # another process was as quick
            return ImportedRun(directory, new=False)
        raise JournalError(f"Cannot write the run to {directory}: {error.strerror}.") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return ImportedRun(directory, new=True)


def _manifest(
    run: ForeignRun,
    identity: str,
    name: str,
    made_of: str,
    created_at: int,
    scores: dict[str, ForeignScale],
) -> Manifest:
    origin = {
        "format": run.format,
        "program": run.program,
        "path": str(run.path.resolve()),
        "lacks": run.lacks,
        "notes": run.notes,
        "imported_at": time.time_ns(),
        "scores": msgspec.to_builtins(scores),
    }
    return Manifest(
        id=identity,
        kind=IMPORT,
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


def _write_trials(
    run: ForeignRun, directory: Path, identity: str, created_at: int
) -> dict[str, ForeignScale]:
    """Writes the journal of a run; returns its scores with what is known of them."""
    journal = Journal(directory)
    try:
        journal.write(RunEvent("started", created_at, {"total": run.planned or 0}))
        scales, done, latest = _Scales(run), 0, created_at
        seen: set[str] = set()
        trials = iter(run.trials)
        while some := list(islice(trials, AT_ONCE)):
            for trial in some:
                key = _key(identity, trial)
                if key in seen:
                    raise UnreadableResults(
                        f"{run.path}: sample {trial.sample!r}, repeat {trial.repeat + 1}, appears twice."
                    )
                seen.add(key)
                scales.add(trial)
                latest = max(latest, trial.started_at + trial.duration)
            done += len(some)
            journal.write_group(
                [trial_line(trial, _key(identity, trial)) for trial in some],
                [score for trial in some for score in score_lines(trial, _key(identity, trial))],
            )
        if run.state != "unfinished":
            ended = max(latest, run.ended_at)
            journal.write(RunEvent(run.state, ended, {"total": run.planned or done, "finished": done}))
    finally:
        journal.close()
    return scales.found()


def _key(identity: str, trial: ForeignTrial) -> str:
    return fingerprint(identity, trial.slot, trial.sample, trial.repeat)


class _Scales:
    """What is known of the scores: what the format says, and whether a score was ever anything but 0 or 1."""

    def __init__(self, run: ForeignRun) -> None:
        self._scales = dict(run.scores)
        self._graded: set[str] = set()

    def add(self, trial: ForeignTrial) -> None:
        """Takes the scores of a trial in."""
        for name, score in trial.scores.items():
            self._scales.setdefault(name, ForeignScale())
            if score.value is not None and score.value not in (0, 1):
                self._graded.add(name)

    def found(self) -> dict[str, ForeignScale]:
        """The scores; of one that is 0 or 1 everywhere, 1 passes."""
        return {
            name: scale
            if name in self._graded or scale.passing is not None or scale.lower_is_better
            else msgspec.structs.replace(scale, low=0.0, high=1.0, passing=1.0)
            for name, scale in self._scales.items()
        }
