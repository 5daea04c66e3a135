"""Reconstructs a run from its cache file if the run's journal is missing.

The cache file has results, but no conversations and no timings. Therefore the records of the new journal have
no requests and no body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from time import time_ns

from msgspec import UNSET

from benchwright.agents.cache.entry import CacheEntry
from benchwright.agents.cache.runs import DocumentedRun
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Scorer
from benchwright.records import MAX_COUNT, JournalLine, RunEvent, ScoreRecord, Status, Trial, TrialRecord
from benchwright.runs.counting_rules import NO_ANSWER_STATUSES
from benchwright.runs.journal import Journal
from benchwright.runs.keys import score_key

BATCH_SIZE = 1000


def restore_trials(
    directory: Path, plan: Plan, entry: CacheEntry, runs: Iterable[DocumentedRun], source: str
) -> int:
    """Write the journal of a new run from the results in a cache file. Return the number of restored trials.

    Skip results that are not in the plan, lack a score or have impossible figures. Of several results for the
    same row, repeat and model, the last one counts. `source`: the id recorded as the origin of the results.
    The new run is finished if the cached eval was completed and every trial of the plan was restored.
    Otherwise it can be resumed.

    Raises:
        UserError: If a row of the dataset cannot be read.
        JournalError: If the journal cannot be written.
    """
    places = {(run.row_index, run.run_index, run.model_tag): run for run in runs if _is_sound(run)}
    restored = 0
    detail = {"total": plan.trial_count} | ({"simulated": True} if entry.simulated else {})
    journal = Journal(directory)
    try:
        journal.write_lines(RunEvent("started", time_ns(), detail))
        lines = _lines(plan, places, source)
        while group := list(islice(lines, BATCH_SIZE)):
            journal.write_lines(*group)
            restored += sum(isinstance(line, TrialRecord) for line in group)
        if entry.status == "completed" and restored == plan.trial_count:
            journal.write_lines(RunEvent("finished", time_ns()))
    finally:
        journal.close()
    return restored


def _lines(
    plan: Plan, places: dict[tuple[int, int, str | None], DocumentedRun], source: str
) -> Iterator[JournalLine]:
    scorers = plan.task.scorers
    names = {scorer.name for scorer in scorers}
    for trial in plan.trials():
        tag = trial.target.slot if len(plan.targets) > 1 else None
        run = places.get((trial.sample.row_index, trial.repeat, tag))
        if run is None or (run.success and not names <= run.scores.keys()):
            continue
        yield _record(trial, run, source)
        if run.success:
            yield from _scores(trial, run, scorers)


def _record(trial: Trial, run: DocumentedRun, source: str) -> TrialRecord:
    """Return the journal record of a restored trial.

    A failed run counts as a failure of the agent, because the reason for the failure is known only as text.
    """
    return TrialRecord(
        key=trial.key,
        sample=trial.sample.id,
        target=trial.target.slot,
        status=_status(run),
        repeat=trial.repeat,
        group=trial.sample.group,
        labels=trial.sample.labels,
        reason=None if run.success else run.error,
        duration=round(run.duration_ms * 1e6),
        reused_from=source,
        restored_tokens=run.tokens,
        row=trial.sample.row,
    )


def _status(run: DocumentedRun) -> Status:
    """Return the status of a restored trial: an execution error if the run failed, and "answered" otherwise.

    If `unscored` states that there was no answer for a reason such as `truncated`, that reason is the status.
    """
    if not run.success:
        return Status.EXECUTION_ERROR
    ends = [
        why for why in _unscored(run).values() if why in NO_ANSWER_STATUSES and why is not Status.UNPARSED
    ]
    return ends[0] if ends else Status.ANSWERED


def _unscored(run: DocumentedRun) -> dict[str, Status]:
    return {} if run.unscored is UNSET else run.unscored


def _scores(trial: Trial, run: DocumentedRun, scorers: Sequence[Scorer]) -> Iterator[ScoreRecord]:
    for scorer in scorers:
        key = score_key(trial.key, scorer.name, scorer.fingerprint)
        why = _unscored(run).get(scorer.name)
        if why is None:
            yield ScoreRecord(key, trial.key, scorer.name, run.scores[scorer.name])
        else:
            failed = why is Status.GRADER_ERROR
            yield ScoreRecord(key, trial.key, scorer.name, None, why if failed else Status.UNPARSED)


def _is_sound(run: DocumentedRun) -> bool:
    """Return True if the figures of a run are within the limits of the journal's format."""
    figures = 0 <= run.tokens <= MAX_COUNT and 0 <= run.duration_ms <= MAX_COUNT / 1e6
    return figures and all(isfinite(score) for score in run.scores.values())
