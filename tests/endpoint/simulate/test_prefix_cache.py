"""The blocks of a prefix cache, whatever comes in whatever order."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.simulate.blocks import block_digests
from benchwright.endpoint.simulate.prefix_cache import PrefixCache, RequestTokens

SIZE = 2
prompts = st.lists(st.sampled_from("ab"), min_size=1, max_size=12)
"""Few different tokens, so that prompts begin alike."""

moves = st.lists(st.tuples(prompts, st.integers(0, 3), st.booleans()), max_size=40)
"""Prompts that come; how many tokens each generates before it leaves; and whether the oldest one leaves first."""


def tokens_of(prompt: Sequence[str], answer: int) -> RequestTokens:
    return RequestTokens(len(prompt), block_digests(" ".join(prompt), "x" * answer, SIZE))


def ideal(prompt: Sequence[str], earlier: Sequence[Sequence[str]]) -> int:
    """Tokens in leading full blocks of an earlier prompt, but for the last token."""
    ends = range(SIZE, len(prompt), SIZE)
    return max((end for end in ends if any(one[:end] == prompt[:end] for one in earlier)), default=0)


@given(st.lists(prompts, max_size=30))
def test_with_room_for_all_exactly_the_full_blocks_seen_before_are_found(asked: list[list[str]]) -> None:
    cache = PrefixCache(10_000, SIZE)
    for number, prompt in enumerate(asked):
        tokens = tokens_of(prompt, 0)
        assert cache.assign_blocks(tokens, len(prompt), number)
        assert tokens.cached == ideal(prompt, asked[:number])
        cache.release_blocks(tokens, len(prompt), number)


@given(moves, st.integers(1, 12))
def test_there_are_never_more_blocks_than_its_capacity(
    asked: list[tuple[list[str], int, bool]], capacity: int
) -> None:
    cache = PrefixCache(capacity, SIZE)
    running: list[tuple[RequestTokens, int]] = []
    for now, (prompt, answer, oldest_leaves) in enumerate(asked):
        if oldest_leaves and running:
            left, number = running.pop(0)
            cache.release_blocks(left, number, now)
        tokens = tokens_of(prompt, answer)
        if not cache.assign_blocks(tokens, len(prompt), now):
            continue
        number = len(prompt)
        while number < len(prompt) + answer and cache.assign_more_blocks(tokens, number + 1):
            number += 1
        running.append((tokens, number))
        assert max(cache.used_blocks, cache.reusable_blocks) <= capacity
        assert tokens.cached <= len(prompt) - 1
    for left, number in running:
        cache.release_blocks(left, number, len(asked))
    assert cache.used_blocks == 0


@given(moves, st.integers(1, 12))
def test_what_a_smaller_cache_finds_was_there_before(
    asked: list[tuple[list[str], int, bool]], capacity: int
) -> None:
    cache, earlier = PrefixCache(capacity, SIZE), list[list[str]]()
    for now, (prompt, _, _) in enumerate(asked):
        tokens = tokens_of(prompt, 0)
        if cache.assign_blocks(tokens, len(prompt), now):
            assert tokens.cached <= ideal(prompt, earlier)
            cache.release_blocks(tokens, len(prompt), now)
            earlier.append(prompt)


@given(prompts, prompts)
def test_digests_are_equal_as_far_as_prompts_begin_alike(one: list[str], other: list[str]) -> None:
    pairs = list(zip(tokens_of(one, 0).digests, tokens_of(other, 0).digests, strict=False))
    for number, (first, second) in enumerate(pairs, 1):
        assert (first == second) == (one[: number * SIZE] == other[: number * SIZE])


@given(st.lists(st.sampled_from(["ab", "ä", "\U0001f469"]), max_size=12), st.integers(0, 12))
def test_digests_do_not_tell_where_the_prompt_ends(words: list[str], prompt: int) -> None:
    digests = block_digests(" ".join(words[:prompt]), words[prompt:], SIZE)
    assert digests == block_digests("", words, SIZE)
    assert len(digests) == len(words) // SIZE


def test_equal_blocks_that_are_computed_at_the_same_time_are_kept_once() -> None:
    cache = PrefixCache(100, SIZE)
    first, second, third = (tokens_of("aaaaaa", 0) for _ in range(3))
    for tokens in (first, second):
        tokens.start, tokens.end = 0, 100
        assert cache.assign_blocks(tokens, 6, 0)
    assert (cache.used_blocks, second.cached) == (6, 0), "nothing was computed yet"
    assert cache.assign_blocks(third, 6, 100)
    assert (cache.used_blocks, third.cached) == (7, 4), "the third needs only its last block"
    for tokens in (first, third, second):
        cache.release_blocks(tokens, 6, 200)
    assert (cache.used_blocks, cache.reusable_blocks) == (0, 3)


def test_a_copy_is_found_when_the_block_that_it_equals_is_gone() -> None:
    cache = PrefixCache(4, SIZE)
    first, second = tokens_of("aaa", 0), tokens_of("aaa", 0)
    for tokens in (first, second):
        tokens.start, tokens.end = 0, 100
        assert cache.assign_blocks(tokens, 3, 0)
    cache.release_blocks(first, 3, 200)
    other = tokens_of("bbb", 0)
    assert cache.assign_blocks(other, 3, 200)
    assert cache.reusable_blocks == 0, "there was no other block to take"
    cache.release_blocks(second, 3, 300)
    third = tokens_of("aaa", 0)
    assert cache.assign_blocks(third, 3, 300)
    assert third.cached == 2


def test_a_parent_stays_longer_than_its_children() -> None:
    cache = PrefixCache(4, SIZE)
    for prompt in ("aaaaaaaa", "bb", "bbb"):
        tokens = tokens_of(prompt, 0)
        assert cache.assign_blocks(tokens, len(prompt), 0)
        cache.release_blocks(tokens, len(prompt), 0)
    tokens = tokens_of("aaaaaaaa", 0)
    assert cache.assign_blocks(tokens, 8, 0)
    assert tokens.cached == 4
