"""Several attempts at one cell: the majority's status, and the attempt that stands for all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.repeats import RESULT_STATUSES, majority_status, representative_result


def result(status: str, score: float | None = None, **more: Any) -> dict[str, Any]:
    scored = {} if score is None else {"score": score}
    return {"scenarioId": "A", "status": status, "summary": "said", "rawLog": "log", **scored, **more}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["pass"], "pass"),
        (["pass", "fail"], "partial"),
        (["pass", "pass", "fail"], "pass"),
        (["fail", "pass", "fail"], "fail"),
        (["pass", "fail", "partial"], "partial"),
        (["pass", "pass", "fail", "fail"], "partial"),
        (["partial", "partial", "pass"], "partial"),
    ],
)
def test_the_majority_is_half_and_one_more(statuses: list[str], expected: str) -> None:
    assert majority_status(statuses) == expected


@given(st.lists(st.sampled_from(RESULT_STATUSES), min_size=1, max_size=9))
def test_a_status_without_majority_is_partial(statuses: list[str]) -> None:
    most, votes = Counter(statuses).most_common(1)[0]
    assert majority_status(statuses) == (most if votes > len(statuses) / 2 else "partial")


def test_a_single_attempt_stands_for_itself() -> None:
    only = result("pass", 1, extra="kept")
    assert representative_result([only]) is only


def test_the_best_attempt_with_the_majoritys_status_stands_for_all() -> None:
    made = representative_result([result("pass", 70), result("fail", 99), result("pass", 90, note="best")])
    assert (made["status"], made["score"], made["note"]) == ("pass", 90, "best")


def test_points_decide_where_scores_do_not_and_provider_errors_come_last() -> None:
    assert representative_result([result("pass", points=1), result("pass", points=2)])["points"] == 2
    failed = [result("fail", 50, errorType="provider_error"), result("fail", 0), result("pass", 100)]
    assert representative_result(failed)["score"] == 0


def test_without_a_majority_any_attempt_may_stand_and_is_partial() -> None:
    made = representative_result([result("pass", 100), result("fail", 0)])
    assert (made["status"], made["score"]) == ("partial", 100)


def test_counts_come_before_the_summary_and_logs_after_one_another() -> None:
    timed = [
        result("pass", 1, timings={"startedAt": f"t{number}", "completedAt": f"u{number}", "durationMs": 10})
        for number in range(2)
    ]
    made = representative_result([*timed, result("fail", 0)])
    assert made["summary"] == "2 pass, 1 fail of 3 runs. said"
    assert made["rawLog"].splitlines() == [
        "--- run 1/3 ---", "log", "--- run 2/3 ---", "log", "--- run 3/3 ---", "log",
    ]  # fmt: skip
    assert made["timings"] == {"startedAt": "t0", "durationMs": 20}


def test_odd_scores_of_a_pack_do_not_matter() -> None:
    made = representative_result([{**result("pass"), "score": "high"}, result("pass", 3)])
    assert made["score"] == 3
