"""Aligning two sides: which trials are of the same sample and repeat, and what each sample comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.records import Policy
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, SCORED, Column, Side, Trials
from benchwright.stats.arrays import Vector

Codes = NDArray[np.int64]

FILLED: dict[Policy, tuple[dict[int, float], dict[int, float]]] = {
    "usual": ({NO_ANSWER: 0.0}, {NO_ANSWER: 0.0}),
    "dropped": ({}, {}),
    "zero": ({NO_ANSWER: 0.0, ERROR: 0.0}, {NO_ANSWER: 0.0, ERROR: 0.0}),
    "best": ({NO_ANSWER: 0.0, ERROR: 0.0}, {NO_ANSWER: 1.0, ERROR: 1.0}),
    "worst": ({NO_ANSWER: 1.0, ERROR: 1.0}, {NO_ANSWER: 0.0, ERROR: 0.0}),
}
"""What trials without a value count by each policy, on side A and B; a state that is not named is left out."""


class Alignment(NamedTuple):
    """Both sides' trials by the number of their sample: (n_a,) and (n_b,); `told` says how that was found.

    `groups` is the group of each sample; None where there are no groups at all. `unpaired` says why no sample
    is on both sides.
    """

    a: Codes
    b: Codes
    n_samples: int
    told: str
    groups: list[str | None] | None
    unpaired: str | None


class Sides(NamedTuple):
    """What samples come to: those on both sides (n,) with their groups, then all of a (m_a,) and all of b (m_b,)."""

    a: Vector
    b: Vector
    groups: list[str | None] | None
    all_a: Vector
    all_b: Vector


def align(a: Side, b: Side) -> Alignment:
    """Numbers the samples of both sides alike: by id where the data are the same, else by what was asked.

    Where neither can be known (files of other tools), ids are taken to mean the same.
    """
    labels_a, labels_b = a.trials.samples, b.trials.samples
    told = "by sample and repeat; the data are the same"
    if a.facts.data is None or b.facts.data is None:
        told = "by the ids of the samples; whether their content is the same is not known"
    elif a.facts.data != b.facts.data:
        asked_a, asked_b = a.contents(), b.contents()
        if asked_a is None or asked_b is None:
            told = "by the ids of the samples although the data differ"
        else:
            labels_a, labels_b = _distinct(asked_a, a.trials), _distinct(asked_b, b.trials)
            told = "by what was asked, since the data differ"
    codes: dict[str, int] = {}
    in_a, in_b = _codes(labels_a, codes), _codes(labels_b, codes)
    groups = _groups(a.trials, in_a, b.trials, in_b, len(codes))
    if groups is not None and len(set(groups)) == 1:
        groups = None
        told += "; all samples are in one group, and taken as independent within it"
    both = np.intersect1d(in_a[in_a >= 0], in_b[in_b >= 0])
    return Alignment(
        in_a, in_b, len(codes), told, groups, None if both.size else _why_unpaired((a, in_a), (b, in_b))
    )


def _distinct(asked: Sequence[str], trials: Trials) -> list[str]:
    """What was asked, with a number where several samples were asked the same."""
    first: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    for text, sample in zip(asked, trials.samples, strict=True):
        if (text, sample) not in first:
            first[text, sample] = seen[text]
            seen[text] += 1
    return [f"{text}#{first[text, sample]}" for text, sample in zip(asked, trials.samples, strict=True)]


def _codes(labels: Sequence[str], codes: dict[str, int]) -> Codes:
    """The number of each label, -1 for none."""
    return np.fromiter(
        (codes.setdefault(label, len(codes)) if label else -1 for label in labels), np.int64, len(labels)
    )


def _groups(a: Trials, in_a: Codes, b: Trials, in_b: Codes, n: int) -> list[str | None] | None:
    groups: list[str | None] = [None] * n
    for trials, codes in ((b, in_b), (a, in_a)):
        for code, group in zip(codes.tolist(), trials.groups, strict=True):
            if group is not None and code >= 0:
                groups[code] = group
    return groups if any(group is not None for group in groups) else None


def _why_unpaired(*sides: tuple[Side, Codes]) -> str:
    for side, codes in sides:
        if not (codes >= 0).any():
            return f"the samples of {side.facts.letter} have no ids"
    return "the two have no sample in common"


def sample_sides(aligned: Alignment, a: Column, b: Column, policy: Policy) -> Sides:
    """Averages the repeats of each sample, what has no value counted by `policy`."""
    fill_a, fill_b = FILLED[policy]
    mean_a, alone_a = _means(a, aligned.a, aligned.n_samples, fill_a)
    mean_b, alone_b = _means(b, aligned.b, aligned.n_samples, fill_b)
    both = np.flatnonzero(~np.isnan(mean_a) & ~np.isnan(mean_b))
    groups = None if aligned.groups is None else [aligned.groups[number] for number in both]
    return Sides(
        mean_a[both],
        mean_b[both],
        groups,
        np.concatenate([mean_a[~np.isnan(mean_a)], alone_a]),
        np.concatenate([mean_b[~np.isnan(mean_b)], alone_b]),
    )


def _means(column: Column, codes: Codes, n: int, fill: dict[int, float]) -> tuple[Vector, Vector]:
    """The mean of each sample (n,), NaN where it has none, and the values of trials whose sample has no id."""
    values = column.values.copy()
    kept = column.states == SCORED
    for state, value in fill.items():
        values[column.states == state] = value
        kept |= column.states == state
    named = kept & (codes >= 0)
    counts = np.bincount(codes[named], minlength=n)
    sums = np.bincount(codes[named], weights=values[named], minlength=n)
    means = np.full(n, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means, values[kept & (codes < 0)]


def grouped_means(
    aligned: Alignment, codes: Codes, column: Column, fill: dict[int, float]
) -> tuple[Vector, list[str | None]]:
    """The means of one side's samples, and the group of each."""
    means, alone = _means(column, codes, aligned.n_samples, fill)
    there = np.flatnonzero(~np.isnan(means))
    groups = aligned.groups or [None] * aligned.n_samples
    return np.concatenate([means[there], alone]), [groups[one] for one in there] + [None] * alone.size


def changed_trials(aligned: Alignment, a: Side, b: Side, score: str) -> list[tuple[int, int]]:
    """(position in a, position in b) of repeats of one sample whose scores differ, the largest changes first.

    What no answer was found in counts 0; what failed is no change.
    """
    column_a, column_b = a.trials.scores[score], b.trials.scores[score]
    place_a, key_a = _keys(aligned.a, a.trials.repeats, column_a, b.trials.repeats)
    place_b, key_b = _keys(aligned.b, b.trials.repeats, column_b, a.trials.repeats)
    _, in_a, in_b = np.intersect1d(key_a, key_b, return_indices=True)
    left, right = place_a[in_a], place_b[in_b]
    change = column_b.values[right] - column_a.values[left]
    differing = np.flatnonzero(change)
    order = differing[np.lexsort((left[differing], -np.abs(change[differing])))]
    return [(int(left[one]), int(right[one])) for one in order]


def _keys(codes: Codes, repeats: Sequence[int], column: Column, others: Sequence[int]) -> tuple[Codes, Codes]:
    """Positions of trials that can be matched, and a number for sample and repeat."""
    mine = np.asarray(repeats, np.int64)
    width = 1 + max(max(mine, default=0), max(others, default=0))
    places = np.flatnonzero((codes >= 0) & (column.states != ERROR))
    return places.astype(np.int64), codes[places] * width + mine[places]
