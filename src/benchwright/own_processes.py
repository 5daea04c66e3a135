"""How a process of ours is started: with this Python, which finds no module in the working directory.

A file `random.py` or `types.py` in the folder that the user works in would else take the place of Python's own. The
options are arguments and no variables, so that what a program of the user starts in turn is started as ever.
"""

from __future__ import annotations

import os
import sys


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs an installed module, ours or `pip`; the user's settings for Python hold for it."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_command(code: str, *arguments: str) -> list[str]:
    """The command that runs code without the user's settings, but with what is installed; output comes at once."""
    return [sys.executable, "-I", "-B", "-u", "-X", "utf8", "-c", code, *arguments]


def bare_command(code: str, *arguments: str) -> list[str]:
    """The command that runs code with the standard library alone, outside of any virtual environment."""
    return [interpreter(), "-I", "-S", "-B", "-c", code, *arguments]


def interpreter() -> str:
    """The interpreter itself, behind all links of virtual environments."""
    return os.path.realpath(sys.executable)
