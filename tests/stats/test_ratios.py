"""Ratios of two sums with an interval that follows the trials, and time shared out among what was under way."""

from __future__ import annotations

import heapq
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.ratios import clustered_ratio, share_overlapping_time

RUNS = 1500
MONTE_CARLO = 4 * math.sqrt(0.95 * 0.05 / RUNS)

units = st.lists(
    st.tuples(st.integers(0, 1), st.floats(0.01, 50).map(lambda value: round(value, 3)), st.integers(0, 4)),
    min_size=2,
    max_size=30,
)
spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), min_size=1, max_size=25)


def shares(rows: list[tuple[int, int]]) -> list[float]:
    starts = np.array([start for start, _ in rows], np.int64)
    found = share_overlapping_time(starts, starts + np.array([length for _, length in rows], np.int64))
    return [float(share) for share in found]


class TestRatio:
    def test_an_example_worked_by_hand(self) -> None:
        # R = 3/8; residuals 0.25, -0.375, 0.625, -0.5, their squares sum to 0.84375; t(3) = 3.182446
        found = clustered_ratio([1, 0, 1, 1], [2, 1, 1, 4], range(4))
        assert found is not None
        assert found.interval is not None
        assert found.value == 0.375
        assert found.se == pytest.approx(math.sqrt(4 / 3 * 0.84375) / 8)
        half = 3.182446 * 0.1325825 / (2 * math.sqrt(0.375))
        assert found.interval.low == pytest.approx((math.sqrt(0.375) - half) ** 2, rel=1e-6)
        assert found.interval.high == pytest.approx((math.sqrt(0.375) + half) ** 2, rel=1e-6)

    def test_equal_denominators_give_the_error_of_a_mean(self) -> None:
        values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
        found = clustered_ratio(values, [2.0] * 6, range(6))
        assert found is not None
        assert found.se == pytest.approx(np.std(values, ddof=1) / math.sqrt(6) / 2)

    def test_a_group_that_is_doubled_tells_no_more(self) -> None:
        values, times, groups = [1, 0, 1, 1, 0], [1.0, 3.0, 2.0, 1.5, 2.5], [0, 1, 2, 3, 4]
        once = clustered_ratio(values, times, groups)
        twice = clustered_ratio(values * 2, times * 2, groups * 2)
        assert once is not None
        assert twice is not None
        assert twice.se == pytest.approx(once.se)
        assert twice.n_groups == 5

    def test_nothing_right_and_a_single_group_have_no_interval(self) -> None:
        for found in (clustered_ratio([0, 0], [1, 2], range(2)), clustered_ratio([1, 1], [1, 2], [0, 0])):
            assert found is not None
            assert (found.interval, found.method) == (None, "none")

    def test_nothing_spent_has_no_rate(self) -> None:
        assert clustered_ratio([1, 1], [0, 0], range(2)) is None

    def test_what_is_negative_is_refused(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            clustered_ratio([1, 1], [1, -1], range(2))

    @given(units, st.randoms(use_true_random=False), st.floats(0.1, 1000))
    def test_order_does_not_matter_and_units_only_scale(
        self, rows: list[tuple[int, float, int]], random: Random, unit: float
    ) -> None:
        mixed = random.sample(rows, len(rows))
        one = clustered_ratio([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
        other = clustered_ratio(
            [row[0] for row in mixed], [row[1] * unit for row in mixed], [f"g{row[2]}" for row in mixed]
        )
        assert one is not None
        assert other is not None
        assert other.value * unit == pytest.approx(one.value, rel=1e-9)
        if one.interval is not None and other.interval is not None:
            scaled = [end * unit for end in other.interval]
            assert scaled == pytest.approx(list(one.interval), rel=1e-5, abs=1e-9)

    @given(units)
    def test_the_interval_holds_the_ratio(self, rows: list[tuple[int, float, int]]) -> None:
        found = clustered_ratio(*(list(column) for column in zip(*rows, strict=True)))
        assert found is not None
        if found.interval is not None:
            assert 0 <= found.interval.low <= found.value * (1 + 1e-12)
            assert found.value <= found.interval.high * (1 + 1e-12)


class TestSharedTime:
    def test_an_example_worked_by_hand(self) -> None:
        # 0 to 4 and 2 to 6 share 2 to 4; the pause from 6 to 10 is nobody's
        assert shares([(0, 4), (2, 4), (10, 2)]) == [3.0, 3.0, 2.0]

    def test_what_runs_alone_has_all_of_its_time(self) -> None:
        assert shares([(5, 3), (8, 2), (100, 1)]) == [3.0, 2.0, 1.0]

    def test_what_takes_no_time_has_none(self) -> None:
        assert shares([(0, 10), (5, 0)]) == [10.0, 0.0]

    def test_an_end_before_the_start_is_refused(self) -> None:
        with pytest.raises(ValueError, match="ends before"):
            shares([(5, -1)])

    @given(spans)
    def test_the_shares_add_up_to_the_time_that_is_covered(self, rows: list[tuple[int, int]]) -> None:
        covered = {moment for start, length in rows for moment in range(start, start + length)}
        assert sum(shares(rows)) == pytest.approx(len(covered))

    @given(spans)
    def test_nobody_has_more_than_its_own_time(self, rows: list[tuple[int, int]]) -> None:
        assert all(
            -1e-9 <= share <= length + 1e-9 for share, (_, length) in zip(shares(rows), rows, strict=True)
        )

    @given(spans, st.integers(0, 1000))
    def test_a_pause_in_the_middle_changes_nothing(self, rows: list[tuple[int, int]], pause: int) -> None:
        later = [(start + 200 + pause, length) for start, length in rows]
        assert shares(rows + later) == pytest.approx(shares(rows) * 2)


def closed_loop(durations: np.ndarray, concurrency: int) -> tuple[np.ndarray, np.ndarray]:
    """When each trial begins and ends, in ns, with so many under way at a time."""
    free = [0] * concurrency
    starts = np.empty(durations.size, np.int64)
    whole = np.maximum(1, (durations * 1e6).astype(np.int64))
    for number, length in enumerate(whole.tolist()):
        starts[number] = heapq.heappop(free)
        heapq.heappush(free, int(starts[number]) + length)
    return starts, starts + whole


@pytest.mark.parametrize(
    ("samples", "repeats", "concurrency", "rate", "slower_if_wrong"),
    [(40, 1, 1, 0.5, 0.0), (40, 3, 4, 0.3, 0.0), (150, 1, 8, 0.8, 0.7)],
    ids=["one at a time", "repeats", "wrong ones are slower"],
)
def test_the_interval_of_correct_per_second_covers(
    samples: int, repeats: int, concurrency: int, rate: float, slower_if_wrong: float
) -> None:
    """Whole runs are made again and again; the truth is what they come to on average."""
    generator = np.random.default_rng(20261121)
    sample_of = np.repeat(np.arange(samples), repeats)
    found = []
    for _ in range(RUNS):
        own = generator.beta(rate * 2, (1 - rate) * 2, samples)[sample_of]
        correct = (generator.random(sample_of.size) < own).astype(float)
        hard = generator.normal(0, 0.4, samples)[sample_of]
        logs = hard + generator.normal(0, 0.3, sample_of.size) + slower_if_wrong * (1 - correct)
        order = generator.permutation(sample_of.size)
        seconds = np.empty(sample_of.size)
        seconds[order] = share_overlapping_time(*closed_loop(np.exp(logs)[order], concurrency))
        found.append(clustered_ratio(correct, seconds, sample_of))
    rates = [one for one in found if one is not None]
    truth = sum(one.numerator for one in rates) / sum(one.denominator for one in rates)
    held = [one.interval is not None and one.interval.low <= truth <= one.interval.high for one in rates]
    assert np.mean(held) == pytest.approx(0.95, abs=MONTE_CARLO + 0.01)


def test_the_interval_of_correct_per_1000_tokens_covers() -> None:
    """Lengths of answers vary a lot, and few answers are right."""
    generator = np.random.default_rng(7)
    held = []
    for _ in range(RUNS):
        correct = (generator.random(60) < 0.15).astype(float)
        tokens = generator.lognormal(5, 0.7, 60) / 1000
        found = clustered_ratio(correct, tokens, range(60))
        truth = 0.15 / (math.exp(5 + 0.7**2 / 2) / 1000)
        assert found is not None
        held.append(found.interval is not None and found.interval.low <= truth <= found.interval.high)
    assert np.mean(held) == pytest.approx(0.95, abs=MONTE_CARLO + 0.01)
