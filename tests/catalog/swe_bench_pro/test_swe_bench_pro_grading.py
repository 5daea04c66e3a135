"""When an instance of SWE-bench Pro is resolved, by what its parser said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.swe_bench_pro.grading import grade
from benchwright.catalog.swe_bench_pro.result_parsing import select_statuses

CONTENT = {"fail_to_pass": ["new"], "pass_to_pass": ["old", "older"]}
ALL = {"new": "PASSED", "old": "PASSED", "older": "PASSED"}


def ran(statuses: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"patch": "diff", "problem": None, "tests": {"statuses": statuses, "applied": True, **more}}


def test_it_is_when_all_of_both_lists_have_passed() -> None:
    verdict = grade(CONTENT, ran(ALL))
    assert (verdict.score, verdict.predicted) == (1.0, "resolved")
    assert verdict.details == {
        "fail_to_pass_results": {"new": True},
        "pass_to_pass_results": {"old": True, "older": True},
        "model_patch": "diff",
        "patch_applied": True,
    }


@pytest.mark.parametrize("status", ["FAILED", "SKIPPED", "ERROR", "passed", "XFAIL"])
@pytest.mark.parametrize("name", ["new", "old"])
def test_it_is_not_when_one_has_another_status(name: str, status: str) -> None:
    verdict = grade(CONTENT, ran({**ALL, name: status}))
    assert verdict.score == 0.0
    results = verdict.details["fail_to_pass_results"] | verdict.details["pass_to_pass_results"]
    assert [test for test, passed in results.items() if not passed] == [name]


@pytest.mark.parametrize("name", ["new", "older"])
def test_it_is_not_when_one_is_missing(name: str) -> None:
    assert grade(CONTENT, ran({test: one for test, one in ALL.items() if test != name})).score == 0.0


def test_empty_lists_resolve_if_there_was_a_result() -> None:
    content: dict[str, list[str]] = {"fail_to_pass": [], "pass_to_pass": []}
    assert grade(content, ran({})).score == 1.0
    assert grade(content, ran({}, problem="the parser wrote no result")).score == 0.0


def test_what_went_wrong_is_told() -> None:
    assert (
        grade(CONTENT, ran(ALL, problem="the tests took too long")).details["error"]
        == "the tests took too long"
    )
    untested = grade(CONTENT, {"patch": "", "problem": "the changes are larger than 4 MiB"})
    assert (untested.score, untested.details["error"]) == (0.0, "the changes are larger than 4 MiB")


def test_an_answer_without_a_patch_has_no_score() -> None:
    assert grade(CONTENT, {"patch": "", "problem": "the answer holds no patch"}).score is None


@given(
    st.dictionaries(st.sampled_from(["new", "old", "older", "other"]), st.sampled_from(["PASSED", "FAILED"]))
)
def test_it_is_the_official_subset_rule(statuses: dict[str, str]) -> None:
    passed = {name for name, status in statuses.items() if status == "PASSED"}
    official = set(CONTENT["fail_to_pass"]) | set(CONTENT["pass_to_pass"]) <= passed
    assert grade(CONTENT, ran(statuses)).score == float(official)


def result(*tests: tuple[str, str]) -> bytes:
    return json.dumps({"tests": [{"name": name, "status": status} for name, status in tests]}).encode()


def test_a_test_that_passed_once_has_passed() -> None:
    for order in ([("new", "FAILED"), ("new", "PASSED")], [("new", "PASSED"), ("new", "FAILED")]):
        assert select_statuses(result(*order), ["new"]) == {"new": "PASSED"}


def test_only_the_instances_own_tests_are_kept() -> None:
    assert select_statuses(result(("new", "FAILED"), ("x" * 10_000, "PASSED")), ["new", "old"]) == {
        "new": "FAILED"
    }


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"not JSON",
        b"[]",
        b"{}",
        b'{"tests": 3}',
        b'{"tests": [{"name": "new"}]}',
        b'{"tests": [{"name": 1, "status": "PASSED"}]}',
        b'{"tests": [{"name": "new", "status": null}]}',
        b'{"tests": ' + b"[" * 100_000,
        b'{"tests": [{"name": "\xff", "status": "PASSED"}]}',
    ],
)
def test_a_result_that_is_none_is_told(text: bytes) -> None:
    with pytest.raises(ValueError, match="the parser's result is invalid"):
        select_statuses(text, ["new"])
