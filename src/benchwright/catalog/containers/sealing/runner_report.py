"""Finds the lines in a test log that the test runner itself wrote.

They are the lines before its last closing line, or its summary. Code under test can print forged results, and
end the process before the runner reports. The official rules accept such output outside of the runner's
report. Under a seal, a verdict that depends on it is suspicious.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.catalog.containers.flags import Flag

PRINTED_ELSEWHERE_FLAG = "results_printed_elsewhere"
MAX_NAMED_TESTS = 3
"""Maximum number of tests that a flag lists by name."""

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


def cut_to_runner_output(log: str) -> str:
    """Return the log up to the last closing line of a test runner.

    If there is no closing line, return the log up to the line in which a runner starts. A log without a known
    runner is returned unchanged.
    """
    if (own := cut_after_last(log, _CLOSED)) is not None:
        return own
    lines = log.splitlines(keepends=True)
    begun = next((number for number, line in enumerate(_plain(lines)) if _BEGUN.fullmatch(line)), len(lines))
    return "".join(lines[:begun])


def cut_after_last(log: str, closing: re.Pattern[str]) -> str | None:
    """Return the log up to the last line that fully matches the pattern, ignoring colour codes.

    Return None if no line matches.
    """
    lines = log.splitlines(keepends=True)
    ends = [number for number, line in enumerate(_plain(lines), 1) if closing.fullmatch(line)]
    return "".join(lines[: ends[-1]]) if ends else None


def extract_summaries(log: str) -> str:
    """Return the lines of pytest's summaries. A summary goes from its heading to the next closing line.

    If there are no such headings, return the log as `cut_to_runner_output` does.
    """
    log = cut_to_runner_output(log)
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


def printed_elsewhere_flag(tests: Sequence[str]) -> Flag:
    """Build the flag for a pass with `tests` that the runner's own report does not list as passed."""
    more = f" and {len(tests) - MAX_NAMED_TESTS} more" if len(tests) > MAX_NAMED_TESTS else ""
    named = ", ".join(tests[:MAX_NAMED_TESTS]) + more
    return Flag(
        PRINTED_ELSEWHERE_FLAG,
        f"what the runner of the tests reported does not say that they passed: {named}",
    )


def _plain(lines: Sequence[str]) -> list[str]:
    """Return the lines without colour codes and trailing whitespace."""
    return [_COLOURS.sub("", line).rstrip() for line in lines]
