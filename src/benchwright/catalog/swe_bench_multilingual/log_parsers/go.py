"""Parser for `go test -v`."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    Runner,
    line_parser,
    report_cutter,
)

GO = Runner(
    line_parser(
        r"--- (?P<status>PASS|FAIL|SKIP): (?P<name>.+) \(.+\)$",
        {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED},
    ),
    report_cutter("PASS|FAIL"),
)
"""Runner for `go test -v`. It parses `--- PASS: TestIt/of_nothing (0.00s)`, also for subtests.

A test program ends with a line of one word.
"""
