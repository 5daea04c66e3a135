"""Progress: what a person sees of a run while it runs."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.engine_kit import TARGET, Asked, FunctionScorer, always, answer, plan_of, run_plan
from tests.known import known

from benchwright.analysis.scores import ScoreScale, ScoreValues
from benchwright.analysis.scores import mean_of as mean_of_scores
from benchwright.engine.progress import LiveProgress, RunningMean
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample, Status, Target, Trial
from benchwright.reports.progress import status_line
from benchwright.runs.table import RunTable
from benchwright.stats.intervals import Interval, wilson_interval
from benchwright.stats.score_means import estimate_mean


def by_parity(sample: Sample, outcome: Outcome) -> Score:
    """1 for even samples, 0 for odd ones, and every tenth cannot be parsed."""
    if sample.content % 10 == 9:
        return Score(None, Status.UNPARSED)
    return Score(float(sample.content % 2 == 0))


async def test_what_was_done_and_how_it_ended_is_counted(tmp_path: Path) -> None:
    progress = LiveProgress()
    asked = Asked(failing=lambda trial: trial.sample.content >= 18)
    await run_plan(plan_of(20, asked, [FunctionScorer(by_parity)]), tmp_path, listeners=[progress])
    assert (progress.done, progress.total, progress.failed_trials, progress.is_over) == (20, 20, 2, True)
    assert progress.statuses == {Status.SCORED: 17, Status.UNPARSED: 1, Status.PROVIDER_ERROR: 2}
    assert progress.means["primary", "score"].mean == pytest.approx(9 / 18), "no answer counts as 0"


async def test_what_earlier_sessions_did_is_done_but_not_of_this_sessions_speed(tmp_path: Path) -> None:
    await run_plan(plan_of(15), tmp_path)
    progress = LiveProgress()
    progress.on_start(total=20, done=15, again=0)
    assert (progress.trials_per_second, progress.eta) == (0.0, None), "nothing is known yet"
    await run_plan(plan_of(20), tmp_path, listeners=[progress])
    assert progress.done == 20
    assert progress.trials_per_second > 0
    assert progress.eta == 0.0


def test_what_goes_on_beside_the_trials_stands_in_the_line_while_it_does() -> None:
    progress, pulling = LiveProgress(), ["pulling swebench/one:latest"]
    progress.set_activities(lambda: pulling)
    assert "pulling swebench/one:latest" in status_line(progress, {})
    pulling.clear()
    assert "pulling" not in status_line(progress, {})


async def test_two_models_have_a_mean_each(tmp_path: Path) -> None:
    """One mean of both would be a score that no model has."""
    targets = [Target(slot, slot, TARGET.base_url) for slot in ("primary", "baseline")]
    progress = LiveProgress()
    await run_plan(plan_of(4, answer, [always(1.0)], targets=targets), tmp_path, listeners=[progress])
    assert {key: mean.n for key, mean in progress.means.items()} == {
        ("primary", "score"): 4,
        ("baseline", "score"): 4,
    }


def test_what_is_asked_again_is_still_to_be_done() -> None:
    progress = LiveProgress()
    progress.on_start(total=20, done=15, again=5)
    assert (progress.done, progress.total) == (10, 20)


async def test_scoring_again_makes_no_trial_done_twice(tmp_path: Path) -> None:
    await run_plan(plan_of(5, answer, [always(1.0, "first")]), tmp_path)
    progress = LiveProgress()
    scorers = [always(1.0, "first"), always(0.5, "second")]
    await run_plan(plan_of(5, answer, scorers), tmp_path, listeners=[progress])
    assert (progress.done, progress.total) == (5, 5)
    assert progress.means["primary", "second"].n == 5


async def test_a_trial_that_was_cut_off_is_neither_done_nor_failed(tmp_path: Path) -> None:
    async def solve(trial: Trial, session: Session) -> Outcome:
        if trial.sample.content == 24:
            await asyncio.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)
        if trial.sample.content >= 20:
            await asyncio.sleep(60)
        return await answer(trial, session)

    progress = LiveProgress()
    plan = plan_of(40, solve, [always(1.0)])
    result = await run_plan(plan, tmp_path, concurrency=5, listeners=[progress])
    table = RunTable(tmp_path)
    table.read_journal()
    assert result.is_interrupted
    assert len(table) == 25, "five were cut off"
    assert (progress.done, progress.failed_trials) == (len(table.counted_rows()), 0) == (20, 0)
    assert progress.statuses == {Status.SCORED: 20}
    assert progress.means["primary", "score"].n == 20


async def test_no_answer_counts_as_0_and_a_failure_does_not_count(tmp_path: Path) -> None:
    def score(sample: Sample, outcome: Outcome) -> Score:
        if sample.content >= 8:
            raise ValueError("cannot grade this")
        return Score(1.0) if sample.content < 5 else Score(None, Status.UNPARSED)

    progress = LiveProgress()
    await run_plan(plan_of(10, answer, [FunctionScorer(score)]), tmp_path, listeners=[progress])
    assert (progress.done, progress.failed_trials) == (10, 2)
    mean = progress.means["primary", "score"]
    assert (mean.n, mean.mean) == pytest.approx((8, 5 / 8))
    assert mean.interval == wilson_interval(5, 8)


@given(st.lists(st.integers(-(10**9), 10**9).map(lambda n: n / 1000), min_size=2, max_size=50))
@settings(deadline=None)
def test_a_running_mean_has_the_interval_that_the_summary_has(values: list[float]) -> None:
    running = mean_of(values)
    assert running.mean == pytest.approx(sum(values) / len(values), abs=1e-6)
    expected = in_the_summary(values)
    if running.interval is not None and expected is not None:
        assert running.interval == pytest.approx(expected, rel=1e-6, abs=1e-2)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=50))
@settings(deadline=None)
def test_rights_and_wrongs_have_wilsons_interval(values: list[float]) -> None:
    assert mean_of(values).interval == wilson_interval(sum(values), len(values))
    assert mean_of(values).interval == estimate_mean(values).interval


def test_five_of_five_may_still_be_luck() -> None:
    interval = mean_of([1.0] * 5).interval
    assert interval is not None
    assert interval == pytest.approx((0.566, 1.0), abs=1e-3)


@pytest.mark.parametrize(
    "values", [[0.5] * 5, [0.97, 0.99, 1.0, 1.0], [0.0, 0.02, 0.02], [0.2, 0.4, 0.9], [0.0] * 3, [7.0, 2.0]]
)
def test_the_interval_is_the_one_that_the_summary_will_have(values: list[float]) -> None:
    """Within the range, and never without width."""
    interval = known(mean_of(values).interval)
    assert interval == pytest.approx(known(in_the_summary(values)))
    assert interval.low < interval.high


async def test_repeats_are_no_further_samples(tmp_path: Path) -> None:
    """Five repeats of two samples are not ten: their interval is left to the summary, which sees the samples."""
    progress = LiveProgress()
    plan = plan_of(2, answer, [always(1.0)], repeats=5)
    await run_plan(plan, tmp_path, listeners=[progress])
    mean = progress.means["primary", "score"]
    assert (mean.n, mean.mean, mean.interval) == (10, 1.0, None)


@pytest.mark.parametrize("values", [[1.0], [0.3], [5.0] * 4])
def test_what_says_nothing_of_the_error_has_no_interval(values: list[float]) -> None:
    assert mean_of(values).interval is None


def in_the_summary(values: list[float]) -> Interval | None:
    """The interval of these scores, one of each sample, as a summary has it."""
    scale = ScoreScale(0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else ScoreScale()
    found = ScoreValues(np.array(values), None, None, 0, 0, scale)
    return known(mean_of_scores(found)).interval


def mean_of(values: list[float]) -> RunningMean:
    running = RunningMean()
    for value in values:
        running.add(value)
    return running
