"""Standstills of several processes and sessions are one list, and are said in words."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchwright.runs.process_delays import LoopLag, Standstill
from benchwright.runs.standstills import (
    combine_lags,
    merge_standstills,
    standstill_seconds_outside,
    standstill_text,
)

SECOND = 1_000_000_000
standstills = st.lists(st.builds(Standstill, st.integers(0, 50), st.integers(1, 10)), max_size=12)


def moments(given: list[Standstill]) -> set[int]:
    return {at for one in given for at in range(one.began, one.end + 1)}


@given(standstills)
def test_merged_ones_cover_the_same_time_in_order_and_do_not_touch(found: list[Standstill]) -> None:
    together = merge_standstills(found)
    assert moments(together) == moments(found)
    assert all(one.end < other.began for one, other in pairwise(together))


@given(standstills, standstills)
def test_the_lag_of_two_processes_has_the_worse_percentile_and_the_standstills_of_both(
    mine: list[Standstill], other: list[Standstill]
) -> None:
    lag = combine_lags([LoopLag(1, 1, 5, 9, mine), LoopLag(1, 1, 7, 8, other)])
    assert lag.p99 == 7
    assert moments(lag.standstills) == moments([*mine, *other])


def test_what_lies_within_spans_is_not_counted_again() -> None:
    found = [Standstill(10 * SECOND, 4 * SECOND), Standstill(20 * SECOND, 2 * SECOND)]
    assert standstill_seconds_outside(found, []) == 6
    assert standstill_seconds_outside(found, [(12 * SECOND, 21 * SECOND)]) == 3


def test_many_are_told_by_their_number() -> None:
    told = standstill_text([Standstill(at * 60 * SECOND, 2 * SECOND, "busy") for at in range(5)])
    assert told.count("for 2.0s at") == 3
    assert told.endswith("and 2 times more")
    assert "kept it busy" in told
