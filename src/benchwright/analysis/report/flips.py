"""Samples that changed from one run to another, with both conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.comparison.records import Change, ScoreComparison
from benchwright.analysis.report.conversations import conversation, some_changes
from benchwright.analysis.report.records import Conversation, Flip, Flips
from benchwright.analysis.report.runs import Part

Place = tuple[str, int]


def flips_of(a: Part, b: Part, score: ScoreComparison, most: int) -> Flips:
    """The largest changes by one score; conversations as far as there are journals and samples mean the same.

    Raises:
        JournalError: a journal cannot be read.
    """
    chosen = some_changes(score.changes, most)
    same = a.data == b.data
    said_a, said_b = dict(_conversations(a, chosen)), dict(_conversations(b, chosen)) if same else {}
    won = sum(change.b > change.a for change in score.changes)
    notes = []
    if not same:
        notes.append("The data differs, so the samples have different ids: only answers are shown.")
    if len(chosen) < len(score.changes):
        notes.append(f"{len(chosen):,} of {len(score.changes):,} are shown, the largest changes first.")
    return Flips(
        a=a.run.letter,
        b=b.run.letter,
        score=score.score,
        won=won,
        lost=len(score.changes) - won,
        flips=[
            Flip(
                change, said_a.get((change.sample, change.repeat)), said_b.get((change.sample, change.repeat))
            )
            for change in chosen
        ],
        note=" ".join(notes),
    )


def _conversations(part: Part, changes: Sequence[Change]) -> Iterator[tuple[Place, Conversation]]:
    table, slot = part.table, part.slot
    if table is None or slot is None:
        return
    target = table.targets.find(slot)
    for change in changes:
        for row in table.sample.places(change.sample):
            if table.target[row] == target and table.repeat[row] == change.repeat and table.is_done(row):
                yield (change.sample, change.repeat), conversation(table, row)
