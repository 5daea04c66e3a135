"""The summary: journals small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import pytest
from tests.engine.engine_kit import TARGET, table_of

from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary, ScoreSummary
from benchwright.records import (
    SIMULATED_FLAG,
    JournalLine,
    RequestRecord,
    RunEvent,
    ScoreRecord,
    Status,
    TaskSpec,
    TrialRecord,
    Usage,
)
from benchwright.runs.manifest import DataFile, Manifest, ScorerInfo
from benchwright.runs.process_delays import LoopLag
from benchwright.statistic import NoScore
from benchwright.stats.histogram import bucket_of

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


def summary_of(
    *lines: JournalLine | Sequence[JournalLine],
    scorers: tuple[str, ...] = ("exact",),
    repeats: int = 1,
    **more: Any,
) -> RunSummary:
    """The summary of a run with these lines in its journal."""
    manifest = Manifest(
        id="20260101T000000-test",
        kind=more.pop("kind", "eval"),
        name="test",
        fingerprint="f",
        created_at=0,
        task=TaskSpec("test", "1", "f"),
        targets=more.pop("targets", [TARGET]),
        scorers=[ScorerInfo(name, "1") for name in scorers],
        repeats=repeats,
        data=[DataFile("rows.jsonl", "x", samples=4)],
        **more,
    )
    flat: list[JournalLine] = []
    for line in lines:
        flat.extend(line if isinstance(line, Sequence) else [line])
    return summarise(manifest, table_of(flat, *scorers))


def trial(sample: str, status: Status = Status.ANSWERED, *, repeat: int = 0, **more: Any) -> TrialRecord:
    return TrialRecord(f"{sample}/{repeat}", sample, more.pop("target", "primary"), status, repeat, **more)


def scored(
    sample: str, value: float | None, status: Status = Status.SCORED, *, repeat: int = 0, **more: Any
) -> list[JournalLine]:
    """A trial that was answered, and its score."""
    one = trial(sample, repeat=repeat, **more)
    return [one, ScoreRecord(f"score of {one.key}", one.key, "exact", value, status)]


def score_of(summary: RunSummary) -> ScoreSummary:
    (target,) = summary.targets
    (score,) = target.scores
    return score


def wilson(passed: int, n: int) -> tuple[float, float]:
    """Wilson's interval (1927) at 95 %, written out."""
    z, rate = 1.959963984540054, passed / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return centre - half, centre + half


# Three answered and scored, one unparsed, one the scorer failed on, one the endpoint failed on, one the
# agent failed on, one refused (and scored 0).
EIGHT: tuple[JournalLine | Sequence[JournalLine], ...] = (
    scored("a", 1.0),
    scored("b", 1.0),
    scored("c", 0.0),
    scored("d", None, Status.UNPARSED),
    scored("e", None, Status.GRADER_ERROR),
    trial("f", Status.PROVIDER_ERROR),
    trial("g", Status.EXECUTION_ERROR),
    [
        trial("h", Status.REFUSED),
        ScoreRecord("score of h", "h/0", "exact", 0.0),
    ],
)


def test_the_most_frequent_reasons_of_failures_are_told() -> None:
    refused = [trial(str(number), Status.PROVIDER_ERROR, reason="HTTP 500") for number in range(3)]
    lost = trial("lost", Status.EXECUTION_ERROR, reason="the container was ended")
    cut = scored("cut", 0.0)
    assert summary_of(lost, *refused, cut).targets[0].failures == {
        "HTTP 500": 3,
        "the container was ended": 1,
    }
    assert summary_of(cut).targets[0].failures == {}


def test_every_trial_is_counted_under_one_status() -> None:
    summary = summary_of(*EIGHT)
    assert summary.done == 8
    assert summary.targets[0].statuses == {
        "scored": 3,
        "unparsed": 1,
        "grader_error": 1,
        "provider_error": 1,
        "execution_error": 1,
        "refused": 1,
    }


def test_a_failure_counts_as_0_in_one_mean_and_not_at_all_in_the_other_and_no_answer_as_0_in_both() -> None:
    score = score_of(summary_of(*EIGHT))
    assert (score.n, score.n_scored, score.no_answer, score.unparsed, score.grader_errors) == (8, 5, 1, 1, 1)
    assert score.mean == 2 / 8
    assert score.std == pytest.approx(sqrt(2 / 8 * 6 / 8))  # of the population, as the documents have it
    assert (score.min, score.max) == (0.0, 1.0)
    assert score.mean_scored == 2 / 5


def test_the_bounds_say_where_the_mean_could_be_had_the_rest_been_scored() -> None:
    assert score_of(summary_of(*EIGHT)).bounds == (2 / 8, (2 + 3) / 8)
    assert score_of(summary_of(scored("a", 1.0), scored("b", 0.0))).bounds is None, "nothing is missing"
    assert score_of(summary_of(scored("a", 7.0), trial("b"))).bounds is None, "the rest could be anything"


def test_right_and_wrong_have_wilsons_interval() -> None:
    score = score_of(summary_of(*EIGHT))
    assert score.method == "wilson"
    assert (score.low, score.high) == pytest.approx(wilson(2, 5))


def test_graded_scores_have_a_t_interval() -> None:
    score = score_of(summary_of(scored("a", 2.0), scored("b", 5.0), scored("c", 8.0)))
    half = 4.302652729911275 * 3 / sqrt(3)  # t with 2 degrees of freedom; standard deviation 3
    assert score.method == "t"
    assert (score.mean_scored, score.low, score.high) == pytest.approx((5, 5 - half, 5 + half))


def test_an_interval_stays_within_the_range_of_its_score() -> None:
    score = score_of(summary_of(scored("a", 0.2), scored("b", 0.5), scored("c", 0.8)))
    assert (score.method, score.low, score.high) == ("t", 0.0, 1.0)
    percent = summary_of(
        *(trial(name, Status.SCORED, scores={"score": value}) for name, value in (("a", 0.0), ("b", 50.0))),
        scorers=(), kind="pack",
    ).targets[0].scores[0]  # fmt: skip
    assert (percent.mean_scored, percent.low, percent.high) == (25.0, 0.0, 100.0)


def test_a_packs_cells_pass_by_the_packs_own_status_and_not_by_their_points() -> None:
    cells = [
        trial("a", Status.SCORED, repeat=repeat, scores={"passed": float(repeat), "score": 100.0})
        for repeat in range(2)
    ]
    scores = {
        score.scorer: score.passes
        for score in summary_of(cells, scorers=(), repeats=2, kind="pack").targets[0].scores
    }
    assert [one.pass_at_k for one in scores["passed"]] == [0.5]
    assert scores["score"] == []


def test_nothing_scored_has_no_mean_and_no_interval() -> None:
    score = score_of(summary_of(trial("a", Status.PROVIDER_ERROR, reason="HTTP 500")))
    none = NoScore(1, {"HTTP 500": 1})
    assert (score.n, score.n_scored, score.bounds, score.method) == (1, 0, None, "none")
    assert [score.mean, score.std, score.min, score.max] == [none] * 4
    assert [score.mean_scored, score.low, score.high] == [none] * 3
    assert score.documented_mean == 0.0


def test_an_empty_journal_is_a_run_with_nothing_done() -> None:
    summary = summary_of()
    assert (summary.state, summary.done, summary.planned) == ("unfinished", 0, 4)
    assert score_of(summary).n == 0


def test_of_a_run_that_time_ends_no_number_of_trials_was_planned() -> None:
    summary = summary_of(RunEvent("started", 1), scored("a", 1.0), RunEvent("finished", 2))
    assert summary.planned is None


def test_repeats_are_averaged_per_sample_before_anything_else() -> None:
    score = score_of(
        summary_of(
            scored("a", 1.0), scored("a", 1.0, repeat=1), scored("a", 1.0, repeat=2),
            scored("b", 0.0), repeats=3,
        )
    )  # fmt: skip
    assert (score.n_scored, score.n_samples) == (4, 2)
    assert score.mean_scored == 0.5, "not 3/4: sample a is not three samples"


def test_samples_that_belong_together_widen_the_interval() -> None:
    alone = [scored(f"{number}", float(number < 6)) for number in range(12)]
    in_groups = [scored(f"{number}", float(number < 6), group=str(number // 3)) for number in range(12)]
    independent, clustered = score_of(summary_of(*alone)), score_of(summary_of(*in_groups))
    assert (independent.n_groups, clustered.n_groups) == (None, 4)
    for score in (independent, clustered):
        assert score.low is not None
        assert score.high is not None
    assert clustered.high - clustered.low > independent.high - independent.low  # type: ignore[operator]


def test_pass_at_k_counts_a_repeat_without_a_value_as_not_passed() -> None:
    """Of 3 repeats each: a passes 3, b 1 (one failed, one wrong), c none (all failed)."""
    summary = summary_of(
        scored("a", 1.0), scored("a", 1.0, repeat=1), scored("a", 1.0, repeat=2),
        scored("b", 1.0), scored("b", 0.0, repeat=1), trial("b", Status.EXECUTION_ERROR, repeat=2),
        *(trial("c", Status.PROVIDER_ERROR, repeat=repeat) for repeat in range(3)),
        repeats=3,
    )  # fmt: skip
    one, three = score_of(summary).passes
    assert (one.k, one.pass_at_k, one.pass_hat_k) == pytest.approx(
        (1, (1 + 1 / 3 + 0) / 3, (1 + 1 / 3 + 0) / 3)
    )
    assert (three.k, three.pass_at_k, three.pass_hat_k) == pytest.approx((3, 2 / 3, 1 / 3))


def test_a_pass_is_a_score_from_the_threshold_on() -> None:
    lines = [scored("a", 0.4), scored("a", 0.6, repeat=1)]
    strict = score_of(summary_of(*lines, repeats=2)).passes
    lenient = score_of(summary_of(*lines, repeats=2, pass_threshold=0.6)).passes
    assert (strict[0].pass_at_k, lenient[0].pass_at_k) == (0.0, 0.5)


def test_without_repeats_there_is_no_pass_at_k() -> None:
    assert score_of(summary_of(scored("a", 1.0))).passes == []


def test_several_scorers_stand_side_by_side() -> None:
    lines: list[JournalLine] = [
        trial("a"),
        ScoreRecord("1", "a/0", "exact", 1.0),
        ScoreRecord("2", "a/0", "regex", None, Status.UNPARSED),
    ]
    summary = summary_of(lines, scorers=("exact", "regex"))
    assert [(score.scorer, score.n, score.n_scored) for score in summary.targets[0].scores] == [
        ("exact", 1, 1),
        ("regex", 1, 1),
    ]
    assert summary.targets[0].scores[1].no_answer == 1
    assert summary.targets[0].statuses == {"unparsed": 1}, "one that found nothing is enough"


def test_scores_that_the_solver_gave_itself_are_summed_up_too() -> None:
    summary = summary_of(trial("a", scores={"tests": 0.5}), trial("b", scores={"tests": 1.0}), scorers=())
    score = score_of(summary)
    assert (score.scorer, score.mean, score.n_scored) == ("tests", 0.75, 2)


def test_an_attempt_that_failed_before_is_kept_but_the_last_one_counts() -> None:
    failed = RequestRecord("r1", error="HTTP 500", attempts=6, http_status=500)
    answered = RequestRecord("r2", total=SECOND)
    summary = summary_of(
        trial("a", Status.PROVIDER_ERROR, requests=[failed]), scored("a", 1.0, attempt=1, requests=[answered])
    )
    assert summary.targets[0].statuses == {"scored": 1}
    assert score_of(summary).n == 1
    requests = summary.targets[0].requests
    assert (requests.total_requests, requests.failed_requests, requests.retried_requests) == (2, 1, 1)


def test_a_trial_killed_before_its_score_counts_once_it_has_it() -> None:
    before = summary_of(trial("a"))
    assert before.targets[0].statuses == {"answered": 1}
    later: list[JournalLine] = [trial("a"), RunEvent("started", 0), ScoreRecord("s", "a/0", "exact", 1.0)]
    assert summary_of(later).targets[0].statuses == {"scored": 1}


def request(identity: str, **more: Any) -> RequestRecord:
    return RequestRecord(identity, usage=Usage(prompt_tokens=100, completion_tokens=11), **more)


def test_the_speed_of_the_models_requests() -> None:
    summary = summary_of(
        RunEvent("started", 10 * SECOND, {"total": 4}),
        scored("a", 1.0, requests=[request("1", ttft=100 * MILLISECOND, total=600 * MILLISECOND)]),
        scored("b", 1.0, requests=[request("2", ttft=300 * MILLISECOND, total=800 * MILLISECOND, attempts=2,
                                           waited=250 * MILLISECOND)]),
        scored("c", 1.0, requests=[request("3", ttft=200 * MILLISECOND, total=1200 * MILLISECOND,
                                           gaps={bucket_of(50 * MILLISECOND): 10})]),
        trial("d", Status.PROVIDER_ERROR, requests=[RequestRecord("4", error="reset", total=9 * SECOND)]),
        RunEvent("finished", 12 * SECOND),
    )  # fmt: skip
    requests = summary.targets[0].requests
    assert (requests.total_requests, requests.failed_requests, requests.retried_requests) == (4, 1, 1)
    assert (requests.total_prompt_tokens, requests.total_completion_tokens) == (300, 33)
    assert requests.wall_time_seconds == 2.0
    assert requests.effective_throughput_rps == 3 / 2, "what failed is not throughput"
    assert requests.ttft_mean == pytest.approx(0.2)
    assert requests.ttft_p50 == pytest.approx(0.2)
    assert requests.latency_mean == pytest.approx(2.6 / 3), "the failed request's 9 s are in no timing"
    assert requests.latency_p50 == pytest.approx(0.8)
    assert requests.generation_tps_mean == pytest.approx((10 / 0.5 + 10 / 0.5 + 10 / 1.0) / 3)
    assert requests.prompt_tps_mean == pytest.approx((100 / 0.1 + 100 / 0.3 + 100 / 0.2) / 3)
    assert requests.gap_p50 == pytest.approx(0.05, rel=0.05), "from a histogram"
    assert requests.waited_seconds == 0.25


def test_judges_are_counted_apart_and_slow_nothing_down() -> None:
    judged = ScoreRecord(
        "s", "a/0", "exact", 1.0, requests=[RequestRecord("2", role="judge", total=9 * SECOND)]
    )
    summary = summary_of(trial("a", requests=[request("1", total=SECOND)]), judged)
    assert summary.targets[0].other_roles == {"judge": 1}
    requests = summary.targets[0].requests
    assert (requests.total_requests, requests.latency_mean, requests.ttft_mean) == (1, 1.0, None)


def test_what_was_taken_over_from_another_run_enters_no_timing() -> None:
    old = request("1", total=30 * SECOND)
    summary = summary_of(
        scored("a", 1.0, requests=[old], reused_from="an earlier run"),
        scored("b", 1.0, requests=[request("2", total=SECOND)]),
    )
    assert summary.targets[0].requests.latency_mean == 1.0


def test_the_pause_between_two_sessions_is_no_wall_time() -> None:
    summary = summary_of(
        RunEvent("started", 100 * SECOND, {"total": 2}),
        scored("a", 1.0, started_at=101 * SECOND, duration=SECOND),
        RunEvent("stopped", 103 * SECOND, {"reason": "interrupted by SIGINT"}),
        RunEvent("started", 9_000 * SECOND, {"total": 2}),
        scored("b", 1.0, started_at=9_001 * SECOND, duration=SECOND),
        RunEvent("finished", 9_002 * SECOND),
    )
    assert summary.targets[0].requests.wall_time_seconds == 3 + 2
    assert (summary.state, summary.stop_reason) == ("finished", None)


def test_a_killed_session_lasted_until_its_last_trial_ended() -> None:
    summary = summary_of(
        RunEvent("started", 100 * SECOND, {"total": 2}),
        scored("a", 1.0, started_at=101 * SECOND, duration=6 * SECOND),
        RunEvent("started", 9_000 * SECOND, {"total": 2}),
        RunEvent("finished", 9_001 * SECOND),
    )
    assert summary.targets[0].requests.wall_time_seconds == 7 + 1


@pytest.mark.parametrize(
    ("events", "state", "reason"),
    [
        ([], "unfinished", None),
        ([RunEvent("started", 1)], "unfinished", None),
        ([RunEvent("started", 1), RunEvent("stopped", 2, {"reason": "a budget"})], "stopped", "a budget"),
        ([RunEvent("started", 1), RunEvent("stopped", 2, {"reason": "x"}), RunEvent("started", 3)], "unfinished", None),
        ([RunEvent("started", 1), RunEvent("finished", 2)], "finished", None),
    ],
)  # fmt: skip
def test_the_state_is_that_of_the_last_session(
    events: list[JournalLine], state: str, reason: str | None
) -> None:
    summary = summary_of(events)
    assert (summary.state, summary.stop_reason) == (state, reason)


def test_one_simulated_answer_marks_the_whole_run() -> None:
    real, simulated = request("1"), request("2", flags=[SIMULATED_FLAG])
    assert not summary_of(scored("a", 1.0, requests=[real])).simulated
    assert summary_of(scored("a", 1.0, requests=[real]), scored("b", 1.0, requests=[simulated])).simulated


def test_the_worst_session_says_whether_timings_hold() -> None:
    calm, busy = (
        LoopLag(100, 1000, 2 * MILLISECOND, 9 * MILLISECOND),
        LoopLag(100, 1000, 40 * MILLISECOND, SECOND),
    )
    sessions: list[JournalLine] = []
    for lag in (calm, busy, calm):
        sessions += [RunEvent("started", 0), RunEvent("stopped", 1, {"lag": as_written(lag)})]
    assert summary_of(sessions[:2]).timings_valid
    assert not summary_of(sessions).timings_valid
    assert summary_of(sessions).lag == busy


def as_written(lag: LoopLag) -> Any:
    import msgspec

    return msgspec.to_builtins(lag)


def test_targets_are_summed_up_apart() -> None:
    from msgspec.structs import replace

    baseline = replace(TARGET, slot="baseline", model="older")
    other = TrialRecord("other", "a", "baseline", Status.ANSWERED)
    summary = summary_of(
        scored("a", 1.0),
        [other, ScoreRecord("s", "other", "exact", 0.0)],
        targets=[TARGET, baseline],
    )
    assert [(target.model, target.scores[0].mean) for target in summary.targets] == [
        ("model", 1.0),
        ("older", 0.0),
    ]
