"""What may be said when, and what happens to failures, groups and several questions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchwright.stats.intervals import Interval
from benchwright.stats.sequential.confidence_sequence import ConfidenceSequence
from benchwright.stats.sequential.decision import (
    DecisionGoal,
    SequentialDecision,
    SequentialTest,
    verdict_of_interval,
)
from benchwright.stats.sequential.difference_predictor import MAX_PREDICTION_DIFFERENCE, DifferencePredictor
from benchwright.stats.sequential.question_family import QuestionFamily
from benchwright.stats.sequential.units import group_units

pytestmark = pytest.mark.slow


def differences(n: int, mean: float, seed: int) -> np.ndarray:
    """0/1 pairs of which 30 % differ."""
    generator = np.random.default_rng(seed)
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.15 - mean / 2, 0.7, 0.15 + mean / 2])


def decide(least: np.ndarray, most: np.ndarray | None = None, **question: Any) -> SequentialDecision:
    """The decision on differences that came in this order, at its first moment or after all of them."""
    decider = SequentialTest(least.size, **question)
    for low, high in zip(least.tolist(), (least if most is None else most).tolist(), strict=True):
        if decider.add(low, high):
            break
    return decider.decision


@pytest.mark.parametrize(
    ("interval", "goal", "expected"),
    [
        (Interval(0.01, 0.2), "difference", "better"),
        (Interval(-0.2, -0.01), "difference", "worse"),
        (Interval(-0.01, 0.01), "difference", "equivalent"),
        (Interval(0.001, 0.01), "difference", "equivalent"),
        (Interval(-0.01, 0.2), "difference", None),
        (Interval(-0.01, 0.2), "not_worse", "not_worse"),
        (Interval(-0.2, -0.03), "not_worse", "worse"),
        (Interval(-0.2, -0.01), "not_worse", None),
    ],
)
def test_an_interval_says(interval: Interval, goal: DecisionGoal, expected: str | None) -> None:
    assert verdict_of_interval(interval, goal, 0.02) == expected


@pytest.mark.parametrize(
    ("mean", "goal", "expected"),
    [
        (0.15, "difference", "better"),
        (-0.15, "difference", "worse"),
        (0.0, "difference", "equivalent"),
        (0.0, "not_worse", "not_worse"),
        (-0.25, "not_worse", "worse"),
    ],
)
def test_a_clear_case_is_decided_early(mean: float, goal: DecisionGoal, expected: str) -> None:
    values = differences(3000, mean, seed=1)
    decision = decide(values, goal=goal, margin=0.05)
    assert decision.verdict == expected
    assert decision.units < 2500
    assert decision.interval.low <= mean <= decision.interval.high
    assert decision.difference == pytest.approx(values[: decision.units].mean())


def test_all_units_may_not_be_enough() -> None:
    decision = decide(differences(200, 0.0, seed=2))
    assert (decision.verdict, decision.units) == (None, 200)


def test_a_verdict_stays_whatever_comes_after() -> None:
    decider = SequentialTest(1000)
    for value in [1.0] * 40 + [-1.0] * 500:
        decider.add(value)
    assert decider.decision.verdict == "better"
    assert decider.decision.units < 40


def test_at_least_so_many_units_are_looked_at() -> None:
    decision = decide(np.ones(300), at_least=120)
    assert (decision.verdict, decision.units) == ("better", 120)


@pytest.mark.parametrize(
    ("truth", "goal", "wrong"),
    [(-0.05, "not_worse", "not_worse"), (-0.05, "not_worse", "worse"), (0.05, "difference", "equivalent")],
)
def test_at_the_margin_verdicts_are_wrong_with_the_error_at_most(
    truth: float, goal: DecisionGoal, wrong: str
) -> None:
    """The hardest case for each verdict with a margin: the truth lies on it."""
    sequences, n, error = 2000, 300, 0.05
    generator = np.random.default_rng(3)
    values = generator.choice([-1.0, 0.0, 1.0], (n, sequences), p=[0.15 - truth / 2, 0.7, 0.15 + truth / 2])
    side = error / 2 if goal == "difference" else error
    running = ConfidenceSequence(n, side_error=side, thresholds=(-0.05, 0.05), claims=1, shape=(sequences,))
    alarms = np.zeros(sequences, dtype=bool)
    for row in values:
        running.add(row)
        said = {
            "not_worse": running.low > -0.05,
            "worse": running.high < -0.05,
            "equivalent": (running.low > -0.05) & (running.high < 0.05),
        }
        alarms |= said[wrong]
    assert alarms.mean() <= error + 2 * math.sqrt(error * (1 - error) / sequences)


def test_what_failures_could_turn_is_not_decided() -> None:
    """The new model wins wherever it answers, but fails on half of the samples."""
    answered = np.tile([True, False], 200)
    assert decide(np.where(answered, 1.0, 0.0), np.ones(400)).verdict == "better"
    least, most = np.where(answered, 1.0, -1.0), np.where(answered, 1.0, 0.0)
    assert decide(least, most).verdict is None
    assert decide(most).verdict == "better"


def test_groups_become_units_in_the_order_in_which_they_came() -> None:
    units = group_units([1.0, 0.0, -1.0, 0.5], ["b", "a", None, "b"])
    assert units.means.tolist() == [0.75, 0.0, -1.0]
    assert units.sizes.tolist() == [2.0, 1.0, 1.0]


def earlier(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers of a new model (n,), an old one (n,) and eight others (n, 8): easy samples are easy for all."""
    generator = np.random.default_rng(seed)
    ease = generator.beta(0.4, 0.4, n)
    others = (generator.random((n, 8)) < ease[:, None]).astype(float)
    old = (generator.random(n) < ease).astype(float)
    return (generator.random(n) < np.minimum(ease + 0.06, 1)).astype(float), old, others


def looked_ahead(new: np.ndarray, old: np.ndarray, others: np.ndarray) -> int:
    decider, foresight = (
        SequentialTest(new.size, finite=True, reach=MAX_PREDICTION_DIFFERENCE),
        DifferencePredictor(old, others),
    )
    for value in new - old:
        decider.add(float(value), expected=foresight.predict())
        foresight.learn(float(value))
    assert decider.decision.verdict in ("better", "worse")
    return decider.decision.units


def test_earlier_results_save_units() -> None:
    cases = [earlier(600, seed) for seed in range(8)]
    plain = [decide(new - old, finite=True).units for new, old, _ in cases]
    ahead = [looked_ahead(*case) for case in cases]
    assert np.mean(ahead) < 0.85 * np.mean(plain)


def test_however_wrong_the_foresight_is_the_interval_holds() -> None:
    """Old and new do equally well over the list, and the others' results say the contrary of the new one's."""
    wrong = 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        new = generator.permutation(np.repeat([0.0, 1.0], 40))
        old = generator.permutation(new)
        running = ConfidenceSequence(
            80, side_error=0.1, finite=True, reach=MAX_PREDICTION_DIFFERENCE, claims=1
        )
        foresight = DifferencePredictor(old, (1 - new)[:, None])
        for value in new - old:
            running.add(value, expected=foresight.predict())
            foresight.learn(float(value))
            if running.low > 0 or running.high < 0:
                wrong += 1
                break
    assert wrong <= 300 * 0.2 + 2 * math.sqrt(300 * 0.2 * 0.8)


def test_what_is_expected_adds_up_to_nothing_over_the_list() -> None:
    """Given the past, the mean over all that can come next is 0: here for the first unit."""
    _, old, others = earlier(50, seed=3)
    first = [
        DifferencePredictor(np.roll(old, shift), np.roll(others, shift, axis=0)).predict()
        for shift in range(50)
    ]
    assert np.mean(first) == pytest.approx(0.0, abs=1e-12)


def family_of(values: np.ndarray, **question: float) -> QuestionFamily:
    """What a family says of the questions (n, m) after all units, or once all are decided."""
    n, questions = values.shape
    family = QuestionFamily([SequentialTest(n, among=questions, **question) for _ in range(questions)])  # type: ignore[arg-type]
    for row in values:
        for decider, value in zip(family.deciders, row, strict=True):
            decider.add(float(value))
        family.distribute_error()
        if family.is_decided:
            break
    return family


def test_ten_questions_at_once_alarm_as_rarely_as_one() -> None:
    sequences, questions, n = 400, 10, 200
    values = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], (n, sequences, questions), p=[0.2, 0.6, 0.2])
    running = ConfidenceSequence(n, claims=1, shape=(sequences, questions))
    shared = ConfidenceSequence(n, side_error=0.025 / questions, claims=1, shape=(sequences, questions))
    for row in values:
        running.add(row)
        shared.add(row)
    singly, jointly = (((one.low > 0) | (one.high < 0)).any(axis=-1) for one in (running, shared))
    assert singly.mean() > 0.15
    assert jointly.mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / sequences)


def test_a_verdict_leaves_its_share_of_the_error_to_the_others() -> None:
    clear, close = np.ones(300), differences(300, 0.14, seed=4)
    both = family_of(np.stack([clear, close], axis=1))
    alone, halved = decide(close), decide(close, error=0.025)
    assert [one.verdict for one in both.deciders] == ["better", "better"]
    first, second = (one.decision for one in both.deciders)
    assert (first.error, second.error) == (0.025, 0.05)
    assert second.units == alone.units < halved.units
    assert second.interval == alone.interval


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SequentialTest(9, margin=-0.1), "no such question"),
        (lambda: SequentialTest(9, goal="best"), "no such question"),  # type: ignore[arg-type]
        (lambda: group_units([0.0], ["a", "b"]), "equally many"),
        (lambda: DifferencePredictor([0.0], [0.0]), "must be a table"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
