from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.saturation import (
    find_saturation_level,
    next_concurrency,
    next_rate,
    still_gains_throughput,
)

GAIN = 0.1


def server(slots: int) -> dict[float, float]:
    """What a server of so many slots serves at doubling levels, until it gains no more."""
    served: dict[float, float] = {}
    level = 1.0
    while still_gains_throughput(served, GAIN):
        served[level] = min(level, slots)
        level *= 2
    return served


@given(st.integers(1, 500))
def test_the_knee_of_a_server_with_slots_is_found_to_the_slot_it_can_be_told_by(slots: int) -> None:
    served = server(slots)
    while (level := next_concurrency(served, GAIN)) is not None:
        served[level] = min(level, slots)
    found = find_saturation_level(served, GAIN)
    assert slots / (1 + GAIN) <= found <= max(slots, round(slots / (1 + GAIN)) + 1)


@given(st.integers(1, 500))
def test_doubling_ends_one_level_beyond_the_slots(slots: int) -> None:
    assert slots < max(server(slots)) <= 4 * slots


def test_a_level_that_serves_a_little_more_is_not_worth_twice_the_load() -> None:
    assert still_gains_throughput({4: 10.0, 8: 11.5}, GAIN)
    assert not still_gains_throughput({4: 10.0, 8: 10.9}, GAIN)
    assert find_saturation_level({1: 3.0, 2: 6.0, 4: 10.0, 8: 10.9}, GAIN) == 4


def test_where_more_load_serves_less_a_better_level_is_looked_for_above_the_best() -> None:
    assert next_concurrency({4: 10.0, 8: 20.0, 16: 3.0}, GAIN) == 12
    assert next_concurrency({4: 10.0, 8: 20.0, 16: 20.5}, GAIN) == 6


def test_there_is_nothing_between_neighbours() -> None:
    assert next_concurrency({1: 1.0, 2: 2.0, 3: 2.0}, GAIN) is None
    assert next_concurrency({1: 5.0}, GAIN) is None


def test_a_knee_needs_a_level() -> None:
    with pytest.raises(ValueError, match="no level"):
        find_saturation_level({}, GAIN)


@given(st.floats(0.5, 1000))
def test_the_rate_that_is_kept_up_with_is_closed_in_on(capacity: float) -> None:
    kept = {0.25: True}
    rate = 0.5
    while all(kept.values()):
        kept[rate] = rate <= capacity
        rate *= 2
    while (between := next_rate(kept)) is not None:
        kept[between] = between <= capacity
    best = max(rate for rate, one in kept.items() if one)
    worst = min(rate for rate, one in kept.items() if not one)
    assert best <= capacity < worst
    assert worst / best <= 1.15


def test_without_a_rate_that_was_missed_or_one_that_was_kept_there_is_nothing_between() -> None:
    assert next_rate({1: True, 2: True}) is None
    assert next_rate({1: False}) is None
