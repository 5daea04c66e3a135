from __future__ import annotations

import math
from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.arrivals import constant_arrivals, poisson_arrivals, trace_arrivals

rates = st.floats(0.01, 10_000)


@given(rates, st.integers(1, 200))
def test_constant_arrivals_are_evenly_spaced_from_0_on(rate: float, count: int) -> None:
    assert list(islice(constant_arrivals(rate), count)) == [number / rate for number in range(count)]


@given(rates, st.integers(0, 10_000))
def test_the_gaps_of_poisson_arrivals_have_the_mean_and_the_spread_of_an_exponential(
    rate: float, seed: int
) -> None:
    n = 4000
    moments = list(islice(poisson_arrivals(rate, seed), n))
    gaps = [after - before for before, after in zip([0.0, *moments], moments, strict=False)]
    assert min(gaps) >= 0
    mean = sum(gaps) / n
    assert mean == pytest.approx(1 / rate, rel=6 / math.sqrt(n))
    deviation = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / n)
    assert deviation == pytest.approx(mean, rel=0.2)


def test_the_number_of_poisson_arrivals_in_a_time_varies_as_much_as_its_mean() -> None:
    counts = [
        sum(1 for _ in takewhile(lambda moment: moment < 5, poisson_arrivals(20, seed)))
        for seed in range(600)
    ]
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
    assert mean == pytest.approx(100, abs=5 * 10 / math.sqrt(600))
    assert variance / mean == pytest.approx(1, abs=0.3)


@given(rates, st.integers())
def test_the_same_seed_gives_the_same_arrivals(rate: float, seed: int) -> None:
    assert list(islice(poisson_arrivals(rate, seed), 20)) == list(islice(poisson_arrivals(rate, seed), 20))
    assert list(islice(poisson_arrivals(rate, seed), 20)) != list(
        islice(poisson_arrivals(rate, seed + 1), 20)
    )


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_a_trace_keeps_every_gap_and_begins_at_0(milliseconds: list[int]) -> None:
    recorded = sorted(milliseconds)
    assert trace_arrivals(recorded) == [moment - recorded[0] for moment in recorded]


@pytest.mark.parametrize(
    ("offsets", "told"),
    [
        ([], "there are no arrivals"),
        ([0, 2, 1], "arrival 3 (1 s) lies before"),
        ([0, math.nan], "arrival 2 is nan"),
        ([math.inf], "arrival 1 is inf"),
    ],
)
def test_what_is_no_trace_is_refused(offsets: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("(", r"\(").replace(")", r"\)")):
        trace_arrivals(offsets)


@pytest.mark.parametrize("rate", [0, -1, math.inf, math.nan])
def test_what_is_no_rate_is_refused_at_once(rate: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        constant_arrivals(rate)
    with pytest.raises(ValueError, match="positive and finite"):
        poisson_arrivals(rate, 0)
