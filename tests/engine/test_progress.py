"""Progress: what a person sees of a run while it runs."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.engine_kit import Asked, FunctionScorer, always, answer, plan_of, run_plan

from benchwright.engine.progress import Progress, RunningMean
from benchwright.engine.protocols import Score
from benchwright.records import Outcome, Sample, Status


def by_parity(sample: Sample, outcome: Outcome) -> Score:
    """1 for even samples, 0 for odd ones, and every tenth cannot be parsed."""
    if sample.content % 10 == 9:
        return Score(None, Status.UNPARSED)
    return Score(float(sample.content % 2 == 0))


async def test_what_was_done_and_how_it_ended_is_counted(tmp_path: Path) -> None:
    progress = Progress()
    asked = Asked(failing=lambda trial: trial.sample.content >= 18)
    await run_plan(plan_of(20, asked, [FunctionScorer(by_parity)]), tmp_path, listeners=[progress])
    assert (progress.done, progress.total, progress.failed, progress.over) == (20, 20, 2, True)
    assert progress.statuses == {Status.SCORED: 17, Status.UNPARSED: 1, Status.PROVIDER_ERROR: 2}
    assert progress.means["score"].mean == pytest.approx(9 / 17)


async def test_what_earlier_sessions_did_is_done_but_not_of_this_sessions_speed(tmp_path: Path) -> None:
    await run_plan(plan_of(15), tmp_path)
    progress = Progress()
    progress.started(total=20, done=15)
    assert (progress.rate, progress.eta) == (0.0, None), "nothing is known yet"
    await run_plan(plan_of(20), tmp_path, listeners=[progress])
    assert progress.done == 20
    assert progress.rate > 0
    assert progress.eta == 0.0


async def test_scoring_again_makes_no_trial_done_twice(tmp_path: Path) -> None:
    await run_plan(plan_of(5, answer, [always(1.0, "first")]), tmp_path)
    progress = Progress()
    scorers = [always(1.0, "first"), always(0.5, "second")]
    await run_plan(plan_of(5, answer, scorers), tmp_path, listeners=[progress])
    assert (progress.done, progress.total) == (5, 5)
    assert progress.means["second"].n == 5


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
@settings(deadline=None)
def test_a_running_mean_is_the_mean(values: list[float]) -> None:
    running = RunningMean()
    for value in values:
        running.add(value)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert running.mean == pytest.approx(mean, abs=1e-6)
    assert running.half_width == pytest.approx(1.96 * sqrt(variance / len(values)), abs=1e-3)


def test_one_value_has_no_interval() -> None:
    running = RunningMean()
    running.add(1.0)
    assert running.half_width == 0.0
