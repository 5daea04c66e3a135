"""Prompts made from blocks: they begin alike exactly as far as their ids do, and are as long as they should be."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from benchwright.app.load.replay.prompts import BlockPrompts
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.words import FOUR_LETTER_WORDS
from benchwright.data.traces.records import TracedRequest

SIZE = 16
AS_WORDS = Calibration(fixed=0.0)

IDS = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), min_size=1, max_size=6)


def request(ids: list[int], more: int = 0, scope: str = "") -> TracedRequest:
    """A request of these full blocks, and `more` tokens that have no id."""
    return TracedRequest(input_tokens=len(ids) * SIZE + more, blocks=ids, block_size=SIZE, scope=scope)


def words(
    one: TracedRequest, salt: str = "s", name: str = "0:0", calibration: Calibration = AS_WORDS
) -> list[str]:
    return asyncio.run(BlockPrompts(salt, calibration).make_prompt(one, name)).decode().split()


def common(one: list[str], other: list[str]) -> int:
    """How many words they have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@given(IDS, IDS)
def test_prompts_begin_alike_as_far_as_their_ids(one: list[int], other: list[int]) -> None:
    blocks = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    assert common(words(request(one)), words(request(other))) // SIZE == blocks


@given(IDS, st.integers(0, SIZE - 1))
def test_a_prompt_has_as_many_words_as_tokens(ids: list[int], more: int) -> None:
    one = request(ids, more)
    assert len(words(one)) == one.input_tokens == BlockPrompts("s", AS_WORDS).count_words(one)


def test_the_same_id_is_the_same_block_wherever_it_stands() -> None:
    first, second = words(request([1, 2])), words(request([3, 2]))
    assert first[SIZE:] == second[SIZE:]
    assert first[:SIZE] != second[:SIZE]


def test_words_after_the_last_block_are_shared_with_no_other_request() -> None:
    one, other = (words(request([5], 15), name=name) for name in ("0:0", "0:1"))
    assert one[:SIZE] == other[:SIZE]
    assert one[SIZE:] != other[SIZE:]


def test_a_partial_last_block_that_has_an_id_begins_like_it() -> None:
    partial = TracedRequest(input_tokens=SIZE + 5, blocks=[1, 2], block_size=SIZE)
    assert words(partial) == words(request([1, 2]))[: SIZE + 5]


def test_ids_that_differ_above_32_bits_are_other_blocks() -> None:
    assert words(request([7])) != words(request([7 + 2**32]))


def test_a_scope_and_a_salt_make_other_blocks() -> None:
    assert words(request([7], scope="a")) != words(request([7], scope="b"))
    assert words(request([7])) != words(request([7]), salt="other")


def test_every_block_ends_alike() -> None:
    assert len({words(request([number]))[-1] for number in range(20)}) == 1


def test_another_process_makes_the_same_prompt() -> None:
    code = (
        "import asyncio; from benchwright.app.load.replay.prompts import *; "
        "from benchwright.data.traces.records import TracedRequest; "
        f"one = TracedRequest(input_tokens=20, blocks=[3], block_size={SIZE}); "
        "print(asyncio.run(BlockPrompts('s', Calibration(fixed=0.0)).make_prompt(one, '0:0')).decode())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == words(TracedRequest(input_tokens=20, blocks=[3], block_size=SIZE))


def test_what_a_server_adds_is_taken_from_the_words_behind_the_blocks_alone() -> None:
    plain, corrected = (
        words(request([1, 2], 12), calibration=one) for one in (AS_WORDS, Calibration(1.0, 7.0, True))
    )
    assert len(plain) - len(corrected) == 7
    assert corrected == plain[: len(corrected)]
    full = words(request([1, 2]), calibration=Calibration(1.0, 7.0, True))
    assert len(full) == 2 * SIZE


def test_where_a_word_is_two_tokens_blocks_have_half_as_many() -> None:
    found = words(request([1, 2], 4), calibration=Calibration(2.0, 0.0, True))
    assert len(found) == SIZE + 2


def test_words_are_four_letters_each_and_all_different() -> None:
    assert {len(word) for word in FOUR_LETTER_WORDS} == {4}
    assert len(set(FOUR_LETTER_WORDS)) == 128
