"""Do intervals of corrected scores hold the truth in 95 % of simulated runs? `python -m benchmarks.judges` has more."""

from __future__ import annotations

import pytest
from benchmarks.judges import (
    KAPPA_SCENARIOS,
    LABELS,
    SCENARIOS,
    WAYS,
    coverage,
    kappa_coverage,
    repeated_coverage,
)

pytestmark = pytest.mark.slow

RUNS = 2000


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("way", WAYS)
def test_the_corrected_score_is_covered(way: str, labels: int) -> None:
    for scenario in SCENARIOS:
        assert 0.935 <= coverage(way, scenario, labels, RUNS) <= 0.965, scenario


@pytest.mark.parametrize("labels", LABELS)
def test_kappa_is_covered(labels: int) -> None:
    for scenario in KAPPA_SCENARIOS:
        assert 0.935 <= kappa_coverage(scenario, labels, RUNS) <= 0.965, scenario


@pytest.mark.parametrize("labels", LABELS)
def test_repeats_of_a_question_are_not_taken_for_independent_answers(labels: int) -> None:
    assert 0.93 <= repeated_coverage(labels, 500) <= 0.97
