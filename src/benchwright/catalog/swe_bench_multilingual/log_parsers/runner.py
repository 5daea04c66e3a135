"""Test runners: how their results are parsed from a log, and which part of a log they wrote themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from benchwright.catalog.containers.sealing.closing import to_the_last
from benchwright.catalog.swe_bench.log_parsers import Statuses

PASSED, FAILED, SKIPPED = "PASSED", "FAILED", "SKIPPED"

Read = Callable[[str], Statuses]


def whole(log: str) -> str:
    """Return the log unchanged, for a runner without a closing line."""
    return log


class Runner(msgspec.Struct, frozen=True):
    """A test runner. `read` returns {name of the test: status}, or raises ValueError for an invalid log.

    `reported` returns the part of a log that counts if only the runner itself is trusted.
    """

    read: Read
    reported: Callable[[str], str] = whole


def ending_with(closing: str) -> Callable[[str], str]:
    """Return a function that cuts a log after its last line that fully matches the pattern.

    The runner ends with such a line. Without one, the function returns "".
    """
    pattern = re.compile(closing)

    def reported(log: str) -> str:
        return to_the_last(log, pattern) or ""

    return reported


def lines_of(pattern: str, words: Mapping[str, str]) -> Read:
    """Return a parser of lines with a test and its status: the groups `name` and `status` of a pattern.

    The pattern is matched at the start of each line, without surrounding blanks. Lines with other words are
    skipped. If a test is named twice, the last line counts.
    """
    line_pattern = re.compile(pattern)

    def read(log: str) -> Statuses:
        found = (line_pattern.match(line.strip()) for line in log.split("\n"))
        return {one["name"]: words[one["status"]] for one in found if one and one["status"] in words}

    return read
