"""Builds commands for child processes that use this Python and import nothing from the working directory.

If they did, a file `random.py` or `types.py` in the user's folder would replace Python's own module. Python's options
are passed as arguments, not as environment variables. So they do not affect the programs that the user's code starts.
"""

from __future__ import annotations

import os
import sys


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs an installed module with the user's Python settings (PYTHON… variables)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs code with installed packages, but without the user's Python settings.

    Output is not buffered.
    """
    return [sys.executable, "-I", "-B", "-u", "-X", "utf8", "-c", code, *arguments]


def standard_library_command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs code with only the standard library, outside any virtual environment."""
    return [interpreter_path(), "-I", "-S", "-B", "-c", code, *arguments]


def interpreter_path() -> str:
    """Return the path of the Python interpreter itself. Links in virtual environments are resolved."""
    return os.path.realpath(sys.executable)
