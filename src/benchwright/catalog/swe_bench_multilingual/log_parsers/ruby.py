"""Parsers for Minitest, test-unit, Cucumber, and RSpec, whose JSON the test command converts to lines."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    Runner,
    line_parser,
    report_cutter,
)

_LETTERS = {".": PASSED, "F": FAILED, "E": FAILED}

MINITEST = Runner(
    line_parser(r"(?P<name>.+)\. .*=.*(?P<status>[.FE]).*$", _LETTERS),
    report_cutter(r"\d+ (?:runs|tests), \d+ assertions, .*|Finished in .*"),
)
"""Parses `TestSite#test_it. = 0.01 s = .`. A skipped test (`S`) passes, because of the dot in its time."""

CUCUMBER = Runner(
    line_parser(r"(?P<name>.*) \.+(?P<status>[.F])", {".": PASSED, "F": FAILED}),
    report_cutter(r"\d+ scenarios? \(.*\)"),
)
"""Parses `features/it.feature:3 .....`, with `F` for a step that fails after others. One dot is too few."""

TEST_UNIT = Runner(
    line_parser(
        r"(?:test: )?(?P<name>.+):\s+(?P<status>\.|[EFO]\b)",
        {".": PASSED, "E": FAILED, "F": FAILED, "O": SKIPPED},
    ),
    report_cutter(r"\d+ tests, \d+ assertions, .*|Finished in .*"),
)
"""Parses `  test: it adds: .: (0.001)`. `O` means left out."""

RSPEC = Runner(line_parser(r"(?P<name>.+) - (?P<status>passed|failed)", {"passed": PASSED, "failed": FAILED}))
"""Parses `adds two numbers - passed`. `pending` is not read."""
