"""Aligns two sides: finds the trials of A and B that have the same sample and repeat, and computes each
sample's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.records import CountingPolicy
from benchwright.analysis.comparison.sample_matching import match_samples, prompt_labels
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, SCORED, CodedTexts, Side, SideScoreColumn
from benchwright.runs.columns import CodedNames
from benchwright.stats.arrays import Vector, sum_by_code

IntegerCodes = NDArray[np.int64]

UNSCORED_VALUES: dict[CountingPolicy, tuple[dict[int, float], dict[int, float]]] = {
    "usual": ({NO_ANSWER: 0.0}, {NO_ANSWER: 0.0}),
    "dropped": ({}, {}),
    "zero": ({NO_ANSWER: 0.0, ERROR: 0.0}, {NO_ANSWER: 0.0, ERROR: 0.0}),
    "best": ({NO_ANSWER: 0.0, ERROR: 0.0}, {NO_ANSWER: 1.0, ERROR: 1.0}),
    "worst": ({NO_ANSWER: 1.0, ERROR: 1.0}, {NO_ANSWER: 0.0, ERROR: 0.0}),
}
"""For each policy, two mappings from the state of an unscored trial to the value as which it counts.

The first mapping is for side A and the second for side B. Unscored trials whose state is not in the mapping
are left out.
"""


class Alignment(NamedTuple):
    """The sample number of each trial: `a` (n_a,) for side A and `b` (n_b,) for side B. Equal numbers are the
    same sample.

    `description`: how samples were matched. `groups`: the cluster of each sample (such as a passage); None if
    there are no clusters at all. `unpaired_reason`: the reason why no sample is on both sides; None if some
    are. `sample_order`: the order of samples if a side stopped early.
    """

    a: IntegerCodes
    b: IntegerCodes
    n_samples: int
    description: str
    groups: list[int | None] | None
    unpaired_reason: str | None
    sample_order: SampleOrder | None = None


class SampleOrder(NamedTuple):
    """The order of samples in a run that stopped early.

    A unit is a sample, or a cluster of samples that are used together. `unit_positions` (n_samples,): position of
    each sample's unit; -1 for samples that were not used. `planned_units`: number of planned units.
    `largest_unit_size`: number of samples in the largest unit. `planned_units` and `largest_unit_size` are 0 if
    both sides stopped early in different orders.
    """

    unit_positions: IntegerCodes
    planned_units: int
    largest_unit_size: int


class SideMeans(NamedTuple):
    """Means of the samples on each side.

    `a` and `b` (n,): means of the n samples that both sides have. `all_means_a` and `all_means_b`: means of all samples
    of one side. `groups`: the cluster of each of the n samples; None if there are no clusters. `unit_positions`
    (n,): positions of the n samples in the order of a run that stopped early. If it is set, samples that this
    run did not use are left out.
    """

    a: Vector
    b: Vector
    groups: list[int | None] | None
    unit_positions: IntegerCodes | None
    all_means_a: Vector
    all_means_b: Vector


def align_sides(a: Side, b: Side) -> Alignment:
    """Match the samples of two sides. Each sample gets the same number on both sides.

    If the data are the same, samples are matched by id. If the data differ, they are matched by prompt.
    `match_samples` decides in two cases: if it is unknown whether the data are the same (results of other
    tools), and if the data differ but a column names the samples.
    """
    samples_a, samples_b = a.trials.samples, b.trials.samples
    description = "by sample and repeat; the data is the same"
    have_ids = a.facts.has_ids and b.facts.has_ids
    if (
        a.facts.data_digests is None
        or b.facts.data_digests is None
        or (have_ids and a.facts.data_digests != b.facts.data_digests)
    ):
        samples_a, samples_b, description = match_samples(a, b)
    elif a.facts.data_digests != b.facts.data_digests:
        asked_a, asked_b = a.prompt_digests(), b.prompt_digests()
        if asked_a is None or asked_b is None:
            description = "by the ids of the samples although the data differs"
        else:
            samples_a = CodedTexts.from_texts(prompt_labels(asked_a, a.trials))
            samples_b = CodedTexts.from_texts(prompt_labels(asked_b, b.trials))
            description = "by what was asked, because the data differs"
    found = align_samples(samples_a, a.trials.groups, samples_b, b.trials.groups, description)
    if found.unpaired_reason is None:
        return found._replace(sample_order=_order(found, a, b))
    return found._replace(unpaired_reason=_why_unpaired((a, found.a), (b, found.b)))


def _order(aligned: Alignment, a: Side, b: Side) -> SampleOrder | None:
    """Return the order of samples of the side that stopped early.

    If both did, return the order that they share. Return None if neither side stopped early. If both stopped
    early in different orders, return an order with 0 planned units.
    """
    if a.used_samples is None and b.used_samples is None:
        return None
    side, codes = (b, aligned.b) if a.used_samples is None else (a, aligned.a)
    prefix = side.used_samples
    assert prefix is not None
    if a.used_samples is not None and b.used_samples is not None and a.used_samples != b.used_samples:
        return SampleOrder(np.zeros(aligned.n_samples, np.int64), 0, 0)
    places = np.full(aligned.n_samples, -1, np.int64)
    unit_of = {sample: place for place, unit in enumerate(prefix.units) for sample in unit}
    known = [
        (int(code), unit_of.get(name, -1)) for code, name in zip(codes, side.trials.samples, strict=True)
    ]
    for code, place in known:
        if code >= 0:
            places[code] = place
    return SampleOrder(places, prefix.planned_units, prefix.largest_unit_size)


def align_samples(
    samples_a: CodedTexts,
    groups_a: CodedTexts,
    samples_b: CodedTexts,
    groups_b: CodedTexts,
    description: str = "",
) -> Alignment:
    """Match the samples of two sides by name (id or prompt).

    Samples of equal name get the same number on both sides. A sample's cluster is taken from whichever side has
    one.
    """
    in_a, in_b, n_samples = _shared(samples_a, samples_b)
    group_a, group_b, _ = _shared(groups_a, groups_b)
    groups = np.full(n_samples, -1, np.int64)
    for codes, group in ((in_b, group_b), (in_a, group_a)):
        known = (codes >= 0) & (group >= 0)
        groups[codes[known]] = group[known]
    listed = None
    if (groups >= 0).any():
        if np.unique(groups).size > 1:
            listed = [None if code < 0 else code for code in groups.tolist()]
        else:
            description += "; all samples are in one group, and taken as independent within it"
    both = np.intersect1d(in_a[in_a >= 0], in_b[in_b >= 0])
    return Alignment(in_a, in_b, n_samples, description, listed, None if both.size else "no sample in common")


def _shared(a: CodedTexts, b: CodedTexts) -> tuple[IntegerCodes, IntegerCodes, int]:
    """Return (codes of a's names, codes of b's names, number of distinct names).

    Equal names have the same code on both sides. Codes count from 0; -1 stands for no name.
    """
    codes_b = b.codes
    if a.name != b.name:
        names = CodedNames()
        codes_a, codes_b = (_renamed(labels, names) for labels in (a, b))
    else:
        codes_a = a.codes
    distinct, dense = np.unique(np.concatenate([codes_a, codes_b]), return_inverse=True)
    dense = dense.astype(np.int64) - int(distinct.size > 0 and distinct[0] < 0)
    return dense[: len(a)], dense[len(a) :], int((distinct >= 0).sum())


def with_common_codes(several: Sequence[CodedTexts]) -> list[CodedTexts]:
    """Return several columns of texts with common codes, so that they can be aligned repeatedly in little time."""
    names = CodedNames()
    return [CodedTexts(_renamed(labels, names), names.__getitem__) for labels in several]


def _renamed(labels: CodedTexts, names: CodedNames) -> IntegerCodes:
    """Return the codes of a column of texts, replaced by the codes that the same texts have in `names`."""
    distinct, places = np.unique(labels.codes, return_inverse=True)
    codes = [-1 if code < 0 else names.get_or_add_code(labels.name(code)) for code in distinct.tolist()]
    return np.array(codes, np.int64)[places]


def _why_unpaired(*sides: tuple[Side, IntegerCodes]) -> str:
    for side, codes in sides:
        if not (codes >= 0).any():
            return f"the samples of {side.facts.name} have no ids"
    return "the two have no sample in common"


def sample_means(
    aligned: Alignment, a: SideScoreColumn, b: SideScoreColumn, policy: CountingPolicy
) -> SideMeans:
    """Return the mean of each sample over its repeats, on each side. Unscored trials count by `policy`."""
    fill_a, fill_b = UNSCORED_VALUES[policy]
    mean_a, alone_a = _means(a, aligned.a, aligned.n_samples, fill_a)
    mean_b, alone_b = _means(b, aligned.b, aligned.n_samples, fill_b)
    there = ~np.isnan(mean_a) & ~np.isnan(mean_b)
    if aligned.sample_order is not None:
        there &= aligned.sample_order.unit_positions >= 0
    both = np.flatnonzero(there)
    groups = None if aligned.groups is None else [aligned.groups[number] for number in both]
    return SideMeans(
        mean_a[both],
        mean_b[both],
        groups,
        None if aligned.sample_order is None else aligned.sample_order.unit_positions[both],
        np.concatenate([mean_a[~np.isnan(mean_a)], alone_a]),
        np.concatenate([mean_b[~np.isnan(mean_b)], alone_b]),
    )


def _means(
    column: SideScoreColumn, codes: IntegerCodes, n: int, fill: dict[int, float]
) -> tuple[Vector, Vector]:
    """Return the mean of each sample (n,), NaN for a sample without values.

    Also return the values of trials whose sample has no id.
    """
    values = column.values.copy()
    kept = column.states == SCORED
    for state, value in fill.items():
        values[column.states == state] = value
        kept |= column.states == state
    named = kept & (codes >= 0)
    counts = np.bincount(codes[named], minlength=n)
    sums = sum_by_code(values[named], codes[named], n)
    means = np.full(n, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means, values[kept & (codes < 0)]


def grouped_means(
    aligned: Alignment, codes: IntegerCodes, column: SideScoreColumn, fill: dict[int, float]
) -> tuple[Vector, list[int | None]]:
    """Return the means of one side's samples, and the cluster of each sample.

    None stands for a sample that is a cluster by itself.
    """
    means, alone = _means(column, codes, aligned.n_samples, fill)
    there = np.flatnonzero(~np.isnan(means))
    groups = aligned.groups or [None] * aligned.n_samples
    return np.concatenate([means[there], alone]), [groups[one] for one in there] + [None] * alone.size


def changed_trials(aligned: Alignment, a: Side, b: Side, score: str) -> list[tuple[int, int]]:
    """Return the trials whose score changed, as (position in a, position in b).

    The largest changes come first. Trials are matched by sample and repeat. A trial without an answer counts as
    0. A failed trial is left out.
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


def _keys(
    codes: IntegerCodes, repeats: IntegerCodes, column: SideScoreColumn, others: IntegerCodes
) -> tuple[IntegerCodes, IntegerCodes]:
    """Return the positions of the trials that have a sample and did not fail, and for each a key of its
    (sample, repeat).
    """
    width = 1 + max(int(repeats.max(initial=0)), int(others.max(initial=0)))
    places = np.flatnonzero((codes >= 0) & (column.states != ERROR))
    return places.astype(np.int64), codes[places] * width + repeats[places]
