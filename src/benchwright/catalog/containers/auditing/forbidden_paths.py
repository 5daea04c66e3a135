"""Paths that benchmarks keep from agents (tests, solutions, rewards), and regular expressions that find them."""

from __future__ import annotations

import re

TESTS_PATTERN = r"/tests"
SOLUTION_PATTERN = r"/(?:solution|oracle)"
REWARD_PATTERN = r"/logs/verifier"
HARNESS_PATTERN = r"/(?:eval\.sh|workspace/(?:parser\.py|run_script\.sh|entryscript\.sh|output\.json))"

_START = r"(?<![\w./}\])$*?-])(?<![\w}][\"'])"
_END = r"(?![\w-])"


def path_pattern(path: str) -> re.Pattern[str]:
    """Return a regular expression that finds the absolute path `path` in a text.

    The expression does not match a path of the same name in another folder.
    """
    return re.compile(f"{_START}{path}{_END}")


def subtree_pattern(path: str) -> re.Pattern[str]:
    """Return a regular expression that matches this path and every path below it."""
    return re.compile(f"{path}(?:/.*)?")
