"""Counts of passed and skipped tests, read from the closing lines of test runners in a log."""

from __future__ import annotations

import re

from benchwright.records import Record


class SuiteTally(Record, frozen=True):
    """The numbers of passed tests and of skipped tests."""

    passed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.skipped} skipped"


_COLOURS = re.compile(r"\x1b\[[\d;]*m")

_LINES = [
    re.compile(line, re.MULTILINE)
    for line in (
        r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?:, )?)+) in [\d.]+ ?s\b.*$",  # pytest
        r"^Ran (?P<total>\d+) tests? in [\d.]+s\s+(?:OK|FAILED)(?: \((?P<counts>.*)\))?$",  # unittest
        r"^Tests:[ \t]+(?P<counts>\d+ \w+.*), \d+ total$",  # Jest
        r"^[ \t]*Tests[ \t]+(?P<counts>\d+ \w+.*) \(\d+\)$",  # Vitest
        r"^test result: \w+\. (?P<counts>.*) measured; ",  # cargo
        r"^\d+ scenarios? \((?P<counts>.*)\)$",  # Cucumber
        r"^\|[ \t]+Results: \w+ \(\d+ tests, (?P<counts>.*)\)[ \t]+\|$",  # Gradle, if configured to
        r"^OK \((?P<total>\d+) tests?, (?P<counts>\d+ assertions?)\)$",  # PHPUnit
        r"^Tests: (?P<total>\d+), Assertions: (?P<counts>.*)\.$",
        r"^(?P<total>\d+) (?:runs|tests), (?P<counts>\d+ assertions, .*)$",  # Minitest, test-unit
        r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), (?P<counts>Failures: \d+, Errors: \d+, Skipped: \d+)$",  # Maven
    )
]
"""Regular expressions for the closing lines of test runners.

The group `counts` matches the counts, each a number with a word. The group `total` matches the number of all
tests, in lines that do not state the number of passed tests.
"""

_COUNT = re.compile(
    r"(?P<before>\d+) (?P<word>[a-z]+)|(?P<words>[a-z][a-z ]{0,30})[=:] ?(?P<after>\d+)", re.IGNORECASE
)
_SKIPPED = ("skipped", "skips", "ignored", "pendings", "omissions", "incomplete")
_NOT_PASSED = (*_SKIPPED, "failures", "errors", "expected failures")


def read_tally(log: str) -> SuiteTally | None:
    """Return the sums over all closing lines in a log. Return None if there is no closing line."""
    log = _COLOURS.sub("", log)
    tallies = [_tally(line) for pattern in _LINES for line in pattern.finditer(log)]
    if not tallies:
        return None
    return SuiteTally(sum(one.passed for one in tallies), sum(one.skipped for one in tallies))


def _tally(line: re.Match[str]) -> SuiteTally:
    counts = {
        (one["word"] or one["words"]).lower(): int(one["before"] or one["after"])
        for one in _COUNT.finditer(line["counts"] or "")
    }
    skipped = sum(counts.get(word, 0) for word in _SKIPPED)
    if "total" not in line.re.groupindex:
        return SuiteTally(counts.get("passed", 0), skipped)
    return SuiteTally(int(line["total"]) - sum(counts.get(word, 0) for word in _NOT_PASSED), skipped)
