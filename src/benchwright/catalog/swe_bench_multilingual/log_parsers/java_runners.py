"""Parsers for Maven (run once for each test), for JUnit under Ant, and for Gradle with one line per test."""

from __future__ import annotations

import re
from collections import deque

from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

_ASKED = re.compile(r".*-Dtest=(\S+)")
_BUILT = re.compile(r".*BUILD (SUCCESS|FAILURE)$")
_RULE = re.compile(r"(?:.*\s)?-{20,}")

_RESULT = re.compile(r"([^>].+)\s(PASSED|FAILED)$")
_NAME = re.compile(r"[^>]\S*\s+>\s+\S+$")
_RESULTS = ("PASSED", "FAILED")


def parse_maven_log(log: str) -> Statuses:
    """Pair the traced commands in a log, such as `+ mvn test -Dtest=It#adds`, with the build results, in order.

    The test is named in the command. The trace and Maven write at the same time, so that a command may follow
    its result.
    """
    asked, built = deque[str](), deque[str]()
    statuses: Statuses = {}
    for line in map(str.strip, log.split("\n")):
        if test := _ASKED.match(line):
            asked.append(test[1])
        if (result := _BUILT.match(line)) and asked:
            statuses[asked.popleft()] = _built(result[1])
        elif result:
            built.append(result[1])
    statuses.update((test, _built(result)) for test, result in zip(asked, built, strict=False))
    return statuses


def _built(result: str) -> str:
    return PASSED if result == "SUCCESS" else FAILED


def keep_framed_results(log: str) -> str:
    """Return the log with only those build results that are between two dashed lines, as Maven writes them."""
    lines = log.split("\n")
    return "\n".join(
        line
        for number, line in enumerate(lines)
        if not _BUILT.match(line.strip()) or _is_framed(lines, number)
    )


def _is_framed(lines: list[str], number: int) -> bool:
    beside = lines[max(0, number - 1) : number] + lines[number + 1 : number + 2]
    return len(beside) == 2 and all(_RULE.fullmatch(line.strip()) for line in beside)


def parse_gradle_log(log: str) -> Statuses:
    """Parse lines such as `It > adds PASSED`. If other output comes between, the status is on a later line."""
    statuses: Statuses = {}
    pending: str | None = None
    for line in map(str.strip, log.split("\n")):
        if result := _RESULT.match(line):
            statuses[result[1]] = result[2]
            pending = None
        elif _NAME.match(line):
            pending = line
        elif pending is not None and line in _RESULTS:
            statuses[pending] = line
            pending = None
    return statuses


MAVEN_RUNNER = TestRunner(parse_maven_log, keep_framed_results)
ANT_RUNNER = TestRunner(
    make_line_parser(
        r"\[junit\]\s+\[(?P<status>PASS|FAIL|ERR)\]\s+(?P<name>.*)$",
        {"PASS": PASSED, "FAIL": FAILED, "ERR": FAILED},
    ),
    make_report_cutter(r"\s*\[junit\] Tests run: .*"),
)
"""Runner for JUnit under Ant. It parses `[junit] [PASS] It(adds)`."""
GRADLE_RUNNER = TestRunner(
    parse_gradle_log, make_report_cutter(r"\|\s+Results: .*\|\s*|BUILD (?:SUCCESSFUL|FAILED) in .*")
)
