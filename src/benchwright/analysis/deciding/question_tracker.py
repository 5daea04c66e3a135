"""Decides a run's question (`--until`) sequentially, from its growing table.

Completed units are processed in order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from benchwright.analysis.deciding.model_comparison import ModelComparison, model_comparisons
from benchwright.analysis.deciding.score_bounds import ScoreBounds, is_trial_complete, score_bounds_of
from benchwright.runs.manifest import Manifest
from benchwright.runs.question import Question
from benchwright.runs.table import RunTable
from benchwright.stats.sequential.question_family import QuestionFamily


class QuestionTracker:
    """Processes a question's units (samples, or clusters of samples) one after the other, in the question's
    order.

    A unit is processed once all trials of its samples are complete. Units that complete out of order wait for
    the units before them: short answers arrive first, and short answers are easier. Trials in the rows `again`
    will be asked again, and are not complete before `add_retry` is called for them. The caller reads new trials
    into the table.

    Raises:
        ScoreOutOfRange: If a score, in `process_complete_units`, has no known bounds.
    """

    def __init__(
        self, question: Question, manifest: Manifest, table: RunTable, again: Collection[int] = ()
    ) -> None:
        self.question = question
        self.models = model_comparisons(question, manifest)
        self.family = QuestionFamily([one.decider for one in self.models])
        self.units = self.samples = 0
        self.scored: set[tuple[str, str]] = set()
        """The (slot, score) pairs for which at least one trial in the processed units was scored."""
        self.manifest, self.table, self._again = manifest, table, set(again)
        self._rows: dict[str, list[int]] = {}
        self._seen = 0
        self._trials = manifest.repeats * len(manifest.targets)

    @property
    def is_over(self) -> bool:
        """True if the question is decided, or all of its units were processed."""
        return self.family.is_decided or self.units == len(self.question.units)

    def add_retry(self, row: int) -> None:
        """Record that a trial was asked again."""
        self._again.discard(row)

    def process_complete_units(self) -> bool:
        """Process all units that are complete by now. Return True if the question is `is_over`."""
        for row in range(self._seen, len(self.table)):
            self._rows.setdefault(self.table.sample[row], []).append(row)
        self._seen = len(self.table)
        while not self.is_over and self._is_complete(unit := self.question.units[self.units]):
            self._take(unit)
        return self.is_over

    def _is_complete(self, unit: Sequence[str]) -> bool:
        return all(self._is_sample_complete(sample) for sample in unit)

    def _is_sample_complete(self, sample: str) -> bool:
        rows = self._rows.get(sample, [])
        return len(rows) == self._trials and all(
            row not in self._again and is_trial_complete(self.manifest, self.table, row) for row in rows
        )

    def _take(self, unit: Sequence[str]) -> None:
        self.units += 1
        self.samples += len(unit)
        for one in self.models:
            gaps = [self._gap(one, sample) for sample in unit]
            least, most = (sum(ends) / len(gaps) for ends in zip(*gaps, strict=True))
            one.add_unit(self.units - 1, ScoreBounds(least, most))
        self.family.distribute_error()
        for one in self.models:
            one.record_point()
        for sample in unit:
            del self._rows[sample]

    def _gap(self, one: ModelComparison, sample: str) -> ScoreBounds:
        """Return the lowest and highest possible difference new - old on a sample. Its repeats are averaged."""
        new = self._mean(one.slot, one.score, sample)
        old = self._mean(one.than, one.score, sample) if one.old is None else ScoreBounds(*one.old[sample])
        return ScoreBounds(new.lowest - old.highest, new.highest - old.lowest)

    def _mean(self, slot: str, score: str, sample: str) -> ScoreBounds:
        table = self.table
        found = [
            score_bounds_of(self.manifest, table, row, score)
            for row in self._rows[sample]
            if table.targets[table.target[row]] == slot
        ]
        if any(one.lowest == one.highest for one in found):
            self.scored.add((slot, score))
        least, most = (sum(ends) / len(found) for ends in zip(*found, strict=True))
        return ScoreBounds(least, most)
