"""Parsers for Jest, Vitest, Karma with mocha's reporter, and TAP as written by mocha and QUnit."""

from __future__ import annotations

import re

from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

_JEST = re.compile(r"([✓✕○])\s(.+?)(?:\s\(\d+\s*m?s\))?$")
_JEST_SIGNS = {"✓": PASSED, "✕": FAILED, "○": SKIPPED}

_KARMA_LINE = re.compile(r"(\s*)([✔✖])?\s(.*)$")
_KARMA_SIGNS = {"✔": PASSED, "✖": FAILED}
_KARMA_BEGINS, _KARMA_ENDS = "Starting browser", "SUMMARY:"


def parse_karma_log(log: str) -> Statuses:
    """Parse lines such as `✔ it renders`. Indented headings above are part of the name: `render > it renders`.

    Tests count from the line in which a browser starts to the summary. A heading that is indented less than
    the last heading only closes that heading, and does not become part of names.

    Raises:
        ValueError: If a heading would be closed when none is open.
    """
    statuses: Statuses = {}
    headings: list[str] = []
    deepest, begun = -1, False
    for line in log.split("\n"):
        if line.startswith(_KARMA_ENDS):
            break
        if _KARMA_BEGINS in line:
            begun = True
        elif begun and (found := _KARMA_LINE.match(line)):
            blanks, sign, text = found.groups()
            if sign:
                statuses[" > ".join([*headings, text])] = _KARMA_SIGNS[sign]
            elif len(blanks) > max(deepest, 0):
                deepest = len(blanks)
                headings.append(text)
            elif 0 < len(blanks) < deepest:
                deepest = len(blanks)
                if not headings:
                    raise ValueError("more headings end in the log than begin")
                headings.pop()
    return statuses


def parse_jest_log(log: str) -> Statuses:
    """Parse lines such as `✓ adds two numbers (3 ms)`. Names of enclosing groups are not part of the test's name."""
    found = (_JEST.match(line.strip()) for line in log.split("\n"))
    return {one[2].strip(): _JEST_SIGNS[one[1]] for one in found if one}


JEST_RUNNER = TestRunner(parse_jest_log, make_report_cutter(r"\s*Tests:\s+.*\btotal"))

JEST_JSON_RUNNER = TestRunner(
    make_line_parser(r"\[(?P<status>PASSED|FAILED)\]\s(?P<name>.+)$", {"PASSED": PASSED, "FAILED": FAILED})
)
"""Runner for Jest's JSON, which the test command writes as `[PASSED] sum > adds two numbers`."""

VITEST_RUNNER = TestRunner(
    make_line_parser(
        r"(?P<status>[✓×↓])\s(?P<name>.+?)(?:\s(?:\d+\s*m?s?|\[skipped\]))?$",
        {"✓": PASSED, "×": FAILED, "↓": SKIPPED},
    ),
    make_report_cutter(r"\s*Tests\s+.*\(\d+\)"),
)
"""Runner for Vitest. It parses `✓ test/sum.spec.ts > sum > adds two numbers 3ms`.

A number at the end of a name is taken for a time.
"""

KARMA_RUNNER = TestRunner(parse_karma_log, make_report_cutter(rf"{_KARMA_ENDS}.*"))

TAP_RUNNER = TestRunner(
    make_line_parser(r"(?P<status>ok|not ok) \d+ (?P<name>.+)$", {"ok": PASSED, "not ok": FAILED}),
    make_report_cutter(r"# pass \d+.*"),
)
"""Runner for TAP. It parses `ok 1 sum adds two numbers`."""
