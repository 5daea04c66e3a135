"""Work that is due at moments is dealt out in turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchwright.engine.shards.work_pool import distribute_work


@given(st.integers(0, 50), st.integers(1, 5))
def test_each_hand_gets_every_so_manieth_piece_in_order(size: int, hands: int) -> None:
    dealt = [list(hand) for hand in distribute_work(iter(range(size)), hands)]
    assert dealt == [list(range(size))[number::hands] for number in range(hands)]


def test_no_more_is_drawn_than_a_hand_asks_for() -> None:
    source = iter(range(10))
    first, second = distribute_work(source, 2)
    assert next(first) == 0
    assert next(second) == 1
    assert next(second) == 3
    assert next(source) == 4
