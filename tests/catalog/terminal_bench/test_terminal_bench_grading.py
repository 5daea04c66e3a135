"""What the tests of a task left behind is worth: Harbor's rewards and the reports of 1.0."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.grading import Verdict
from benchwright.catalog.harbor.grading import grade
from benchwright.catalog.terminal_bench.parsers import LOG_PARSERS, parse_pytest_log, parse_swe_bench_log


def rewarded(text: str | None, json: str | None) -> Verdict:
    """The verdict on tests that left these files."""
    return grade({"ended": "exited", "reward_text": text, "reward_json": json})


def reported(**tests: Any) -> Verdict:
    """The verdict on tests that pytest ran."""
    return grade({"ended": "exited", **tests}, LOG_PARSERS["pytest"])


HEADING = "=========================== short test summary info ============================\n"


@pytest.mark.parametrize(
    ("text", "json", "score"),
    [
        ("1\n", None, 1.0),
        ("0", None, 0.0),
        ("0.25", None, 0.25),
        (None, '{"reward": 1}', 1.0),
        ("0", '{"reward": 1}', 1.0),
        ("1", '{"speed": 0.5, "size": 0.25}', 0.375),
        (None, '{"score": 0.5}', 0.5),
        (None, '{"reward": true}', 1.0),
        (None, '{"reward": 0.5, "speed": 3}', 0.5),
        ("3", None, 1.0),
        ("-1", None, 0.0),
    ],
)
def test_a_reward_is_a_number_in_either_file(text: str | None, json: str | None, score: float) -> None:
    verdict = rewarded(text, json)
    assert (verdict.score, "error" in verdict.details) == (score, False)


@pytest.mark.parametrize(
    ("text", "json"),
    [
        (None, None),
        ("", None),
        ("passed", None),
        ("nan", None),
        ("inf", None),
        (None, "[1]"),
        (None, '{"reward": "1"}'),
        (None, '{"reward": 1, "speed": "fast"}'),
        ("1", '{"reward": NaN}'),
        (None, "{"),
        (None, "1e999"),
        (None, '{"reward": null}'),
    ],
)
def test_what_is_no_reward_is_worth_nothing_and_said_to_be_none(text: str | None, json: str | None) -> None:
    verdict = rewarded(text, json)
    assert (verdict.score, verdict.details["error"]) == (0.0, "the tests wrote no reward")


@given(st.text(), st.one_of(st.none(), st.text()))
def test_no_text_in_the_files_of_rewards_makes_more_than_1_or_less_than_0(
    text: str, json: str | None
) -> None:
    score = rewarded(text, json).score
    assert score is not None
    assert 0.0 <= score <= 1.0
    assert not math.isnan(score)


@pytest.mark.parametrize(
    ("line", "passed"),
    [
        ("PASSED tests/test_outputs.py::test_it", True),
        ("SKIPPED [1] tests/test_outputs.py:3: no reason", True),
        ("XFAIL tests/test_outputs.py::test_it - known", True),
        ("FAILED tests/test_outputs.py::test_it - assert 1 == 2", False),
        ("ERROR tests/test_outputs.py::test_it", False),
        ("XPASS tests/test_outputs.py::test_it", False),
    ],
)
def test_each_word_of_pytests_summary_counts_as_the_harness_counts_it(line: str, passed: bool) -> None:
    results = parse_pytest_log(f"...\n{HEADING}{line}\n=== 1 of something in 0.01s ===\n")
    assert results is not None
    assert list(results.values()) == [passed]


def test_a_test_is_known_by_what_follows_its_first_colons_without_the_message_of_a_failure() -> None:
    log = f"{HEADING}PASSED t.py::Class::test_a[x]\nFAILED t.py::test_b - AssertionError: no\n"
    assert parse_pytest_log(log) == {"Class::test_a[x]": True, "test_b": False}


def test_one_failed_test_fails_the_task() -> None:
    log = f"{HEADING}PASSED t.py::test_a\nFAILED t.py::test_b - AssertionError\n"
    verdict = reported(summary=log)
    assert (verdict.score, verdict.details["tests"]) == (0.0, {"test_a": "passed", "test_b": "failed"})


def test_a_summary_that_a_program_under_test_printed_takes_no_failure_away() -> None:
    printed = f"{HEADING}PASSED t.py::test_a\n"
    log = f"{printed}... {HEADING}FAILED t.py::test_a - AssertionError\n"
    assert reported(log=log).score == 0.0


@pytest.mark.parametrize(
    "log", ["", "collected 2 items\n2 passed\n", HEADING, f"{HEADING}2 passed in 0.1s\n"]
)
def test_without_results_a_task_is_not_solved(log: str) -> None:
    verdict = reported(log=log)
    assert (verdict.score, verdict.details["mode"]) == (0.0, "parse_error")


def test_a_summary_with_a_part_missing_counts_as_none() -> None:
    log = f"{HEADING}PASSED t.py::test_a\n"
    assert reported(summary=log, summary_cut=True).score == 0.0


@pytest.mark.parametrize("piece", ["=", " ", "= ", "=\n", "== short test summary inf ", HEADING, "SKIPPED "])
@pytest.mark.timeout(10)
def test_no_log_takes_long_to_read(piece: str) -> None:
    log = piece * (1_000_000 // len(piece))
    parse_pytest_log(log)
    parse_pytest_log(f"={log}")


@pytest.mark.parametrize(("word", "passed"), [("PASSED", True), ("FAILED", False), ("", False)])
def test_swe_bench_tasks_say_one_word_between_two_marks(word: str, passed: bool) -> None:
    log = f"noise\nSWEBench results starts here\n{word}\nSWEBench results ends here\n"
    assert parse_swe_bench_log(log) == {"tests": passed}


def test_swe_bench_tasks_that_say_nothing_have_no_result() -> None:
    assert parse_swe_bench_log("SWEBench results starts here\nPASSED\n") is None


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        ("timeout", "the tests were ended at their time limit, after 61 s"),
        ("memory", "memory ran out while the tests ran"),
        ("disk", "the tests wrote more to the disk than the task allows"),
    ],
)
def test_a_limit_that_ended_the_tests_is_named(ended: str, why: str) -> None:
    verdict = grade({"ended": ended, "seconds": 61.2})
    assert (verdict.details["error"], verdict.explanation) == (why, why)


@pytest.mark.parametrize("ended", ["timeout", "output", "memory", "container_ended", "disk"])
def test_a_run_of_the_tests_that_a_limit_ended_is_worth_nothing_whatever_it_wrote(ended: str) -> None:
    tests = {"ended": ended, "reward_text": "1", "summary": f"{HEADING}PASSED t.py::test_a\n"}
    assert [grade(tests, parser).score for parser in (None, LOG_PARSERS["pytest"])] == [0.0, 0.0]
