"""What tests in a container came to, in words."""

from __future__ import annotations

from collections.abc import Mapping

NAMED = 5
"""Tests that are named one by one."""


def tests_in_words(results: Mapping[str, bool]) -> str:
    """How many tests passed, and the first that did not."""
    failed = [name for name, passed in results.items() if not passed]
    told = f"{len(results) - len(failed)} of {len(results)} tests passed"
    return f"{told}; failed: {named(failed)}" if failed else told


def lists_in_words(now: Mapping[str, bool], still: Mapping[str, bool]) -> str:
    """The same for tests that must pass now, and for those that must still pass."""
    return f"Must pass now: {tests_in_words(now)}.\nMust still pass: {tests_in_words(still)}."


def named(tests: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
    return ", ".join(tests[:NAMED]) + more
