"""Parser for `cargo test`."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    TestRunner,
    make_line_parser,
    make_report_cutter,
)

CARGO_RUNNER = TestRunner(
    make_line_parser(r"test\s+(?P<name>\S+)\s+\.\.\.\s+(?P<status>\w+)$", {"ok": PASSED, "FAILED": FAILED}),
    make_report_cutter(r"test result: (?:ok|FAILED)\. .*"),
)
"""Runner for `cargo test`. It parses `test module::it ... ok`.

Tests that are ignored, or that have a note beside their name, are not read.
"""
