"""The interface of a test runner: two functions, one that parses results, one that finds the runner's own output."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from benchwright.catalog.containers.sealing.runner_report import cut_after_last
from benchwright.catalog.swe_bench.log_parsers import Statuses

PASSED, FAILED, SKIPPED = "PASSED", "FAILED", "SKIPPED"

ParseLog = Callable[[str], Statuses]


def whole_log(log: str) -> str:
    """Return the log unchanged, for a runner without a closing line."""
    return log


class TestRunner(msgspec.Struct, frozen=True):
    """A test runner's functions.

    `parse_log`: returns {name of the test: status}, or raises ValueError for an invalid log. `runner_report`:
    returns the part of a log that counts if only output of the runner itself is trusted.
    """

    parse_log: ParseLog
    runner_report: Callable[[str], str] = whole_log


def make_report_cutter(closing: str) -> Callable[[str], str]:
    """Return a function that cuts a log after the last line that fully matches the pattern.

    The pattern describes the line with which the runner ends. The function returns "" if no line matches.
    """
    pattern = re.compile(closing)

    def reported(log: str) -> str:
        return cut_after_last(log, pattern) or ""

    return reported


def make_line_parser(pattern: str, words: Mapping[str, str]) -> ParseLog:
    """Return a parser of lines with a test and its status, as the groups `name` and `status` of a pattern.

    The pattern is matched at the start of each line, after blanks around the line are removed. `words` maps
    the runner's status words to statuses; lines with other words are skipped. If a test has several lines,
    the last line counts.
    """
    line_pattern = re.compile(pattern)

    def read(log: str) -> Statuses:
        found = (line_pattern.match(line.strip()) for line in log.split("\n"))
        return {one["name"]: words[one["status"]] for one in found if one and one["status"] in words}

    return read
