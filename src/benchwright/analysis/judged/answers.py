"""The answers of a run that have a judge's verdict, and the human labels of these answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchwright.analysis.scores import mean_of, score_values_of
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.human_labels import HumanLabels, RunAnswerLabel
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore
from benchwright.stats.judge_agreement import RateEstimate, jeffreys_proportion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchwright.stats.arrays import Vector


def judged_rows(table: RunTable, score: str, target: str | None = None) -> NDArray[np.uint32]:
    """Return the rows of counted trials that have a verdict, of one target or of all targets."""
    rows = table.counted_rows(target)
    if score not in table.scores:
        return rows[:0]
    has_verdict = table.scores[score].states(rows) == ScoreState.SCORED
    found: NDArray[np.uint32] = rows[has_verdict & table.scored_mask(score)[rows]]
    return found


class JudgedAnswers(NamedTuple):
    """The answers of a target that have a verdict of the judge.

    `effective_size`: number of independent answers that carry as much information. `answer_rate`: share of all
    trials that have a verdict; None if all have one. `mean_score`: mean over all scored trials.
    """

    table_rows: NDArray[np.uint32]
    verdicts: Vector
    effective_size: float
    answer_rate: RateEstimate | None
    mean_score: float | None


class LabelVerdictPairs(NamedTuple):
    """Columns (n,) of labelled answers: the label and the verdict, each from 0 to 1, and the answer's length
    in characters.
    """

    labels: Vector
    verdicts: Vector
    answer_lengths: Vector


class LabelledAnswers(NamedTuple):
    """Human labels paired with the judge's verdicts.

    `own_pairs`: pairs for this target's answers. `table_rows`: the rows of these answers in the table.
    `other_pairs`: pairs for answers from outside the run. `unusable_labels`: number of labels that could not be
    used.
    """

    table_rows: NDArray[np.uint32]
    own_pairs: LabelVerdictPairs
    other_pairs: LabelVerdictPairs
    unusable_labels: int

    def pairs(self) -> LabelVerdictPairs:
        """Return all pairs. The pairs for this target's answers come first."""
        return LabelVerdictPairs(
            *(np.concatenate(parts) for parts in zip(self.own_pairs, self.other_pairs, strict=True))
        )


def judged_answers_of(manifest: Manifest, table: RunTable, score: str, target: str) -> JudgedAnswers:
    """Return the answers of a target's counted trials that have a verdict.

    If there are repeats or clusters of samples, the effective number of answers follows from the standard error
    of their mean.
    """
    rows = judged_rows(table, score, target)
    verdicts = table.scores[score].values(rows)
    everything = score_values_of(manifest, table, score, table.counted_mask(target))
    estimate = mean_of(score_values_of(manifest, table, score, rows))
    effective = float(rows.size)
    if not isinstance(estimate, NoScore) and estimate.se and 0 < estimate.mean < 1:
        variance = float(verdicts.var())
        effective = min(effective, max(1.0, variance / estimate.se**2))
    total = effective * len(everything.values) / rows.size if rows.size else 0.0
    answered = jeffreys_proportion(effective, total) if everything.no_answer_count and rows.size else None
    mean = float(everything.values.mean()) if len(everything.values) else None
    return JudgedAnswers(rows, verdicts, effective, answered, mean)


def pair_labels_with_verdicts(table: RunTable, kept: HumanLabels, answers: JudgedAnswers) -> LabelledAnswers:
    """Pair each human label with the judge's verdict on the same answer.

    Labels for this target's current answers and labels for answers from outside the run are kept apart.
    Labels without a verdict, or for an earlier attempt, are only counted (`left_out`).
    """
    judged = {int(row): place for place, row in enumerate(answers.table_rows)}
    rows: list[int] = []
    own: list[tuple[float, float, float]] = []
    left_out = kept.unjudged
    for label in kept.own:
        row = next(
            (row for row in _rows_of(table, label.sample) if row in judged and _is_of(table, row, label)),
            None,
        )
        if row is None:
            left_out += 1
            continue
        rows.append(row)
        own.append((label.label, float(answers.verdicts[judged[row]]), label.length))
    others = [(one.label, one.verdict, float(one.length)) for one in kept.others]
    return LabelledAnswers(np.array(rows, np.uint32), _columns(own), _columns(others), left_out)


def _rows_of(table: RunTable, sample: str) -> list[int]:
    return [int(row) for row in table.sample.rows_of(sample)]


def _is_of(table: RunTable, row: int, label: RunAnswerLabel) -> bool:
    record = table.read_record(row)
    return (record.key, record.attempt) == (label.trial, label.attempt)


def _columns(rows: list[tuple[float, float, float]]) -> LabelVerdictPairs:
    return LabelVerdictPairs(*np.array(rows, float).reshape(-1, 3).T)
