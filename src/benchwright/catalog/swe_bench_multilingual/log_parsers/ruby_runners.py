"""Parsers for Minitest, test-unit, Cucumber and RSpec. The test command converts RSpec's JSON to lines."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

_LETTERS = {".": PASSED, "F": FAILED, "E": FAILED}

MINITEST_RUNNER = TestRunner(
    make_line_parser(r"(?P<name>.+)\. .*=.*(?P<status>[.FE]).*$", _LETTERS),
    make_report_cutter(r"\d+ (?:runs|tests), \d+ assertions, .*|Finished in .*"),
)
"""Runner for Minitest. It parses `TestSite#test_it. = 0.01 s = .`.

A skipped test (`S`) passes, because of the dot in its time.
"""

CUCUMBER_RUNNER = TestRunner(
    make_line_parser(r"(?P<name>.*) \.+(?P<status>[.F])", {".": PASSED, "F": FAILED}),
    make_report_cutter(r"\d+ scenarios? \(.*\)"),
)
"""Runner for Cucumber. It parses `features/it.feature:3 .....`: one dot for each step, `F` for a failed step.

A line with a single character is not read.
"""

TEST_UNIT_RUNNER = TestRunner(
    make_line_parser(
        r"(?:test: )?(?P<name>.+):\s+(?P<status>\.|[EFO]\b)",
        {".": PASSED, "E": FAILED, "F": FAILED, "O": SKIPPED},
    ),
    make_report_cutter(r"\d+ tests, \d+ assertions, .*|Finished in .*"),
)
"""Runner for test-unit. It parses `  test: it adds: .: (0.001)`. `O` means that the test was omitted."""

RSPEC_RUNNER = TestRunner(
    make_line_parser(r"(?P<name>.+) - (?P<status>passed|failed)", {"passed": PASSED, "failed": FAILED})
)
"""Runner for RSpec. It parses `adds two numbers - passed`. Lines with `pending` are not read."""
