"""All attempts at one sample of a run, with the conversation of each."""

from __future__ import annotations

import msgspec

from benchwright.analysis.trial_preview import TrialPreview, trial_preview
from benchwright.errors import JournalError, UserError
from benchwright.records import ScoreRecord, TrialRecord
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import TrialBody, read_body
from benchwright.runs.table import RunTable


class Transcript(msgspec.Struct, omit_defaults=True):
    """One attempt at a trial: its journal record, its body (None if it was lost), its scores, and its preview."""

    trial: TrialRecord
    body: TrialBody | None
    scores: list[ScoreRecord] = []
    preview: TrialPreview = msgspec.field(default=TrialPreview(), name="gist")


def sample_of_row(table: RunTable, row: int) -> str:
    """Return the id of the sample that comes from this row of the dataset."""
    if not table.dataset_row.max_number:
        return str(row)
    import numpy as np

    found = np.flatnonzero(table.dataset_row.equal_mask(row + 1))
    return table.sample[int(found[0])] if len(found) else str(row)


def transcripts(table: RunTable, sample: str) -> list[Transcript]:
    """Return every attempt at a sample, ordered by target, repeat and attempt.

    Raises:
        UserError: If the run has no such sample.
        JournalError: If the journal cannot be read.
    """
    attempts = [attempt for row in table.sample.rows_of(sample) for attempt in table.read_attempts(row)]
    if not attempts:
        raise UserError(f"The run {table.directory.name} has no trial of row {sample} (yet).")
    found = [_transcript(table, attempt) for attempt in attempts]
    return sorted(found, key=lambda one: (one.trial.target, one.trial.repeat, one.trial.attempt))


def _transcript(table: RunTable, attempt: ScoredTrial) -> Transcript:
    body = _body(table, attempt.record)
    return Transcript(attempt.record, body, list(attempt.scores.values()), trial_preview(attempt, body))


def _body(table: RunTable, record: TrialRecord) -> TrialBody | None:
    try:
        return read_body(table.directory, record)
    except JournalError:
        return None
