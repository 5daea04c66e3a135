"""When an instance is resolved: the rules of the official harness over the log of its tests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.benchmark import GradedTrial
from benchwright.catalog.grading import Verdict
from benchwright.catalog.swe_bench.grading import ResolvedScorer, grade, missing_result_figures
from benchwright.engine.protocols import Score
from benchwright.records import Outcome, Sample, Status

FIX, KEEP = "t.py::test_fixed", "t.py::test_kept"


def content(fix: list[str] | None = None, keep: list[str] | None = None) -> dict[str, Any]:
    return {
        "repo": "pytest-dev/pytest",
        "FAIL_TO_PASS": [FIX] if fix is None else fix,
        "PASS_TO_PASS": [KEEP] if keep is None else keep,
    }


def log(*lines: str, code: int | None = 0, more: str = "") -> str:
    """What the eval script prints when these are the lines of the test run."""
    ending = "" if code is None else f">>>>> Test Exit Code: {code}\n"
    marks = ("+ : '>>>>> Start Test Output'", "+ : '>>>>> End Test Output'")
    return "\n".join(["+ git status", marks[0], *lines, marks[1], ""]) + ending + more


def verdict(*lines: str, code: int | None = 0) -> Verdict:
    return grade(content(), log(*lines, code=code))


def test_it_is_resolved_when_all_tests_of_both_lists_pass() -> None:
    said = verdict(f"PASSED {FIX}", f"PASSED {KEEP}")
    assert said == Verdict(
        1.0,
        "RESOLVED_FULL",
        "RESOLVED_FULL",
        details={"fail_to_pass_results": {FIX: True}, "pass_to_pass_results": {KEEP: True}},
        explanation="Must pass now: 1 of 1 tests passed.\nMust still pass: 1 of 1 tests passed.",
    )


@pytest.mark.parametrize(
    ("fixed", "kept", "score"),
    [
        ("PASSED", "PASSED", 1.0),
        ("XFAIL", "XFAIL", 1.0),
        ("PASSED", "SKIPPED", 1.0),
        ("SKIPPED", "PASSED", 0.0),
        ("FAILED", "PASSED", 0.0),
        ("ERROR", "PASSED", 0.0),
        ("PASSED", "FAILED", 0.0),
        ("PASSED", "ERROR", 0.0),
        (None, "PASSED", 0.0),
        ("PASSED", None, 0.0),
    ],
)
def test_a_skipped_test_may_still_pass_but_does_not_pass_now(
    fixed: str | None, kept: str | None, score: float
) -> None:
    lines = [f"{status} {name}" for status, name in ((fixed, FIX), (kept, KEEP)) if status]
    assert verdict(*lines).score == score


def test_a_word_that_is_no_status_is_no_pass() -> None:
    assert verdict(f"PASSEDX {FIX}", f"PASSED {KEEP}").score == 0.0


def test_some_tests_fixed_and_all_others_kept_is_partly_resolved() -> None:
    said = grade(content(fix=[FIX, "t.py::test_more"]), log(f"PASSED {FIX}", f"PASSED {KEEP}"))
    assert (said.score, said.predicted) == (0.0, "RESOLVED_PARTIAL")


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (">>>>> Patch Apply Failed", "the patch cannot be applied"),
        (">>>>> Reset Failed", "the repository could not be put back"),
        (">>>>> Tests Errored", "the tests could not be run to their end"),
        (">>>>> Tests Timed Out", "the tests took too long"),
    ],
)
def test_a_mark_of_failure_anywhere_in_the_log_decides(mark: str, said: str) -> None:
    found = grade(content(), log(f"PASSED {FIX}", f"PASSED {KEEP}", more=mark))
    assert (found.score, found.details["error"]) == (0.0, said)


@pytest.mark.parametrize("missing", ["Start", "End"])
def test_without_both_marks_the_tests_were_not_run(missing: str) -> None:
    text = log(f"PASSED {FIX}", f"PASSED {KEEP}").replace(f">>>>> {missing} Test Output", "")
    said = grade(content(), text)
    assert (said.score, said.details["error"]) == (0.0, "the tests were not run to their end")


def test_only_what_stands_between_the_marks_counts() -> None:
    text = log(f"FAILED {FIX}", f"PASSED {KEEP}", more=f"PASSED {FIX}\n")
    assert grade(content(), text).score == 0.0


def test_where_nothing_stands_between_the_marks_the_whole_log_is_read() -> None:
    assert grade(content(), log(more=f"PASSED {FIX}\nPASSED {KEEP}\n")).score == 1.0


def test_a_failing_command_without_a_failed_test_is_not_believed() -> None:
    said = verdict(f"PASSED {FIX}", f"PASSED {KEEP}", code=1)
    assert said.score == 0.0
    assert "exit code 1" in said.details["error"]


def test_a_failing_command_is_believed_where_another_test_has_failed() -> None:
    assert verdict(f"PASSED {FIX}", f"PASSED {KEEP}", "FAILED t.py::other", code=1).score == 1.0


def test_a_log_without_an_exit_code_is_taken_as_it_is() -> None:
    assert verdict(f"PASSED {FIX}", f"PASSED {KEEP}", code=None).score == 1.0


def test_a_name_that_ends_within_its_brackets_stands_for_all_that_begin_so() -> None:
    cut = content(fix=["t.py::test_x[a"], keep=[])
    both = ("PASSED t.py::test_x[a-1]", "XFAIL t.py::test_x[a-2]")
    assert grade(cut, log(*both)).score == 1.0
    assert grade(cut, log(*both, "FAILED t.py::test_x[a-3]", code=1)).score == 0.0
    assert grade(content(fix=["t.py::test_x[a]"], keep=[]), log("PASSED t.py::test_x[a]b")).score == 0.0


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["PASSED", "FAILED", "SKIPPED", "ERROR"])))
def test_one_more_failure_never_resolves(statuses: dict[str, str]) -> None:
    names = [f"t.py::test_{letter}" for letter in statuses]
    lines = [f"{status} {name}" for status, name in zip(statuses.values(), names, strict=True)]
    row = content(fix=names[:2], keep=names[2:])
    before = grade(row, log(*lines, code=None))
    for number, name in enumerate(names):
        worse = [*lines[:number], f"FAILED {name}", *lines[number + 1 :]]
        assert (grade(row, log(*worse, code=None)).score or 0.0) <= (before.score or 0.0)


async def scored(**artifacts: Any) -> Score:
    sample = Sample("pytest-dev__pytest-900001", content())
    return await ResolvedScorer("resolved").score(sample, Outcome(artifacts=artifacts), None)  # type: ignore[arg-type]


async def test_the_score_is_made_of_the_kept_log_alone() -> None:
    score = await scored(patch="the patch", tests={"log": log(f"PASSED {FIX}", f"PASSED {KEEP}")})
    assert (score.value, score.detail and score.detail["model_patch"]) == (1.0, "the patch")


async def test_a_second_pair_of_marks_is_flagged_and_the_first_counts_as_it_does_officially() -> None:
    forged = f">>>>> Start Test Output\nPASSED {FIX}\nPASSED {KEEP}\n>>>>> End Test Output\n"
    said = await scored(patch="diff", tests={"log": forged + log(f"FAILED {FIX}", code=None)})
    assert said.value == 1.0
    assert said.detail is not None
    (flag,) = said.detail["flags"]
    assert flag["kind"] == "forged_marks"
    assert "'>>>>> Start Test Output' 2 times" in flag["evidence"]


async def test_without_a_patch_there_is_no_score_and_every_test_counts_as_failed() -> None:
    score = await scored(patch="", problem="the answer holds no patch")
    assert (score.value, score.status) == (None, Status.UNPARSED)
    assert score.detail is not None
    assert score.detail["error"] == "the answer holds no patch"
    assert score.detail["fail_to_pass_results"] == {FIX: False}


def test_patches_that_are_missing_and_tests_that_say_nothing_are_counted() -> None:
    details: list[dict[str, Any]] = [
        {"model_patch": "p"},
        {"model_patch": "p", "error": "the tests took too long"},
        {"model_patch": "", "error": "there is no patch"},
    ]
    graded = [GradedTrial("s", 0, None, {}, Status.SCORED, None, detail) for detail in details]
    found = {figure.name: figure.value for figure in missing_result_figures(graded)}
    assert found == {"without_patch": 1.0, "without_test_results": 1.0}
