"""Scores by label and over repeats: what failed, and what is missing, is not 0."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.conversations import graded

from benchwright.catalog.breakdowns import Breakdown, Breakdowns, macro_average
from benchwright.catalog.repeat_figures import figures_over_repeats
from benchwright.records import Status
from benchwright.statistic import NoScore
from benchwright.stats.passk import pass_at_k


def broken_down(*scores: tuple[str, float | None]) -> list[Breakdown]:
    found = Breakdowns(["subject"])
    for subject, score in scores:
        found.add({"subject": subject}, score)
    return found.entries("subject")


def test_a_part_of_which_every_trial_failed_has_no_score() -> None:
    arts, stem = broken_down(("stem", None), ("arts", 1.0), ("stem", None), ("arts", 0.0))
    assert arts == Breakdown("subject", "arts", 2, 0.5, 2, 0.5)
    assert (stem.mean, stem.mean_scored, stem.n, stem.n_scored) == (NoScore(2), NoScore(2), 2, 0)


def test_a_failure_is_0_in_the_documented_mean_and_left_out_of_the_other() -> None:
    (part,) = broken_down(("stem", 1.0), ("stem", None))
    assert (part.mean, part.mean_scored, part.n, part.n_scored) == (0.5, 1.0, 2, 1)


def of(subject: str, value: float | None, status: Status = Status.SCORED) -> Any:
    return graded(value, sample=f"{subject}{value}{status}", labels={"subject": subject}, status=status)


def test_a_macro_average_leaves_failures_out_and_says_so() -> None:
    failed = Status.PROVIDER_ERROR
    trials = [of("arts", 1.0), of("arts", None, failed), of("law", 0.0), of("stem", None, failed)]
    found = macro_average(trials, "subject")
    assert found.value == pytest.approx((1.0 + 0.0) / 2)
    assert found.note == "2 failed and left out, and with them 1 of 3"


def test_no_answer_counts_0_in_a_macro_average() -> None:
    found = macro_average([of("arts", 1.0), of("law", None, Status.UNPARSED)], "subject")
    assert (found.value, found.note) == (0.5, None)


def test_a_macro_average_of_failures_alone_is_not_known() -> None:
    assert macro_average([of("arts", None, Status.PROVIDER_ERROR)], "subject").value is None


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=5))
def test_each_k_is_over_the_samples_that_were_tried_as_often(tries: list[tuple[int, int]]) -> None:
    samples = [(n, min(n, c)) for n, c in tries]
    found = {one.name: one for one in figures_over_repeats(samples, (1, 3, 5), pass_at_k, "pass@{}")}
    for k in (1, 3, 5):
        enough = [pass_at_k(n, c, k) for n, c in samples if n >= k]
        assert (f"pass@{k}" in found) == bool(enough)
        if enough:
            one = found[f"pass@{k}"]
            assert one.value == pytest.approx(sum(enough) / len(enough))
            some = f"of {len(enough)} of {len(samples)} samples: the others have fewer than {k} repeats"
            assert one.note == (None if len(enough) == len(samples) else some)
