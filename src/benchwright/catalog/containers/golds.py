"""How many tests passed and were skipped with a right solution, noted by `validate`, for passes to be held against.

A test that is skipped fails nobody. Where a pass has fewer tests that passed than the right solution has, or more that
were skipped, the code under test may have made them so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from benchwright.catalog.containers.flags import Flag
from benchwright.errors import UserError
from benchwright.files import write_whole
from benchwright.home import golds_directory
from benchwright.records import UNREADABLE, Record, Sample
from benchwright.runs.keys import fingerprint

FEWER = "fewer_tests_than_gold"

_PYTEST = re.compile(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+ ?s\b.*$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (\w+)")
_UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+s\s+(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
_NOT_PASSED = re.compile(r"(skipped|failures|errors|expected failures)=(\d+)")
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


class Tally(Record, frozen=True):
    """How many tests passed and were skipped."""

    passed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.skipped} skipped"


def tally_in(log: str) -> Tally | None:
    """What the closing lines of pytest and unittest in a log say together; None without any."""
    log = _COLOURS.sub("", log)
    tallies = [*_of_pytest(log), *_of_unittest(log)]
    if not tallies:
        return None
    return Tally(sum(one.passed for one in tallies), sum(one.skipped for one in tallies))


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


def _of_pytest(log: str) -> Iterable[Tally]:
    for line in _PYTEST.finditer(log):
        counts = {word: int(count) for count, word in _COUNT.findall(line[1])}
        yield Tally(counts.get("passed", 0), counts.get("skipped", 0))


def _of_unittest(log: str) -> Iterable[Tally]:
    for end in _UNITTEST.finditer(log):
        counts = {word: int(count) for word, count in _NOT_PASSED.findall(end[2] or "")}
        yield Tally(int(end[1]) - sum(counts.values()), counts.get("skipped", 0))


def _noted(sample: Sample) -> Tally | None:
    try:
        return msgspec.json.decode(_path(sample).read_bytes(), type=Tally)
    except (OSError, *UNREADABLE):
        return None


def _path(sample: Sample) -> Path:
    content = {name: value for name, value in sample.content.items() if name != "prediction"}
    return golds_directory() / f"{fingerprint('gold', sample.id, content)}.json"
