"""Parsers for Minitest, test-unit, Cucumber, and RSpec, whose JSON the test command converts to lines."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    Runner,
    ending_with,
    lines_of,
)

_LETTERS = {".": PASSED, "F": FAILED, "E": FAILED}

MINITEST = Runner(
    lines_of(r"(?P<name>.+)\. .*=.*(?P<status>[.FE]).*$", _LETTERS),
    ending_with(r"\d+ (?:runs|tests), \d+ assertions, .*|Finished in .*"),
)
"""Parses `TestSite#test_it. = 0.01 s = .`. A skipped test (`S`) passes, because of the dot in its time."""

CUCUMBER = Runner(
    lines_of(r"(?P<name>.*) \.+(?P<status>[.F])", {".": PASSED, "F": FAILED}),
    ending_with(r"\d+ scenarios? \(.*\)"),
)
"""Parses `features/it.feature:3 .....`, with `F` for a step that fails after others. One dot is too few."""

TEST_UNIT = Runner(
    lines_of(
        r"(?:test: )?(?P<name>.+):\s+(?P<status>\.|[EFO]\b)",
        {".": PASSED, "E": FAILED, "F": FAILED, "O": SKIPPED},
    ),
    ending_with(r"\d+ tests, \d+ assertions, .*|Finished in .*"),
)
"""Parses `  test: it adds: .: (0.001)`. `O` means left out."""

RSPEC = Runner(lines_of(r"(?P<name>.+) - (?P<status>passed|failed)", {"passed": PASSED, "failed": FAILED}))
"""Parses `adds two numbers - passed`. `pending` is not read."""
