"""How much of a prompt an empty prefix cache would know."""

from __future__ import annotations

from benchwright.stats.seen_prefixes import SeenPrefixes


def test_known_is_the_beginning_that_an_earlier_prompt_had() -> None:
    seen = SeenPrefixes()
    assert seen.add([b"a", b"b", b"c"]) == 0
    assert seen.add([b"a", b"b", b"d"]) == 2
    assert seen.add([b"a", b"b", b"d", b"e"]) == 3
    assert seen.add([b"b", b"c"]) == 0


def test_a_block_that_was_seen_behind_another_beginning_is_not_known() -> None:
    seen = SeenPrefixes()
    seen.add([b"a", b"same", b"same"])
    assert seen.add([b"b", b"same", b"same"]) == 0
    assert seen.add([b"a", b"other", b"same"]) == 1
