"""Turns of a trial: each after the one that it waits for, side by side where several wait for the same."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.engine.turns import run_turns
from benchwright.errors import ProviderError

TREES = st.lists(st.integers(0, 10_000), max_size=12).map(
    lambda draws: [None, *(draw % (place + 1) for place, draw in enumerate(draws))]
)
"""For each turn the number of the one before it, the first has none."""


@given(TREES)
def test_each_turn_is_done_once_after_the_one_it_waits_for(after: list[int | None]) -> None:
    begun, ended = list[int](), list[int]()

    async def do(number: int) -> bool:
        before = after[number]
        assert before is None or before in ended
        begun.append(number)
        await asyncio.sleep(0)
        ended.append(number)
        return True

    asyncio.run(run_turns(after, do))
    assert sorted(begun) == list(range(len(after)))


def test_those_that_wait_for_the_same_turn_are_under_way_together() -> None:
    async def do(number: int) -> bool:
        if number:
            await meeting.wait()
        return True

    meeting = asyncio.Barrier(3)
    asyncio.run(asyncio.wait_for(run_turns([None, 0, 0, 0], do), 10))


def test_what_follows_a_turn_that_was_left_out_or_failed_is_left_out_and_the_others_go_on() -> None:
    begun = list[int]()

    async def do(number: int) -> bool:
        begun.append(number)
        if number == 1:
            raise ProviderError("no")
        return number != 3

    after = [None, 0, 1, 0, 3, 0, 5]
    with pytest.raises(ProviderError, match="no"):
        asyncio.run(run_turns(after, do))
    assert sorted(begun) == [0, 1, 3, 5, 6]


def test_a_chain_is_done_in_order() -> None:
    begun = list[int]()

    async def do(number: int) -> bool:
        begun.append(number)
        return True

    asyncio.run(run_turns([None, 0, 1, 2], do))
    assert all(other == one + 1 for one, other in pairwise(begun))
