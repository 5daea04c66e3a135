"""How many tests passed and were skipped with a right solution, noted by `validate`, for passes to be held against.

A test that is skipped fails nobody. Where a pass has fewer tests that passed than the right solution has, or more that
were skipped, the code under test may have made them so.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchwright.catalog.containers.flags import Flag
from benchwright.catalog.containers.tallies import Tally, tally_in
from benchwright.errors import UserError
from benchwright.files import write_whole
from benchwright.home import golds_directory
from benchwright.records import UNREADABLE, Sample
from benchwright.runs.keys import fingerprint

FEWER = "fewer_tests_than_gold"


def note_gold(sample: Sample, log: str) -> None:
    """Notes what the log of the tests of a right solution says; where that cannot be written, nothing is noted."""
    tally = tally_in(log)
    if tally is None:
        return
    try:
        write_whole(_path(sample), msgspec.json.encode(tally))
    except UserError:
        pass


def against_gold(sample: Sample, log: str) -> list[Flag]:
    """The flag of a pass in whose log fewer tests passed, or more were skipped, than was noted of a right solution."""
    gold, tally = _noted(sample), tally_in(log)
    if gold is None:
        return []
    if tally is None:
        return [Flag(FEWER, f"no count of tests in the log; with the right solution: {gold}")]
    if tally.passed >= gold.passed and tally.skipped <= gold.skipped:
        return []
    return [Flag(FEWER, f"{tally}; with the right solution: {gold}")]


def _noted(sample: Sample) -> Tally | None:
    try:
        return msgspec.json.decode(_path(sample).read_bytes(), type=Tally)
    except (OSError, *UNREADABLE):
        return None


def _path(sample: Sample) -> Path:
    content = {name: value for name, value in sample.content.items() if name != "prediction"}
    return golds_directory() / f"{fingerprint('gold', sample.id, content)}.json"
