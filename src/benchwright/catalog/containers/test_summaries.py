"""Describes the results of a container's tests in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

MAX_NAMED_TESTS = 5
"""Maximum number of tests that a sentence lists by name."""


def summarize_tests(results: Mapping[str, bool]) -> str:
    """Return a sentence with the number of passed tests, and the names of the first failed tests."""
    failed = [name for name, passed in results.items() if not passed]
    told = f"{len(results) - len(failed)} of {len(results)} tests passed"
    return f"{told}; failed: {list_names(failed)}" if failed else told


def summarize_test_lists(now: Mapping[str, bool], still: Mapping[str, bool]) -> str:
    """Return a sentence on the results of two lists: tests that must pass `now`, and tests that must `still` pass."""
    return f"Must pass now: {summarize_tests(now)}.\nMust still pass: {summarize_tests(still)}."


def list_names(tests: list[str]) -> str:
    """Return the names of the first tests, and how many more there are, as text."""
    more = f" and {len(tests) - MAX_NAMED_TESTS} more" if len(tests) > MAX_NAMED_TESTS else ""
    return ", ".join(tests[:MAX_NAMED_TESTS]) + more
