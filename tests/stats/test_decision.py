"""What may be said when, and what happens to failures, groups and several questions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.families import e_holm, mean_e_value
from benchwright.stats.intervals import Interval
from benchwright.stats.sequential.decision import Decider, Goal, decide, verdict
from benchwright.stats.sequential.foresight import REACH, Foresight
from benchwright.stats.sequential.running import RunningInterval
from benchwright.stats.sequential.units import grouped, of_list, worst_cases


def differences(n: int, mean: float, seed: int) -> np.ndarray:
    """0/1 pairs of which 30 % differ."""
    generator = np.random.default_rng(seed)
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.15 - mean / 2, 0.7, 0.15 + mean / 2])


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
def test_an_interval_says(interval: Interval, goal: Goal, expected: str | None) -> None:
    assert verdict(interval, goal, 0.02) == expected


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
def test_a_clear_case_is_decided_early(mean: float, goal: Goal, expected: str) -> None:
    values = differences(3000, mean, seed=1)
    decision = decide(values, planned=3000, goal=goal, margin=0.05)
    assert decision.verdict == expected
    assert decision.units < 2500
    assert decision.interval.low <= mean <= decision.interval.high
    assert decision.difference == pytest.approx(values[: decision.units].mean())


def test_all_units_may_not_be_enough() -> None:
    decision = decide(differences(200, 0.0, seed=2), planned=200)
    assert (decision.verdict, decision.units) == (None, 200)


def test_a_verdict_stays_whatever_comes_after() -> None:
    decider = Decider(1000)
    for value in [1.0] * 40 + [-1.0] * 500:
        decider.add(value)
    assert decider.decision.verdict == "better"
    assert decider.decision.units < 40


def test_at_least_so_many_units_are_looked_at() -> None:
    decision = decide(np.ones(300), planned=300, at_least=120)
    assert (decision.verdict, decision.units) == ("better", 120)


@pytest.mark.parametrize(
    ("truth", "goal", "wrong"),
    [(-0.05, "not_worse", "not_worse"), (-0.05, "not_worse", "worse"), (0.05, "difference", "equivalent")],
)
def test_at_the_margin_verdicts_are_wrong_with_the_error_at_most(
    truth: float, goal: Goal, wrong: str
) -> None:
    """The hardest case for each verdict with a margin: the truth lies on it."""
    sequences, n, error = 2000, 300, 0.05
    generator = np.random.default_rng(3)
    values = generator.choice([-1.0, 0.0, 1.0], (n, sequences), p=[0.15 - truth / 2, 0.7, 0.15 + truth / 2])
    side = error / 2 if goal == "difference" else error
    running = RunningInterval(n, side_error=side, thresholds=(-0.05, 0.05), claims=1, shape=(sequences,))
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


def test_failures_count_as_the_worst_for_either_side() -> None:
    known, failed = np.array([True, True]), np.array([True, False])
    least, most = worst_cases([1.0, 1.0], [0.0, 1.0], known, failed)
    assert least.tolist() == [1.0, 0.0]
    assert most.tolist() == [1.0, 1.0]
    least, most = worst_cases([0.0, math.pi], [0.0, math.pi], failed, failed)
    assert (least.tolist(), most.tolist()) == ([0.0, -1.0], [0.0, 1.0])


def test_what_failures_could_turn_is_not_decided() -> None:
    """The new model wins wherever it answers, but fails on half of the samples."""
    values = np.tile([1.0, 0.0], 200)
    answered = np.tile([True, False], 200)
    least, most = worst_cases(values, np.zeros(400), answered, np.ones(400, dtype=bool))
    assert decide(least, most, planned=400).verdict == "better"
    least, most = worst_cases(values, np.ones(400) * ~answered, answered, np.ones(400, dtype=bool))
    assert decide(least, most, planned=400).verdict is None
    assert decide(most, planned=400).verdict == "better"


def test_groups_become_units_in_the_order_in_which_they_came() -> None:
    units = grouped([1.0, 0.0, -1.0, 0.5], ["b", "a", None, "b"])
    assert units.means.tolist() == [0.75, 0.0, -1.0]
    assert units.sizes.tolist() == [2.0, 1.0, 1.0]


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1)), min_size=1, max_size=40))
def test_a_list_of_groups_has_the_mean_of_its_samples(samples: list[tuple[int, float]]) -> None:
    groups, values = zip(*samples, strict=True)
    units = grouped(values, groups)
    scaled = of_list(units.means, units.sizes, units.sizes.mean(), units.sizes.max())
    assert scaled.values.mean() == pytest.approx(np.mean(values), abs=1e-12)
    assert scaled.bounds[0] - 1e-12 <= scaled.values.min()
    assert scaled.values.max() <= scaled.bounds[1] + 1e-12


def earlier(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers of a new model (n,), an old one (n,) and eight others (n, 8): easy samples are easy for all."""
    generator = np.random.default_rng(seed)
    ease = generator.beta(0.4, 0.4, n)
    others = (generator.random((n, 8)) < ease[:, None]).astype(float)
    old = (generator.random(n) < ease).astype(float)
    return (generator.random(n) < np.minimum(ease + 0.06, 1)).astype(float), old, others


def looked_ahead(new: np.ndarray, old: np.ndarray, others: np.ndarray) -> int:
    decider, foresight = Decider(new.size, finite=True, reach=REACH), Foresight(old, others)
    for value in new - old:
        decider.add(float(value), expected=foresight.expected())
        foresight.learn(float(value))
    assert decider.decision.verdict in ("better", "worse")
    return decider.decision.units


def test_earlier_results_save_units() -> None:
    cases = [earlier(600, seed) for seed in range(8)]
    plain = [decide(new - old, planned=600, finite=True).units for new, old, _ in cases]
    ahead = [looked_ahead(*case) for case in cases]
    assert np.mean(ahead) < 0.85 * np.mean(plain)


def test_however_wrong_the_foresight_is_the_interval_holds() -> None:
    """Old and new do equally well over the list, and the others' results say the contrary of the new one's."""
    wrong = 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        new = generator.permutation(np.repeat([0.0, 1.0], 40))
        old = generator.permutation(new)
        running = RunningInterval(80, side_error=0.1, finite=True, reach=REACH, claims=1)
        foresight = Foresight(old, (1 - new)[:, None])
        for value in new - old:
            running.add(value, expected=foresight.expected())
            foresight.learn(float(value))
            if running.low > 0 or running.high < 0:
                wrong += 1
                break
    assert wrong <= 300 * 0.2 + 2 * math.sqrt(300 * 0.2 * 0.8)


def test_what_is_expected_adds_up_to_nothing_over_the_list() -> None:
    """Given the past, the mean over all that can come next is 0: here for the first unit."""
    _, old, others = earlier(50, seed=3)
    first = [Foresight(np.roll(old, shift), np.roll(others, shift, axis=0)).expected() for shift in range(50)]
    assert np.mean(first) == pytest.approx(0.0, abs=1e-12)


def test_holm_on_e_values() -> None:
    """By hand: the least is its own, or the mean with smaller ones."""
    assert e_holm([40.0, 20.0, 0.0]).tolist() == pytest.approx([20.0, 10.0, 0.0])
    assert e_holm([40.0]).tolist() == [40.0]
    assert e_holm([]).tolist() == []
    assert np.isfinite(e_holm([math.inf, math.inf])).all()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6))
def test_holm_on_e_values_is_the_closure_of_the_mean(e_values: list[float]) -> None:
    """The least mean of all subsets that hold it: Vovk and Wang (2021), the definition that the algorithm shortens."""
    subsets = [
        [place for place in range(len(e_values)) if chosen >> place & 1]
        for chosen in range(1, 2 ** len(e_values))
    ]
    for place, adjusted in enumerate(e_holm(e_values)):
        least = min(
            mean_e_value([e_values[each] for each in subset]) for subset in subsets if place in subset
        )
        assert adjusted == pytest.approx(least, rel=1e-9, abs=1e-9)


def test_ten_questions_at_once_alarm_as_rarely_as_one() -> None:
    sequences, questions, n = 400, 10, 200
    values = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], (n, sequences, questions), p=[0.2, 0.6, 0.2])
    running = RunningInterval(n, claims=1, shape=(sequences, questions))
    singly = np.zeros(sequences, dtype=bool)
    jointly = np.zeros(sequences, dtype=bool)
    for row in values:
        running.add(row)
        evidence = np.concatenate(running.evidence(0.0), axis=-1)
        singly |= (evidence >= 40).any(axis=-1)
        for place in np.flatnonzero((evidence.max(axis=-1) >= 20) & ~jointly):
            jointly[place] = e_holm(evidence[place]).max() >= 20
    assert singly.mean() > 0.15
    assert jointly.mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / sequences)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Decider(9, margin=-0.1), "no such question"),
        (lambda: Decider(9, goal="best"), "no such question"),  # type: ignore[arg-type]
        (lambda: decide([0.0], [0.0, 1.0], planned=9), "equally many"),
        (lambda: grouped([0.0], ["a", "b"]), "equally many"),
        (lambda: of_list([0.0], [1.0], 0.0, 1.0), "above 0"),
        (lambda: e_holm([-1.0]), "not negative"),
        (lambda: mean_e_value([]), "a mean needs"),
        (lambda: Foresight([0.0], [0.0]), "must be a table"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
