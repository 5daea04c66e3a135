"""Parser for `cargo test`."""

from __future__ import annotations

from benchwright.catalog.swe_bench_multilingual.log_parsers.runner import (
    FAILED,
    PASSED,
    Runner,
    ending_with,
    lines_of,
)

CARGO = Runner(
    lines_of(r"test\s+(?P<name>\S+)\s+\.\.\.\s+(?P<status>\w+)$", {"ok": PASSED, "FAILED": FAILED}),
    ending_with(r"test result: (?:ok|FAILED)\. .*"),
)
"""Parses `test module::it ... ok`. Tests that are ignored, or have a note beside their name, are not read."""
