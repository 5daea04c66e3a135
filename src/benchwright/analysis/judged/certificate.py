"""The certificate of a judged score: the judge's agreement with human labels, and the corrected score.

If the labels cannot support a correction, the score is not corrected, and the certificate contains the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchwright.analysis.judged.answers import (
    JudgedAnswers,
    LabelledAnswers,
    judged_answers_of,
    pair_labels_with_verdicts,
)
from benchwright.analysis.judged.records import Certificate
from benchwright.analysis.scores import score_scale_of
from benchwright.formats import count_with_noun
from benchwright.runs.human_labels import read_labels
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.stats.arrays import are_binary
from benchwright.stats.distributions import hypergeometric_p_value
from benchwright.stats.judge_agreement import (
    CorrectedMean,
    count_agreement,
    estimate_agreement,
    post_stratified_mean,
    prediction_powered_mean,
    rogan_gladen_mean,
    youden_index,
)
from benchwright.stats.rank_tests import rank_association
from benchwright.stats.score_means import estimate_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchwright.stats.arrays import Vector

MIN_LABELS = 50
"""Minimum number of human labels for a correction of the score."""

MIN_RANDOM_SAMPLE_P = 0.01
"""Smallest p-value at which the labelled answers still count as a random sample of all answers.

The p-value is that of a test of random sampling.
"""


def certificate_of(manifest: Manifest, table: RunTable, score: str, target: str) -> Certificate | None:
    """Return the certificate of a target's score. None if the run has no labels for the score.

    Raises:
        UserError: If the labels cannot be read.
    """
    kept = read_labels(table.directory)
    if kept is None or kept.scorer != score or score not in table.scores:
        return None
    answers = judged_answers_of(manifest, table, score, target)
    seen = pair_labels_with_verdicts(table, kept, answers)
    pairs = seen.pairs()
    threshold = 1.0 if (passing := score_scale_of(manifest, score).pass_threshold) is None else passing
    human, judge = pairs.labels >= threshold, pairs.verdicts >= threshold
    counts = count_agreement(human, judge)
    refusal = None if counts.n else "no label is of an answer that has a verdict"
    corrected = None
    if refusal is None:
        corrected, refusal = _corrected(table, answers, seen)
    longer = rank_association(human != judge, pairs.answer_lengths, range(counts.n)) if counts.n else None
    return Certificate(
        source=kept.source,
        own=len(seen.table_rows),
        other=len(kept.others),
        left_out=seen.unusable_labels,
        threshold=threshold,
        agreement=estimate_agreement(counts) if counts.n else None,
        raw=answers.mean_score,
        corrected=corrected,
        refusal=refusal,
        wrong_longer=None
        if longer is None or longer.probability_higher_at_0 is None
        else 1 - longer.probability_higher_at_0,
        wrong_longer_p=None if longer is None else longer.p_value,
    )


def _corrected(
    table: RunTable, answers: JudgedAnswers, seen: LabelledAnswers
) -> tuple[CorrectedMean | None, str | None]:
    """Return (corrected mean, None). If there is no corrected mean, return (None, the reason)."""
    if not answers.table_rows.size:
        return None, "no answer has a verdict"
    pairs = seen.pairs()
    binary = are_binary(answers.verdicts) and are_binary(pairs.labels)
    n = pairs.labels.size
    if n < MIN_LABELS:
        return None, f"{count_with_noun(n, 'label')}; at least {MIN_LABELS} are needed"
    if len(seen.table_rows) >= MIN_LABELS:
        refusal = _drawn_badly(table, answers, seen, binary=binary)
        return (None, refusal) if refusal else (_by_own(table, answers, seen, binary=binary), None)
    if not seen.other_pairs.labels.size:
        return (
            None,
            f"{count_with_noun(len(seen.table_rows), 'label')} of this model's answers; at least "
            f"{MIN_LABELS} are needed",
        )
    if not binary:
        return None, "graded scores need labels of the run's own answers"
    counts = count_agreement(pairs.labels, pairs.verdicts)
    if counts.human_right_count in (0, n):
        return (
            None,
            f"all labels are {'right' if counts.human_right_count else 'wrong'}; both kinds are needed",
        )
    if youden_index(counts).low <= 0:
        return (
            None,
            "the labels do not show that the judge knows right from wrong (sensitivity + specificity > 1)",
        )
    right = answers.effective_size * float(answers.verdicts.mean())
    return rogan_gladen_mean(counts, right, answers.effective_size, answers.answer_rate), None


def _by_own(table: RunTable, answers: JudgedAnswers, seen: LabelledAnswers, *, binary: bool) -> CorrectedMean:
    labels, verdicts, _ = seen.own_pairs
    label_effect = _design_effect(table, labels, seen.table_rows)
    if binary:
        counts = count_agreement(labels, verdicts)
        right = answers.effective_size * float(answers.verdicts.mean())
        return post_stratified_mean(
            counts, right, answers.effective_size, answers.answer_rate, design_effect=label_effect
        )
    rest = answers.verdicts[~np.isin(answers.table_rows, seen.table_rows)]
    effect = answers.table_rows.size / answers.effective_size
    return prediction_powered_mean(
        labels, verdicts, rest, answers.answer_rate, design_effect=effect, label_effect=label_effect
    )


def _design_effect(table: RunTable, labels: Vector, rows: NDArray[np.uint32]) -> float:
    """Return the factor by which dependent labels raise the variance of their mean. It is at least 1.

    Labels of repeats, or of samples in one cluster, depend on each other.
    """
    groups, samples = table.group.numbers(rows).tolist(), table.sample.numbers(rows).tolist()
    clusters = [
        ("group", group) if group else ("sample", sample)
        for group, sample in zip(groups, samples, strict=True)
    ]
    if len(set(clusters)) == len(clusters):
        return 1.0
    return max(1.0, estimate_mean(labels, groups=clusters).design_effect or 1.0)


def _drawn_badly(
    table: RunTable, answers: JudgedAnswers, seen: LabelledAnswers, *, binary: bool
) -> str | None:
    """Return the reason why the labelled answers cannot be a random sample of all answers. None if they can."""
    total, drawn = answers.table_rows.size, len(seen.table_rows)
    if binary:
        right, among = int(answers.verdicts.sum()), int(seen.own_pairs.verdicts.sum())
        p_value = hypergeometric_p_value(among, drawn, right, total)
    else:
        labelled = np.isin(answers.table_rows, seen.table_rows)
        found = rank_association(labelled, answers.verdicts, range(total)).p_value if drawn < total else None
        p_value = 1.0 if found is None else found
    if p_value < MIN_RANDOM_SAMPLE_P:
        return (
            "the labelled answers were not drawn at random: the judge's mean is "
            f"{seen.own_pairs.verdicts.mean():.3f} on "
            f"them and {answers.verdicts.mean():.3f} on all (p = {p_value:.2g})"
        )
    if binary and len(set(seen.own_pairs.verdicts.tolist())) < len(set(answers.verdicts.tolist())):
        missing = "right" if not seen.own_pairs.verdicts.any() else "wrong"
        return f"no labelled answer is one that the judge finds {missing}"
    return _one_stratum(table, answers.table_rows, seen.table_rows)


def _one_stratum(table: RunTable, rows: NDArray[np.uint32], drawn: NDArray[np.uint32]) -> str | None:
    """Return a sentence if all labelled answers have the same value of a sample label, such as one subject.

    Return None if they have several values of each label. Return None also if the answers of a random sample
    could well have had only one value too.
    """
    sets = [table.label_sets[table.labels[int(row)]] for row in rows]
    theirs = [table.label_sets[table.labels[int(row)]] for row in drawn]
    for name in theirs[0]:
        values = {labels.get(name) for labels in theirs}
        if len(values) == 1:
            (value,) = values
            alike = sum(labels.get(name) == value for labels in sets)
            if hypergeometric_p_value(len(theirs), len(theirs), alike, len(sets)) < MIN_RANDOM_SAMPLE_P:
                return f"all labelled answers have {name} {value}, of {alike:,} in {len(sets):,} answers"
    return None
