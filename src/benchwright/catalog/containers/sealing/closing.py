"""What of a log of tests stands where their runner reports: before its last closing line, in its own summary.

Code under test can print what looks like results, and end the process before the runner says what it found. What it
prints elsewhere counts by the official rules, and not here: a verdict that depends on it is suspicious.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.catalog.containers.flags import Flag

ELSEWHERE = "results_printed_elsewhere"
NAMED = 3
"""Tests that are named one by one."""

_BEGUN = re.compile(
    r"=+ test session starts =+"  # pytest
    r"|Creating test database for alias .*|Found \d+ test.*"  # Django
    r"|=+ test process starts =+"  # SymPy
)
_CLOSED = re.compile(
    r"=+ .*(?:passed|failed|skipped|errors?|no tests ran|deselected|xfailed|xpassed).* in [\d.]+ ?s.*"
    r"|Ran \d+ tests? in [\d.]+s"
    r"|=+ tests finished: .*"
)
_SUMMARY = re.compile(r"=+ short test summary info =+")
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def closed(log: str) -> str:
    """The log to the last closing line of a runner of tests; nothing of what a runner had begun and did not close.

    A log in which no known runner begins is returned as it is.
    """
    if (own := to_the_last(log, _CLOSED)) is not None:
        return own
    lines = log.splitlines(keepends=True)
    begun = next((number for number, line in enumerate(_plain(lines)) if _BEGUN.fullmatch(line)), len(lines))
    return "".join(lines[:begun])


def to_the_last(log: str, closing: re.Pattern[str]) -> str | None:
    """The log to the last line that is of this pattern as a whole, colours aside; None where no line is."""
    lines = log.splitlines(keepends=True)
    ends = [number for number, line in enumerate(_plain(lines), 1) if closing.fullmatch(line)]
    return "".join(lines[: ends[-1]]) if ends else None


def summarized(log: str) -> str:
    """The lines from each of pytest's headings of a summary to the closing line after it; the closed log, where there
    are no such headings.
    """
    log = closed(log)
    lines = log.splitlines(keepends=True)
    kept, reports, headings = [], False, 0
    for line, plain in zip(lines, _plain(lines), strict=True):
        if _SUMMARY.fullmatch(plain):
            reports, headings = True, headings + 1
        elif _CLOSED.fullmatch(plain):
            reports = False
        elif reports:
            kept.append(line)
    return "".join(kept) if headings else log


def elsewhere(tests: Sequence[str]) -> Flag:
    """The flag of a pass for which the runner's own report does not say that these tests passed."""
    more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
    named = ", ".join(tests[:NAMED]) + more
    return Flag(ELSEWHERE, f"what the runner of the tests reported does not say that they passed: {named}")


def _plain(lines: Sequence[str]) -> list[str]:
    """The lines without colours, and without what ends them."""
    return [_COLOURS.sub("", line).rstrip() for line in lines]
