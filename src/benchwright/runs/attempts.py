"""Reads attempts at trials from their lines in the journal."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.errors import JournalError
from benchwright.records import Record, ScoreRecord, Status, TrialRecord
from benchwright.runs.counting_rules import combine_statuses
from benchwright.runs.flags import Flag, flags_in
from benchwright.runs.journal_tail import JournalTail


class FormerAttempt(Record, frozen=True):
    """An attempt that does not count: the offset of its line in the journal, and the offsets of its scores'
    lines.
    """

    line_offset: int
    score_offsets: tuple[int, ...] = ()


class ScoredTrial(Record, frozen=True):
    """One attempt at a trial: its record, and a mapping from the names of scorers to its scores."""

    record: TrialRecord
    scores: dict[str, ScoreRecord]

    @property
    def status(self) -> Status:
        """The status of the trial, combined with the statuses of its scores."""
        return combine_statuses(self.record.status, [score.status for score in self.scores.values()])

    @property
    def flags(self) -> list[Flag]:
        """The flags in the details of all scores, each once."""
        return list(dict.fromkeys(flag for score in self.scores.values() for flag in flags_in(score.detail)))


def read_scored_trial(tail: JournalTail, line: int, score_lines: Sequence[int]) -> ScoredTrial:
    """Read the attempt whose line begins at offset `line`, with the scores whose lines begin at `score_lines`.

    Raises:
        JournalError: If a line cannot be read.
    """
    scores = (tail.read_line_at(offset) for offset in sorted(score_lines))
    return ScoredTrial(
        read_trial_record(tail, line), {one.scorer: one for one in scores if isinstance(one, ScoreRecord)}
    )


def read_trial_record(tail: JournalTail, offset: int) -> TrialRecord:
    """Read the trial record whose line begins at an offset.

    Raises:
        JournalError: If the line cannot be read or is not a trial record.
    """
    record = tail.read_line_at(offset)
    if not isinstance(record, TrialRecord):
        raise JournalError(f"{tail.path}: there is no trial at byte {offset}.")
    return record
