"""Quality and speed of the same requests: of runs written by hand, so that every figure is known beforehand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.app.compare_kit import Made, made, shuffled, write_run

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.quality_and_speed.records import ConcurrencyTable, JointView, SpeedAccuracy
from benchwright.analysis.quality_and_speed.run_views import joint_views
from benchwright.analysis.quality_and_speed.views import joint_view
from benchwright.records import RunEvent, Status, Target, Usage
from benchwright.reports.comparison.markdown import render_markdown
from benchwright.reports.quality_and_speed import (
    association_text,
    concurrency_trend_text,
    outcome_counts_text,
)
from benchwright.reports.terminal import render_comparison_answer
from benchwright.runs.journal import Journal
from benchwright.stats.intervals import wilson_interval

BUSY = {"samples": 100, "p50": 1_000_000, "p99": 50_000_000, "longest": 90_000_000}


def one_after_the_other(values: Sequence[float | None], latency: float = 1.0, **more: Any) -> list[Made]:
    """Trials that never overlap: each begins when the one before has ended."""
    return [
        Made(str(number), value, begun=number * latency, latency=latency, **more)
        for number, value in enumerate(values)
    ]


def view_of(place: Path, trials: list[Made], **changes: Any) -> JointView:
    (view,) = joint_views(RunSides(write_run(place / "run", trials, **changes), ""))
    return view


def speed(view: JointView, metric: str = "latency") -> SpeedAccuracy:
    (found,) = (one for one in view.by_speed if one.metric == metric)
    return found


def compared(*runs: Path) -> Comparison:
    return compare([str(run) for run in runs], ComparisonOptions()).comparison


def terminal(comparison: Comparison) -> str:
    out = io.StringIO()
    Console(file=out, width=400, highlight=False).print(render_comparison_answer(comparison, details=True))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


class TestCorrectPerSecond:
    def test_it_is_what_was_right_by_the_time_in_which_trials_were_under_way(self, tmp_path: Path) -> None:
        view = view_of(tmp_path, one_after_the_other([1, 1, 1, 0, 1, 1, 0, 1], latency=0.5))
        rate = view.correct_per_second
        assert rate is not None
        assert (rate.correct, rate.n_groups) == (6, 8)
        assert rate.per == pytest.approx(4.0)
        assert rate.value == pytest.approx(1.5)
        assert view.working_seconds == pytest.approx(4.0)
        assert view.requests_per_second == pytest.approx(2.0)
        assert rate.low is not None
        assert rate.high is not None
        assert 0 < rate.low < 1.5 < rate.high

    def test_trials_at_the_same_time_take_it_once(self, tmp_path: Path) -> None:
        view = view_of(tmp_path, made([1] * 8, latency=2.0))
        assert view.working_seconds == pytest.approx(2.0, abs=1e-6)

    def test_a_pause_between_two_sessions_is_no_working_time(self, tmp_path: Path) -> None:
        before = one_after_the_other([1] * 4)
        after = [Made(str(number), 1.0, begun=86_400.0 + number) for number in range(4, 8)]
        assert view_of(tmp_path, before + after).working_seconds == pytest.approx(8.0)

    def test_what_failed_takes_time_and_is_not_wrong(self, tmp_path: Path) -> None:
        trials = one_after_the_other([1] * 10)
        trials += [Made("x", failed=Status.PROVIDER_ERROR, begun=10.0, latency=5.0)]
        view = view_of(tmp_path, trials)
        assert view.correct_per_second is not None
        assert view.correct_per_second.value == pytest.approx(10 / 15)
        assert (view.judged.failed, view.judged.wrong, view.judged.accuracy) == (1, 0, 1.0)

    def test_an_attempt_that_was_made_again_takes_its_time_too(self, tmp_path: Path) -> None:
        trials = one_after_the_other([1] * 8)
        trials += [
            Made("8", failed=Status.PROVIDER_ERROR, begun=8.0),
            Made("8", 1.0, begun=9.0, attempt=1),
        ]
        view = view_of(tmp_path, trials)
        assert view.judged.trials == 9
        assert view.working_seconds == pytest.approx(10.0)
        assert view.completion_tokens == 50

    def test_a_trial_whose_last_attempt_failed_has_failed_whatever_it_was_before(
        self, tmp_path: Path
    ) -> None:
        trials = one_after_the_other([1] * 10)
        again = Made("3", failed=Status.PROVIDER_ERROR, begun=10.0, attempt=1)
        view = view_of(tmp_path, [*trials, again])
        assert (view.judged.correct, view.judged.failed, view.judged.trials) == (9, 1, 10)

    def test_what_was_cut_off_takes_its_time_and_is_no_trial(self, tmp_path: Path) -> None:
        trials = [*one_after_the_other([1] * 8), Made("8", failed=Status.CANCELLED, begun=8.0, latency=2.0)]
        view = view_of(tmp_path, trials)
        assert view.judged.trials == 8
        assert view.correct_per_second is not None
        assert view.correct_per_second.value == pytest.approx(8 / 10)

    def test_each_target_has_the_time_of_its_own_trials(self, tmp_path: Path) -> None:
        targets = [Target(slot, slot, "http://127.0.0.1:9/v1") for slot in ("primary", "baseline")]
        trials = one_after_the_other([1] * 8)
        trials += one_after_the_other([1, 0] * 4, latency=2.0, slot="baseline")
        first, second = joint_views(RunSides(write_run(tmp_path / "run", trials, targets=targets), ""))
        assert (first.slot, second.slot) == ("primary", "baseline")
        assert (first.working_seconds, second.working_seconds) == pytest.approx((8.0, 16.0))
        assert any("2 targets ran at the same time" in note for note in first.notes)


class TestCorrectPerTokens:
    def test_completion_tokens_and_all_tokens(self, tmp_path: Path) -> None:
        view = view_of(tmp_path, made([1] * 6 + [0] * 4, usage=Usage(300, 100)))
        completion, total = view.correct_per_1000_completion_tokens, view.correct_per_1000_tokens
        assert completion is not None
        assert total is not None
        assert completion.value == pytest.approx(6.0)
        assert total.value == pytest.approx(6 / 4)
        assert (view.prompt_tokens, view.completion_tokens) == (3000, 1000)

    def test_answers_without_a_number_of_tokens_leave_no_rate_and_say_so(self, tmp_path: Path) -> None:
        trials = [*made([1] * 9), Made("9", usage=Usage())]
        view = view_of(tmp_path, trials)
        assert view.correct_per_1000_completion_tokens is view.correct_per_1000_tokens is None
        assert view.notes == [
            "1 of 10 answered requests came without token counts, "
            "so there are no correct answers per 1,000 tokens"
        ]


class TestFastAndSlow:
    def test_quarters_with_their_denominators_and_intervals(self, tmp_path: Path) -> None:
        trials = [
            Made(str(number), float(number not in (9, 10, 11)), latency=1.0 + number) for number in range(12)
        ]
        found = speed(view_of(tmp_path, trials))
        assert [(one.correct, one.n) for one in found.buckets] == [(3, 3), (3, 3), (3, 3), (0, 3)]
        assert (found.buckets[0].fastest, found.buckets[0].slowest) == (1.0, 3.0)
        low, high = wilson_interval(0, 3)
        assert (found.buckets[3].low, found.buckets[3].high) == (low, high)
        assert (found.wrong_slower, found.test) == (1.0, "mann-whitney")
        assert found.p_value is not None
        assert found.p_value < 0.02

    def test_repeats_of_a_sample_are_counted_together(self, tmp_path: Path) -> None:
        trials = [
            Made(str(sample), float(repeat > 0), repeat=repeat, latency=2.0 - repeat / 2)
            for sample in range(12)
            for repeat in range(3)
        ]
        found = speed(view_of(tmp_path, trials))
        assert found.test == "clustered-rank"
        assert found.buckets[0].method == "wilson"  # no sample is twice among the fastest
        assert found.within is not None
        within = found.within
        assert (within.samples, within.wrong_slower, within.wrong_faster) == (12, 12, 0)
        assert within.p_value == pytest.approx(2.0**-12, rel=1e-6)

    def test_no_answer_is_wrong_and_what_failed_is_left_out(self, tmp_path: Path) -> None:
        trials = made([1] * 8 + [None] * 2) + [
            Made(str(number), failed=Status.PROVIDER_ERROR) for number in (10, 11)
        ]
        view = view_of(tmp_path, trials)
        assert (view.judged.correct, view.judged.no_answer, view.judged.failed) == (8, 2, 2)
        assert view.judged.n == 10
        assert (speed(view).n, speed(view).correct) == (10, 8)
        assert outcome_counts_text(view.judged) == (
            "8 correct of 10 graded (2 without an answer, counted wrong), 2 failed and left out of the accuracy"
        )

    def test_without_streaming_there_is_latency_only(self, tmp_path: Path) -> None:
        view = view_of(tmp_path, made([1, 0] * 5, ttft=None))
        assert [one.metric for one in view.by_speed] == ["latency"]

    def test_where_all_are_right_there_is_nothing_to_tell(self, tmp_path: Path) -> None:
        found = speed(view_of(tmp_path, made([1] * 9)))
        assert found.wrong_slower is None
        assert association_text(found) == "by latency nothing to compare: all 9 answers are correct"

    def test_a_score_is_right_from_the_threshold_on(self, tmp_path: Path) -> None:
        view = view_of(tmp_path, made([0.4, 0.5, 0.6, 0.9, 1.0] * 2), pass_threshold=0.6)
        assert (view.judged.correct, view.judged.wrong, view.threshold) == (6, 4, 0.6)

    @settings(max_examples=25, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from([0.0, 1.0, None, "failed"]),
                st.integers(1, 30),
                st.sampled_from([None, "g", "h"]),
                st.booleans(),
            ),
            min_size=8,
            max_size=30,
        ),
        st.integers(0, 5),
    )
    def test_buckets_and_counts_partition_the_trials_in_any_order(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        rows: list[tuple[Any, int, str | None, bool]],
        seed: int,
    ) -> None:
        trials = [
            Made(
                str(number),
                None if value == "failed" else value,
                failed=Status.PROVIDER_ERROR if value == "failed" else None,
                latency=latency / 10,
                group=group,
                reused=reused and value != "failed",
            )
            for number, (value, latency, group, reused) in enumerate(rows)
        ]
        place = tmp_path_factory.mktemp("runs")
        views = [
            joint_view(RunSides(write_run(place / name, written), name).side())
            for name, written in (("one", trials), ("other", shuffled(trials, seed)))
        ]
        one, other = views
        assert (one is None) == (other is None)
        if one is None or other is None:
            return
        judged = one.judged
        assert judged.n + judged.failed + judged.reused == judged.trials == len(trials)
        for found, again in zip(one.by_speed, other.by_speed, strict=True):
            assert sum(bucket.n for bucket in found.buckets) + found.untimed == judged.n
            assert sum(bucket.correct for bucket in found.buckets) == found.correct == judged.correct
            assert found.p_value == pytest.approx(again.p_value)
            assert [bucket.correct for bucket in found.buckets] == [
                bucket.correct for bucket in again.buckets
            ]
        assert (judged.correct, judged.wrong, judged.no_answer) == (
            other.judged.correct,
            other.judged.wrong,
            other.judged.no_answer,
        )
        assert (judged.low, judged.high) == pytest.approx((other.judged.low, other.judged.high))
        assert one.correct_per_second is not None
        assert other.correct_per_second is not None
        assert one.correct_per_second.value == pytest.approx(other.correct_per_second.value, rel=1e-6)


class TestWhatIsNotSilentlyUsed:
    def test_reused_trials_are_in_nothing_but_their_own_number(self, tmp_path: Path) -> None:
        own = one_after_the_other([1, 0] * 5)
        taken = [
            Made(f"r{number}", 0.0, begun=-9_000.0, latency=60.0, reused=True, usage=Usage(9_000, 9_000))
            for number in range(30)
        ]
        alone, together = view_of(tmp_path / "alone", own), view_of(tmp_path / "together", own + taken)
        assert (together.judged.reused, together.judged.trials) == (30, 40)
        assert together.correct_per_second == alone.correct_per_second
        assert together.correct_per_1000_tokens == alone.correct_per_1000_tokens
        assert together.by_speed == alone.by_speed
        assert together.judged.accuracy == alone.judged.accuracy

    def test_a_run_that_took_everything_over_has_no_view(self, tmp_path: Path) -> None:
        assert joint_views(RunSides(write_run(tmp_path / "run", made([1] * 20, reused=True)), "")) == []

    def test_a_few_trials_have_no_view(self, tmp_path: Path) -> None:
        assert joint_views(RunSides(write_run(tmp_path / "run", made([1] * 7)), "")) == []

    def test_timings_of_a_busy_client_are_called_invalid(self, tmp_path: Path) -> None:
        runs = [busy_run(tmp_path / name, made([1, 0] * 5), busy=name == "b") for name in "ab"]
        found = compared(*runs)
        assert [view.timings_valid for view in found.joint] == [True, False]
        shown = terminal(found)
        assert (
            "TIMINGS INVALID of B: the client was too busy, so the speed figures cannot be trusted." in shown
        )

    def test_simulated_answers_are_called_so(self, tmp_path: Path) -> None:
        runs = [write_run(tmp_path / name, made([1, 0] * 5, simulated=True)) for name in "ab"]
        found = compared(*runs)
        assert all(view.simulated for view in found.joint)
        assert "A (simulated): 5 correct of 10 graded, none failed" in terminal(found)


def busy_run(directory: Path, trials: list[Made], *, busy: bool, **changes: Any) -> Path:
    """A run whose client was too busy for its timings, or was not."""
    write_run(directory, trials, finished=False, **changes)
    journal = Journal(directory)
    lag = BUSY if busy else {**BUSY, "p99": 1_000_000, "longest": 1_000_000}
    journal.write_lines(RunEvent("finished", 1_800_000_000 * 10**9, {"lag": lag}))
    journal.close()
    return directory


def at(place: Path, concurrency: int, values: Sequence[float | None], **changes: Any) -> Path:
    trials = one_after_the_other(values, latency=1.0 / concurrency)
    return write_run(
        place / f"at{concurrency}-{len(list(place.iterdir()))}", trials, concurrency=concurrency, **changes
    )


class TestByConcurrency:
    def table(self, *runs: Path) -> ConcurrencyTable:
        (table,) = compared(*runs).by_concurrency
        return table

    def test_rows_by_concurrency_with_their_denominators(self, tmp_path: Path) -> None:
        high = at(tmp_path, 8, [1] * 6 + [0] * 4)
        low = at(tmp_path, 2, [1] * 9 + [0])
        table = self.table(high, low)
        assert [(row.concurrency, row.letter) for row in table.rows] == [(2, "B"), (8, "A")]
        assert [(row.judged.correct, row.judged.n) for row in table.rows] == [(9, 10), (6, 10)]
        assert [row.requests_per_second for row in table.rows] == pytest.approx([2.0, 8.0])
        assert [
            row.correct_per_second.value for row in table.rows if row.correct_per_second
        ] == pytest.approx([1.8, 4.8])
        assert (table.rows[0].judged.low, table.rows[0].judged.high) == wilson_interval(9, 10)

    def test_the_trend_of_two_is_their_paired_difference_by_doublings(self, tmp_path: Path) -> None:
        table = self.table(at(tmp_path, 2, [1] * 20), at(tmp_path, 8, [0] * 6 + [1] * 14))
        assert table.trend is not None
        assert table.trend.per_doubling == pytest.approx(-0.3 / 2)
        assert (table.trend.test, table.trend.samples) == ("mcnemar-mid-p", 20)
        assert table.trend.p_value == pytest.approx(1 / 64)
        assert concurrency_trend_text(table) == (
            "Accuracy falls with concurrency: -15.00 points with each doubling of concurrency (95 % -23.95 to -3.32), "
            "p = 0.016 (McNemar mid-p test, 20 samples at 2 concurrencies). The most correct answers per second, 5.6, "
            "came at concurrency 8."
        )

    def test_no_trend_is_said_so(self, tmp_path: Path) -> None:
        runs = [at(tmp_path, concurrency, [1] * 9 + [0]) for concurrency in (1, 4, 16)]
        assert concurrency_trend_text(self.table(*runs)).startswith(
            "No trend of accuracy with concurrency found: +0.00 points"
        )

    def test_only_samples_judged_everywhere_make_the_trend(self, tmp_path: Path) -> None:
        few = write_run(tmp_path / "few", one_after_the_other([1] * 8), concurrency=1)
        failing = one_after_the_other([1] * 20)
        failing[3] = Made("3", failed=Status.PROVIDER_ERROR, begun=3.0)
        many = write_run(tmp_path / "many", failing, concurrency=2)
        table = self.table(few, many)
        assert table.trend is not None
        assert table.trend.samples == 7

    def test_other_samples_show_no_trend_and_why(self, tmp_path: Path) -> None:
        one = write_run(tmp_path / "one", one_after_the_other([1] * 8), concurrency=1)
        others = [Made(f"x{number}", 1.0, begun=float(number)) for number in range(8)]
        table = self.table(one, write_run(tmp_path / "other", others, concurrency=2))
        assert (table.trend, table.no_trend) == (None, "no sample was judged at every concurrency")

    @pytest.mark.parametrize(
        "change",
        [
            {"targets": [Target("primary", "another", "http://127.0.0.1:9/v1")]},
            {"targets": [Target("primary", "model", "http://127.0.0.1:9/v1", {"temperature": 1.0})]},
            {"stream": False},
            {"pass_threshold": 0.5},
        ],
        ids=["model", "settings", "streaming", "threshold"],
    )
    def test_runs_that_differ_in_more_have_no_table(self, tmp_path: Path, change: dict[str, Any]) -> None:
        runs = [at(tmp_path, 1, [1, 0] * 5), at(tmp_path, 4, [1, 0] * 5, **change)]
        found = compared(*runs)
        assert found.by_concurrency == []
        assert "Accuracy by concurrency is not shown, because the runs also differ in" in terminal(found)

    def test_runs_at_one_concurrency_have_no_table_and_need_no_word(self, tmp_path: Path) -> None:
        found = compared(at(tmp_path, 4, [1, 0] * 5), at(tmp_path, 4, [1, 1] * 5))
        assert (found.by_concurrency, found.notes) == ([], [])

    def test_the_markdown_has_the_table_open(self, tmp_path: Path) -> None:
        text = render_markdown(compared(at(tmp_path, 1, [1, 0] * 5), at(tmp_path, 4, [1, 0] * 5)))
        head, _, rest = text.partition("| By concurrency | run |")
        assert rest
        assert not head.rstrip().endswith("</summary>")
        assert "\nNo trend of accuracy with concurrency found" in rest


def example(place: Path, concurrency: int, drop: int) -> Path:
    """200 questions, of which one more in `drop` goes wrong; what is wrong takes longer."""
    trials = []
    for number in range(200):
        value = float(number % 10 < 7 and number % drop != 1)
        latency = 0.8 + (number * 37 % 100) / 100 + (0.4 - value * 0.4) + concurrency / 40
        trials.append(
            Made(
                str(number),
                value,
                begun=(number // concurrency) * 2.6,
                latency=latency,
                ttft=0.05 + (number * 13 % 50) / 1000 + concurrency / 200,
                usage=Usage(120, 40 + number * 17 % 60),
            )
        )
    return write_run(place / f"at{concurrency}", trials, concurrency=concurrency)


def test_the_example_of_the_document_comes_out_as_shown(tmp_path: Path) -> None:
    document = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    section = document.partition("## Quality and speed together")[2]
    shown = section.split("```")[3].strip().splitlines()
    printed = terminal(compared(example(tmp_path, 4, 1000), example(tmp_path, 16, 21))).splitlines()
    for part in ("Correct answers", "Fast and slow", "By concurrency", "Accuracy falls"):
        assert any(line.startswith(part) for line in shown), part
    assert [line for line in shown if line not in printed] == [], printed
