"""Describes the results of a container's tests in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

NAMED = 5
"""Maximum number of tests listed by name."""


def tests_in_words(results: Mapping[str, bool]) -> str:
    """Return a sentence with the number of passed tests, and the names of the first failed ones."""
    failed = [name for name, passed in results.items() if not passed]
    told = f"{len(results) - len(failed)} of {len(results)} tests passed"
    return f"{told}; failed: {named(failed)}" if failed else told


def lists_in_words(now: Mapping[str, bool], still: Mapping[str, bool]) -> str:
    """Return such a summary for two lists: tests that must pass `now`, and tests that must `still` pass."""
    return f"Must pass now: {tests_in_words(now)}.\nMust still pass: {tests_in_words(still)}."


def named(tests: list[str]) -> str:
    """Return the names of the first tests, and the number of further ones, as text."""
    more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
    return ", ".join(tests[:NAMED]) + more
