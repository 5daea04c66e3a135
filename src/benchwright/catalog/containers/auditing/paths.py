"""Where benchmarks keep what an agent is not meant to see or change, and how such places are found in a text."""

from __future__ import annotations

import re

TESTS = r"/tests"
SOLUTION = r"/(?:solution|oracle)"
REWARD = r"/logs/verifier"
HARNESS = r"/(?:eval\.sh|workspace/(?:parser\.py|run_script\.sh|entryscript\.sh|output\.json))"

_START = r"(?<![\w./}\])$*?-])(?<![\w}][\"'])"
_END = r"(?![\w-])"


def place(path: str) -> re.Pattern[str]:
    """Finds a folder or file of the root in a text, not one of that name elsewhere."""
    return re.compile(f"{_START}{path}{_END}")


def below(path: str) -> re.Pattern[str]:
    """Whether a whole path is this folder or file, or lies in it."""
    return re.compile(f"{path}(?:/.*)?")
