"""Parser for `go test -v`."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

GO_RUNNER = TestRunner(
    make_line_parser(
        r"--- (?P<status>PASS|FAIL|SKIP): (?P<name>.+) \(.+\)$",
        {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED},
    ),
    make_report_cutter("PASS|FAIL"),
)
"""Runner for `go test -v`. It parses `--- PASS: TestIt/of_nothing (0.00s)`, also for subtests.

A test program ends with a line of one word.
"""
