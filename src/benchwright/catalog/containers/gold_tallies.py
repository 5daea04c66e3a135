"""Test counts of gold solutions: stored by `validate`, and compared with the counts of later passes.

A skipped test makes no trial fail, so that code under test can pass by skipping tests. A pass is suspicious
if it has fewer passed tests, or more skipped tests, than the gold solution.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchwright.catalog.containers.flags import Flag
from benchwright.catalog.containers.test_tallies import SuiteTally, read_tally
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.home import gold_results_directory
from benchwright.records import DECODE_ERRORS, Sample
from benchwright.runs.keys import fingerprint

FEWER_TESTS_FLAG = "fewer_tests_than_gold"


def store_gold_tally(sample: Sample, log: str) -> None:
    """Store the test counts in the log of a gold solution. Do nothing if the file cannot be written."""
    tally = read_tally(log)
    if tally is None:
        return
    try:
        write_atomically(_path(sample), msgspec.json.encode(tally))
    except UserError:
        pass


def compare_with_gold(sample: Sample, log: str) -> list[Flag]:
    """Return a flag if a pass has fewer passed tests, or more skipped tests, than the gold solution.

    Return nothing in all other cases, and if no counts are stored.
    """
    gold, tally = _noted(sample), read_tally(log)
    if gold is None:
        return []
    if tally is None:
        return [Flag(FEWER_TESTS_FLAG, f"no count of tests in the log; with the right solution: {gold}")]
    if tally.passed >= gold.passed and tally.skipped <= gold.skipped:
        return []
    return [Flag(FEWER_TESTS_FLAG, f"{tally}; with the right solution: {gold}")]


def _noted(sample: Sample) -> SuiteTally | None:
    try:
        return msgspec.json.decode(_path(sample).read_bytes(), type=SuiteTally)
    except (OSError, *DECODE_ERRORS):
        return None


def _path(sample: Sample) -> Path:
    content = {name: value for name, value in sample.content.items() if name != "prediction"}
    return gold_results_directory() / f"{fingerprint('gold', sample.id, content)}.json"
