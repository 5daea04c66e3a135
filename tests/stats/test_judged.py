"""Judges beside human labels: agreement, and the corrected mean in its three ways."""

from __future__ import annotations

import numpy as np
import pytest
from tests.known import known

from benchwright.stats.judge_agreement import (
    AgreementCounts,
    RateEstimate,
    count_agreement,
    estimate_agreement,
    estimate_kappa,
    post_stratified_mean,
    prediction_powered_mean,
    rogan_gladen_mean,
    youden_index,
)

LABELLED = AgreementCounts(both_right=30, only_judge_right=4, only_human_right=2, neither_right=14)


def test_labels_and_verdicts_are_counted_against_each_other() -> None:
    assert count_agreement([1, 1, 0, 0, 0], [1, 0, 1, 0, 0]) == AgreementCounts(
        both_right=1, only_judge_right=1, only_human_right=1, neither_right=2
    )


def test_agreement_is_that_of_the_four_counts() -> None:
    found = estimate_agreement(LABELLED)
    assert found.accuracy.value == 44 / 50
    assert known(found.sensitivity).value == 30 / 32
    assert known(found.specificity).value == 14 / 18


def test_kappa_is_that_of_the_textbook() -> None:
    """Fleiss, Levin and Paik (2003), section 18.1, by hand for these counts."""
    chance = 0.68 * 0.64 + 0.32 * 0.36
    assert known(estimate_kappa(LABELLED)).value == pytest.approx((0.88 - chance) / (1 - chance))


def test_a_kappa_of_1_has_an_interval_that_reaches_to_1() -> None:
    found = known(estimate_kappa(AgreementCounts(25, 0, 0, 25)))
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.8 < found.low < 0.95


def test_there_is_no_kappa_where_all_have_one_verdict() -> None:
    assert estimate_agreement(AgreementCounts(50, 0, 0, 0)).kappa is None


def test_a_share_of_no_answers_is_not_known() -> None:
    assert estimate_agreement(AgreementCounts(50, 0, 0, 0)).specificity is None


def test_own_answers_are_weighted_by_the_verdicts_of_all() -> None:
    assert post_stratified_mean(LABELLED, 600, 1000).mean == pytest.approx(0.6 * 30 / 34 + 0.4 * 2 / 16)


def test_dependent_labels_widen_the_interval() -> None:
    alone, dependent = (
        post_stratified_mean(LABELLED, 600, 1000, design_effect=effect) for effect in (1.0, 2.0)
    )
    assert dependent.mean == pytest.approx(alone.mean)
    assert dependent.high - dependent.low > 1.2 * (alone.high - alone.low)


def test_errors_known_from_other_answers_are_taken_back() -> None:
    errs, finds = 4 / 18, 30 / 32
    assert rogan_gladen_mean(LABELLED, 600, 1000).mean == pytest.approx((0.6 - errs) / (finds - errs))


def test_a_judge_that_knows_nothing_cannot_be_corrected_for() -> None:
    with pytest.raises(ValueError, match="add up to no more than 1"):
        rogan_gladen_mean(AgreementCounts(20, 20, 5, 5), 600, 1000)


def test_a_judge_that_may_know_nothing_leaves_everything_open() -> None:
    found = rogan_gladen_mean(AgreementCounts(14, 12, 11, 13), 520, 1000)
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_judge_without_errors_leaves_little_open() -> None:
    assert youden_index(AgreementCounts(250, 0, 0, 250)).low > 0.98


def test_graded_verdicts_that_equal_the_labels_make_the_mean_of_all() -> None:
    generator = np.random.default_rng(1)
    scores = generator.beta(2, 2, 1000)
    found = prediction_powered_mean(scores[:100], scores[:100], scores[100:])
    assert found.mean == pytest.approx(scores.mean(), abs=0.01)
    assert found.high - found.low < 4 * scores.std() / np.sqrt(1000) * 1.1


def test_verdicts_that_say_nothing_leave_the_mean_of_the_labels() -> None:
    generator = np.random.default_rng(2)
    labels = generator.beta(2, 2, 100)
    found = prediction_powered_mean(labels, np.full(100, 0.5), np.full(900, 0.5))
    assert found.mean == pytest.approx(labels.mean())


def test_trials_without_an_answer_count_0() -> None:
    answered = RateEstimate(0.8, 0.78, 0.82)
    assert post_stratified_mean(LABELLED, 600, 1000, answered).mean == pytest.approx(
        0.8 * post_stratified_mean(LABELLED, 600, 1000).mean
    )
