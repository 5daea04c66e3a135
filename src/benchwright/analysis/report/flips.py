"""Samples whose score changed from one run to another, with both conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchwright.analysis.comparison.records import ScoreChange, ScoreComparison
from benchwright.analysis.report.conversations import conversation_at, select_changes
from benchwright.analysis.report.records import Conversation, Flip, Flips, TrialTexts
from benchwright.analysis.report.run_sections import ReportRun
from benchwright.analysis.report.trial_texts import read_trial_texts
from benchwright.runs.table import RunTable

SampleAndRepeat = tuple[str, int]
TableRow = tuple[RunTable, int]


def flips_of(a: ReportRun, b: ReportRun, score: ScoreComparison, most: int) -> Flips:
    """Return the samples with the largest changes of a score from one run to another.

    The samples have conversations if both runs have journals and the data of both runs are the same.

    Raises:
        JournalError: If a journal cannot be read.
    """
    chosen = select_changes(score, most)
    same = a.data_digests == b.data_digests
    there_a, there_b = dict(_trials(a, chosen)), dict(_trials(b, chosen)) if same else {}
    won, lost = map(len, score.won_and_lost_changes())
    notes = []
    if not same:
        notes.append("The data differs, so the samples have different ids: only answers are shown.")
    if len(chosen) < len(score.changes):
        notes.append(f"{len(chosen):,} of {len(score.changes):,} are shown, the largest changes first.")
    return Flips(
        a=a.section.letter,
        b=b.section.letter,
        score=score.score,
        won=won,
        lost=lost,
        flips=[_flip(change, score, there_a, there_b) for change in chosen],
        note=" ".join(notes),
    )


def _flip(
    change: ScoreChange,
    score: ScoreComparison,
    a: Mapping[SampleAndRepeat, TableRow],
    b: Mapping[SampleAndRepeat, TableRow],
) -> Flip:
    place = change.sample, change.repeat
    return Flip(change, score.gain_of_change(change) > 0, *_side(a.get(place)), *_side(b.get(place)))


def _side(trial: TableRow | None) -> tuple[Conversation | None, TrialTexts | None]:
    if trial is None:
        return None, None
    table, row = trial
    return conversation_at(table, row), read_trial_texts(table.directory, table.read_trial(row))


def _trials(part: ReportRun, changes: Sequence[ScoreChange]) -> Iterator[tuple[SampleAndRepeat, TableRow]]:
    table, slot = part.table, part.slot
    if table is None or slot is None:
        return
    target = table.targets.find_code(slot)
    for change in changes:
        for row in table.sample.rows_of(change.sample):
            if table.target[row] == target and table.repeat[row] == change.repeat and table.is_counted(row):
                yield (change.sample, change.repeat), (table, row)
