"""Runners of tests: how their results are read from a log, and which part of a log they wrote themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from benchwright.catalog.containers.sealing.closing import to_the_last
from benchwright.catalog.swe_bench.log_parsers import Statuses

PASSED, FAILED, SKIPPED = "PASSED", "FAILED", "SKIPPED"

Read = Callable[[str], Statuses]


def whole(log: str) -> str:
    """The log as it is: of a runner that ends with no line of its own."""
    return log


class Runner(msgspec.Struct, frozen=True):
    """`read` gives {name of the test: status}, and raises ValueError for a log that cannot be read; `reported` gives
    the part of a log that counts if only the runner itself is believed."""

    read: Read
    reported: Callable[[str], str] = whole


def ending_with(closing: str) -> Callable[[str], str]:
    """The log up to the last whole line of this pattern, with which the runner ends; nothing without such a line."""
    pattern = re.compile(closing)

    def reported(log: str) -> str:
        return to_the_last(log, pattern) or ""

    return reported


def lines_of(pattern: str, words: Mapping[str, str]) -> Read:
    """A reader of lines that name a test and its status: the groups `name` and `status` of a pattern, which is matched
    at the start of each line without the blanks around it. Words that mean nothing are passed over; of a test that is
    named twice the last line counts.
    """
    line_pattern = re.compile(pattern)

    def read(log: str) -> Statuses:
        found = (line_pattern.match(line.strip()) for line in log.split("\n"))
        return {one["name"]: words[one["status"]] for one in found if one and one["status"] in words}

    return read
