"""Passes are held against how many tests passed with the right solution, where that was noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.catalog.containers.gold_tallies import compare_with_gold, store_gold_tally
from benchwright.catalog.containers.test_tallies import SuiteTally, read_tally
from benchwright.records import Sample

SAMPLE = Sample("a", {"patch": "x"})
GOLD = "=========== 3 passed, 1 skipped, 2 warnings in 0.10s ===========\n"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("log", "tally"),
    [
        (GOLD, SuiteTally(3, 1)),
        ("\x1b[32m===== \x1b[1m2 passed\x1b[0m in 1.00s (0:00:01) =====\n", SuiteTally(2, 0)),
        ("..\n2 passed in 0.01s\n1 skipped in 0.02s\n", SuiteTally(2, 1)),
        ("Ran 5 tests in 0.003s\n\nOK (skipped=2)\n", SuiteTally(3, 2)),
        ("Ran 5 tests in 0.003s\n\nFAILED (failures=1, errors=1)\n", SuiteTally(3, 0)),
        ("Tests:       1 failed, 1 skipped, 4 passed, 6 total\n", SuiteTally(4, 1)),
        ("      Tests  1 failed | 3 passed | 2 skipped (6)\n", SuiteTally(3, 2)),
        (
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n"
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            SuiteTally(4, 1),
        ),
        ("3 scenarios (1 failed, 2 passed)\n9 steps (1 failed, 8 passed)\n", SuiteTally(2, 0)),
        ("|  Results: SUCCESS (4 tests, 3 passed, 0 failed, 1 skipped)  |\n", SuiteTally(3, 1)),
        ("OK (3 tests, 7 assertions)\n", SuiteTally(3, 0)),
        ("Tests: 5, Assertions: 7, Errors: 1, Failures: 1, Skipped: 1.\n", SuiteTally(2, 1)),
        ("5 runs, 7 assertions, 1 failures, 0 errors, 1 skips\n", SuiteTally(3, 1)),
        (
            "5 tests, 7 assertions, 1 failures, 0 errors, 1 pendings, 1 omissions, 0 notifications\n",
            SuiteTally(2, 2),
        ),
        ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n", SuiteTally(2, 1)),
        ("ok 1 - it works\n", None),
    ],
)
def test_closing_lines_say_how_many_passed(log: str, tally: SuiteTally | None) -> None:
    assert read_tally(log) == tally


@pytest.mark.parametrize(
    ("log", "evidence"),
    [
        (GOLD, None),
        ("=== 4 passed, 1 skipped in 2.00s ===", None),
        (
            "=== 1 passed, 3 skipped in 2.00s ===",
            "1 passed, 3 skipped; with the right solution: 3 passed, 1 skipped",
        ),
        (
            "=== 2 passed, 1 skipped in 2.00s ===",
            "2 passed, 1 skipped; with the right solution: 3 passed, 1 skipped",
        ),
        ("PASSED", "no count of tests in the log; with the right solution: 3 passed, 1 skipped"),
    ],
)
def test_a_pass_with_fewer_tests_than_the_right_solution_has_a_flag(log: str, evidence: str | None) -> None:
    store_gold_tally(SAMPLE, GOLD)
    flags = [flag.evidence for flag in compare_with_gold(SAMPLE, log)]
    assert flags == ([evidence] if evidence else [])


def test_without_a_note_there_is_no_flag() -> None:
    store_gold_tally(Sample("a", {"patch": "y"}), GOLD)
    assert compare_with_gold(SAMPLE, "") == []
