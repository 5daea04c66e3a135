"""Code under test that writes the whole report of pytest in the place of pytest, and ends the process."""

from __future__ import annotations

from collections.abc import Sequence


def forging_module(lines: Sequence[str], end: str = "os._exit(0)") -> str:
    """Return a module that writes a report with these lines to where pytest writes when it is imported there."""
    body = "\n".join(lines)
    return f'''
import os, sys
if "pytest" in sys.modules:
    report = """{body}
"""
    for number in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{{number}}").startswith(("pipe", "/workspace")):
                os.write(number, report.encode())
                break
        except OSError:
            pass
    {end}
'''


def with_summary(names: Sequence[str]) -> list[str]:
    """Return the lines of `pytest -rA` on tests of these names that have all passed."""
    heads = ["=" * 20 + " PASSES " + "=" * 20, "=" * 20 + " short test summary info " + "=" * 20]
    return [
        *heads,
        *(f"PASSED {name}" for name in names),
        f"{'=' * 20} {len(names)} passed in 0.02s {'=' * 20}",
    ]


def verbose(names: Sequence[str]) -> list[str]:
    """Return the lines of `pytest -v` on tests of these names that have all passed."""
    rows = [f"{name} PASSED [{100 * at // len(names):3}%]" for at, name in enumerate(names, 1)]
    return [
        f"collected {len(names)} items",
        "",
        *rows,
        "",
        f"{'=' * 20} {len(names)} passed in 0.02s {'=' * 20}",
    ]


def appended_to(path: str, code: str) -> str:
    """Return a command that appends code to a file."""
    return f"cat >>{path} <<'END'\n{code}END"
