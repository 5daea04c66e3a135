"""What intervals of corrected scores cover, simulated: the tables of docs/judges.md. `python -m benchmarks.judges`"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchwright.stats.judge_agreement import (
    AgreementCounts,
    CorrectedMean,
    count_agreement,
    estimate_kappa,
    post_stratified_mean,
    prediction_powered_mean,
    rogan_gladen_mean,
)
from benchwright.stats.score_means import estimate_mean

ANSWERS = 1000
LABELS = (50, 100, 500)
RUNS = 10_000
SEED = 20261125


class Scenario(NamedTuple):
    """A share of right answers, and how a judge sees them."""

    right: float
    sensitivity: float
    specificity: float


SCENARIOS = (
    Scenario(0.5, 0.9, 0.9),
    Scenario(0.3, 0.8, 0.9),
    Scenario(0.6, 0.9, 0.7),
    Scenario(0.7, 0.95, 0.85),
    Scenario(0.8, 0.9, 0.8),
)
KAPPA_SCENARIOS = (
    Scenario(0.5, 0.9, 0.9),
    Scenario(0.3, 0.8, 0.9),
    Scenario(0.6, 0.9, 0.7),
    Scenario(0.8, 0.9, 0.8),
)
BEYOND = (Scenario(0.2, 0.95, 0.95), Scenario(0.5, 0.97, 0.97), Scenario(0.5, 0.99, 0.99))
"""Judges that err so rarely that 50 labels show one or two errors, or none."""


def own_answers(generator: np.random.Generator, scenario: Scenario, labels: int) -> CorrectedMean:
    """Labels of the run's own answers, drawn at random."""
    truth, verdicts = _judged(generator, scenario, ANSWERS)
    drawn = generator.choice(ANSWERS, labels, replace=False)
    return post_stratified_mean(count_agreement(truth[drawn], verdicts[drawn]), int(verdicts.sum()), ANSWERS)


def other_answers(generator: np.random.Generator, scenario: Scenario, labels: int) -> CorrectedMean:
    """Labels of other answers, half of them right."""
    _, verdicts = _judged(generator, scenario, ANSWERS)
    truth, seen = _judged(generator, scenario._replace(right=0.5), labels)
    return rogan_gladen_mean(count_agreement(truth, seen), int(verdicts.sum()), ANSWERS)


def graded_answers(generator: np.random.Generator, scenario: Scenario, labels: int) -> CorrectedMean:
    """Graded labels of the run's own answers, and a judge that is the less exact the less sensitive it is."""
    truth = generator.beta(4 * scenario.right, 4 * (1 - scenario.right), ANSWERS)
    noise = generator.normal(0.05, 1.2 - scenario.sensitivity, ANSWERS)
    verdicts = np.clip(truth + noise, 0, 1)
    drawn = generator.choice(ANSWERS, labels, replace=False)
    return prediction_powered_mean(truth[drawn], verdicts[drawn], np.delete(verdicts, drawn))


WAYS: Mapping[str, Callable[[np.random.Generator, Scenario, int], CorrectedMean]] = {
    "own answers": own_answers,
    "other answers": other_answers,
    "graded": graded_answers,
}


def coverage(way: str, scenario: Scenario, labels: int, runs: int) -> float:
    """The share of intervals that hold the true share of right answers, which is also the mean of graded ones."""
    generator = np.random.default_rng(SEED)
    found = (WAYS[way](generator, scenario, labels) for _ in range(runs))
    return float(np.mean([one.low <= scenario.right <= one.high for one in found]))


def repeated_coverage(labels: int, runs: int) -> float:
    """The same for labels of answers to 250 questions, each asked four times, that differ in how hard they are."""
    generator = np.random.default_rng(SEED)
    right, sensitivity, specificity = SCENARIOS[2]
    questions = np.repeat(np.arange(ANSWERS // 4), 4)
    held = 0
    for _ in range(runs):
        chance = generator.beta(2 * right, 2 * (1 - right), ANSWERS // 4)[questions]
        truth = generator.random(ANSWERS) < chance
        verdicts = generator.random(ANSWERS) < np.where(truth, sensitivity, 1 - specificity)
        drawn = generator.choice(ANSWERS, labels, replace=False)
        effects = [_design_effect(truth[drawn], questions[drawn]), _design_effect(verdicts, questions)]
        worth = ANSWERS / effects[1]
        counts = count_agreement(truth[drawn], verdicts[drawn])
        found = post_stratified_mean(counts, worth * verdicts.mean(), worth, design_effect=effects[0])
        held += found.low <= right <= found.high
    return held / runs


def _design_effect(values: np.ndarray, clusters: np.ndarray) -> float:
    return max(1.0, estimate_mean(values.astype(float), groups=clusters.tolist()).design_effect or 1.0)


def kappa_coverage(scenario: Scenario, labels: int, runs: int) -> float:
    """The share of intervals that hold the true kappa; one that is missing holds nothing."""
    generator = np.random.default_rng(SEED)
    right, sensitivity, specificity = scenario
    shares = [
        right * sensitivity,
        (1 - right) * (1 - specificity),
        right * (1 - sensitivity),
        (1 - right) * specificity,
    ]
    judged = shares[0] + shares[1]
    chance = judged * right + (1 - judged) * (1 - right)
    truth = (shares[0] + shares[3] - chance) / (1 - chance)
    found = [
        estimate_kappa(AgreementCounts(*cells))
        for cells in generator.multinomial(labels, shares, runs).tolist()
    ]
    return float(np.mean([one is not None and one.low <= truth <= one.high for one in found]))


def uncorrected(scenario: Scenario, runs: int) -> float:
    """What the interval of the judge's own mean covers of the truth."""
    generator = np.random.default_rng(SEED)
    found = (
        estimate_mean(_judged(generator, scenario, ANSWERS)[1].astype(float)).interval for _ in range(runs)
    )
    return float(np.mean([one is not None and one.low <= scenario.right <= one.high for one in found]))


def _judged(generator: np.random.Generator, scenario: Scenario, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(which of n answers are right, which of them the judge finds right)."""
    truth = generator.random(n) < scenario.right
    chance = np.where(truth, scenario.sensitivity, 1 - scenario.specificity)
    return truth, generator.random(n) < chance


def table(runs: int) -> Iterator[str]:
    """Markdown: a line for each scenario, a column for each way and number of labels."""
    columns = [f"{way}, {labels}" for way in (*WAYS, "kappa") for labels in LABELS]
    yield f"| right | sensitivity | specificity | the judge's mean | {' | '.join(columns)} |"
    yield "|---" * (4 + len(columns)) + "|"
    for scenario in (*SCENARIOS, *BEYOND):
        shares = [uncorrected(scenario, min(runs, 1000))]
        shares += [coverage(way, scenario, labels, runs) for way in WAYS for labels in LABELS]
        shares += [kappa_coverage(scenario, labels, runs) for labels in LABELS]
        yield f"| {_percent(scenario, 0)} | {_percent(shares, 1)} |"


def _percent(shares: Sequence[float], digits: int) -> str:
    return " | ".join(f"{share:.{digits}%}" for share in shares)


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS):
        print(line, flush=True)
    for labels in LABELS:
        print(
            f"250 questions with four repeats, {labels} labels: {repeated_coverage(labels, 2000):.1%}",
            flush=True,
        )
