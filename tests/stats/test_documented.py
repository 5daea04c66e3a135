"""The documented figures of a score, against what is counted by hand and by other means."""

from __future__ import annotations

import statistics
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.documented_statistics import (
    DocumentedStatistics,
    SampleRunCounts,
    count_runs_by_sample,
    documented_statistics,
)


def tries(*samples: tuple[int, int]) -> SampleRunCounts:
    """Samples by how many runs were made of each, and how many of these passed."""
    made, passed = zip(*samples, strict=True)
    return SampleRunCounts(np.array(made), np.array(passed))


SCORES = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0, -2.0])
"""The score of a run, None where it failed."""


def test_figures_counted_by_hand() -> None:
    """Two samples, five runs each: 3 of 5 pass, and 0 of 5; one run failed."""
    values = [1.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    figures = documented_statistics(values, tries((5, 3), (5, 0)), 5)
    assert figures[:4] == pytest.approx((0.35, 0.45, 0.0, 1.0))
    assert figures.pass_at == pytest.approx({1: 0.3, 3: 0.5, 5: 0.5})


def test_the_documents_own_example() -> None:
    """Seven of ten pass: 0.7 for k of 1; for 3 it is 1 - 1/120, where the document rounds to something else."""
    figures = documented_statistics([1.0] * 7 + [0.0] * 3, tries((10, 7)), 10)
    assert figures.pass_at == {1: pytest.approx(0.7), 3: pytest.approx(119 / 120), 5: 1.0, 10: 1.0}


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, -2.0]), min_size=1))
def test_means_and_deviations_are_those_of_all_runs(values: list[float]) -> None:
    figures = documented_statistics(values)
    assert figures.mean == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert figures.std == pytest.approx(statistics.pstdev(values), abs=1e-12)
    assert (figures.min, figures.max, figures.pass_at) == (min(values), max(values), {})


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.randoms())
def test_the_order_of_the_runs_does_not_matter(values: list[float], random: Random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert documented_statistics(shuffled) == documented_statistics(values)


@given(st.integers(2, 11), st.sampled_from([-5.0, 0.0, 0.5, 1.0]), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_pass(n: int, threshold: float, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(SCORES, min_size=n, max_size=n), min_size=1, max_size=3))
    passed = [[score is not None and score >= threshold for score in scores] for scores in rows]
    samples = np.repeat(np.arange(len(rows)), n)
    values = [score or 0.0 for scores in rows for score in scores]
    figures = documented_statistics(values, count_runs_by_sample(samples, np.concatenate(passed)), n)
    assert list(figures.pass_at) == [k for k in (1, 3, 5, 10) if k <= n]
    for k, value in figures.pass_at.items():
        choices = [[any(choice) for choice in combinations(passes, k)] for passes in passed]
        assert value == pytest.approx(statistics.fmean(sum(each) / len(each) for each in choices))


def test_runs_and_passes_are_counted_for_every_sample_that_was_run() -> None:
    found = count_runs_by_sample([7, 3, 7, 5], [True, False, False, True])
    assert (found.run_counts.tolist(), found.pass_counts.tolist()) == ([1, 1, 2], [0, 1, 1])
    assert count_runs_by_sample([], []).run_counts.tolist() == []


def test_runs_that_are_missing_neither_pass_nor_fail() -> None:
    """Of five runs each, one was made of the first sample, three of the second, all of the third."""
    figures = documented_statistics([1.0] * 4 + [0.0] * 5, tries((1, 1), (3, 3), (5, 0)), 5)
    assert figures.pass_at == {1: pytest.approx(2 / 3), 3: 0.5, 5: 0.0}
    assert figures.pass_samples == {1: 3, 3: 2, 5: 1}


def test_a_k_that_no_sample_has_runs_for_has_no_figure() -> None:
    figures = documented_statistics([1.0], tries((1, 1)), 5)
    assert (figures.mean, figures.pass_at) == (1.0, {1: 1.0})


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 10)), min_size=1, max_size=6))
def test_where_every_run_passed_every_pass_at_k_is_1_and_where_none_did_it_is_0(
    samples: list[tuple[int, int]],
) -> None:
    every = documented_statistics([1.0], tries(*((n, n) for n, _ in samples)), 10)
    none = documented_statistics([0.0], tries(*((n, 0) for n, _ in samples)), 10)
    assert set(every.pass_at.values()) == {1.0}
    assert set(none.pass_at.values()) == {0.0}


def test_no_runs_are_0() -> None:
    assert documented_statistics([], repeats=5) == DocumentedStatistics(0.0, 0.0, 0.0, 0.0, {}, {})
