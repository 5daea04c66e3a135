"""Parser for `phpunit --testdox`."""

from __future__ import annotations

import re

from benchwright.catalog.swe_bench.log_parsers import Statuses
from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    SKIPPED,
    TestRunner,
    make_report_cutter,
)

_SUITE = re.compile(r"(\w.+) \(.+\)$")
_TEST = re.compile(r"\s*([✔✘↩])\s*(.*)$")
_SIGNS = {"✔": PASSED, "✘": FAILED, "↩": SKIPPED}


def parse_testdox_log(log: str) -> Statuses:
    r"""Parse lines such as `✔ It adds`. A heading `Calculator (Tests\Calculator)` makes it `Calculator > It adds`."""
    statuses: Statuses = {}
    suite = "None"  # as the official parser names it
    for line in log.split("\n"):
        if heading := _SUITE.match(line):
            suite = heading[1]
        elif test := _TEST.match(line):
            statuses[f"{suite} > {test[2]}"] = _SIGNS[test[1]]
    return statuses


PHPUNIT_RUNNER = TestRunner(
    parse_testdox_log,
    make_report_cutter(r"OK \(\d+ tests?, .*\)|OK, but .*|Tests: \d+, .*|Time: .*, Memory: .*"),
)
