"""Differences of a score by the values of a label, such as each subject.

They show for which label values B is better than A, and for which values it is worse.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.figures import compute_difference
from benchwright.analysis.comparison.pairing import Alignment
from benchwright.analysis.comparison.records import LabelValueDifference, ScoreBreakdown
from benchwright.analysis.comparison.sides import CodedTexts, Side, SideScoreColumn

MAX_VALUES_SHOWN = 40
"""Maximum number of values shown per label. The values with the most trials are shown."""

MIN_TRIALS_PER_VALUE = 2
"""Minimum mean number of trials per value of a label, on each side.

A label with fewer trials per value is left out: such a label names single samples.
"""


def score_breakdowns(
    aligned: Alignment, a: Side, b: Side, score: str, unit: bool, confidence: float
) -> Iterator[ScoreBreakdown]:
    """Yield a breakdown for each label that has several values on both sides. The largest loss comes first."""
    labels_a, labels_b = a.labels(), b.labels()
    for name in labels_a:
        if name in labels_b:
            found = _by_label(aligned, (a, labels_a[name]), (b, labels_b[name]), score, confidence)
            if found is not None:
                parts, left_out = found
                yield ScoreBreakdown(name, score, unit, parts, left_out)


def _by_label(
    aligned: Alignment, a: tuple[Side, CodedTexts], b: tuple[Side, CodedTexts], score: str, confidence: float
) -> tuple[list[LabelValueDifference], int] | None:
    """Return the differences by the values of one label, and the number of values that are left out.

    Return None if the label has fewer than two values on both sides, or too few trials per value
    (`MIN_TRIALS_PER_VALUE`).
    """
    (side_a, labels_a), (side_b, labels_b) = a, b
    places_a, places_b = _places(labels_a), _places(labels_b)
    trials = {
        value: min(places.size, places_b[value].size)
        for value, places in places_a.items()
        if value in places_b
    }
    if len(trials) < 2 or sum(trials.values()) < MIN_TRIALS_PER_VALUE * len(trials):
        return None
    columns = (side_a.trials.scores[score], side_b.trials.scores[score])
    parts = []
    for value in sorted(trials, key=lambda one: (-trials[one], one))[:MAX_VALUES_SHOWN]:
        there_a, there_b = places_a[value], places_b[value]
        narrowed = _narrowed(aligned, there_a, there_b)
        part = compute_difference(
            narrowed, _some(columns[0], there_a), _some(columns[1], there_b), "usual", confidence
        )
        if part is not None:
            low, high = part.interval or (None, None)
            parts.append(
                LabelValueDifference(value, part.n, part.mean_a, part.mean_b, part.difference, low, high)
            )
    sign = -1 if score in side_a.lower_is_better else 1
    parts.sort(key=lambda one: (sign * one.difference, one.value))
    return (parts, len(trials) - len(parts)) if len(parts) > 1 else None


def _places(labels: CodedTexts) -> dict[str, NDArray[np.int64]]:
    """Return, for each value of a label, the positions of the trials that have this value."""
    order = np.argsort(labels.codes, kind="stable")
    codes, starts = np.unique(labels.codes[order], return_index=True)
    parts = np.split(order, starts[1:])
    return {labels.name(code): part for code, part in zip(codes.tolist(), parts, strict=True) if code >= 0}


def _some(column: SideScoreColumn, places: NDArray[np.int64]) -> SideScoreColumn:
    return SideScoreColumn(column.values[places], column.states[places])


def _narrowed(aligned: Alignment, a: NDArray[np.int64], b: NDArray[np.int64]) -> Alignment:
    """Return the alignment restricted to some trials of each side (`a` and `b`), with the samples renumbered.

    If all remaining samples are in one cluster, they count as independent.
    """
    samples, codes = np.unique(np.concatenate([aligned.a[a], aligned.b[b]]), return_inverse=True)
    nameless = int(samples.size > 0 and samples[0] < 0)
    codes = codes.astype(np.int64) - nameless
    known = samples[nameless:].tolist()
    groups = None if aligned.groups is None else [aligned.groups[one] for one in known]
    if groups is not None and len(set(groups)) < 2:
        groups = None
    return aligned._replace(a=codes[: a.size], b=codes[a.size :], n_samples=len(known), groups=groups)
