"""Paths that benchmarks keep from agents (tests, solutions, rewards), and patterns to find them in text."""

from __future__ import annotations

import re

TESTS_PATTERN = r"/tests"
SOLUTION_PATTERN = r"/(?:solution|oracle)"
REWARD_PATTERN = r"/logs/verifier"
HARNESS_PATTERN = r"/(?:eval\.sh|workspace/(?:parser\.py|run_script\.sh|entryscript\.sh|output\.json))"

_START = r"(?<![\w./}\])$*?-])(?<![\w}][\"'])"
_END = r"(?![\w-])"


def path_pattern(path: str) -> re.Pattern[str]:
    """Return a pattern that finds this absolute path in a text, but not the same name in other folders."""
    return re.compile(f"{_START}{path}{_END}")


def subtree_pattern(path: str) -> re.Pattern[str]:
    """Return a pattern that matches this path and any path below it."""
    return re.compile(f"{path}(?:/.*)?")
