"""Is B better than A: the answer, from runs written through the engine's own journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.compare_kit import Made, made, paired_outcomes, shuffled, two_runs, write_run

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.records import Comparison, PairComparison, ScoreComparison
from benchwright.errors import UserError
from benchwright.records import Status, Target, TaskSpec
from benchwright.runs.manifest import DataFile, ScorerInfo

TARGETS = [
    Target("primary", "new", "http://127.0.0.1:9/v1"),
    Target("baseline", "old", "http://127.0.0.1:9/v1"),
]


def comparison_of(*references: str, **wanted: Any) -> Comparison:
    return compare(references, ComparisonOptions(**wanted)).comparison


def pair_of(*references: str, **wanted: Any) -> PairComparison:
    (pair,) = comparison_of(*references, **wanted).pairs
    return pair


def score_of(*references: str, **wanted: Any) -> ScoreComparison:
    (score,) = pair_of(*references, **wanted).scores
    return score


class TestTheDifference:
    def test_mcnemar_of_the_textbook(self, tmp_path: Path) -> None:
        """Airway hyper-responsiveness (Bentur et al. 2009) in Fagerland, Lydersen and Laake (2013): 1, 7, 12, 1."""
        a, b = paired_outcomes(wins=7, losses=1, both=1, neither=12)
        score = score_of(*two_runs(tmp_path, made(a), made(b)))
        assert score.p_value == pytest.approx(0.0391, abs=5e-5)
        assert score.p_exact == pytest.approx(0.0703, abs=5e-5)
        assert (score.wins, score.losses, score.ties, score.n) == (7, 1, 13, 21)
        assert score.difference == pytest.approx(6 / 21)
        assert score.verdict == "better"

    def test_students_sleep_data_give_the_paired_t_test(self, tmp_path: Path) -> None:
        """Student (1908), Biometrika 6:1, hours of sleep gained by two drugs: t = 4.0621, p = 0.00283, 0.70 to 2.46."""
        a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
        b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
        score = score_of(*two_runs(tmp_path, made(a), made(b)))
        assert score.p_value == pytest.approx(0.002833, abs=1e-6)
        assert (score.low, score.high) == pytest.approx((0.7001, 2.4599), abs=1e-4)
        assert not score.unit

    def test_repeats_are_averaged_per_sample_first(self, tmp_path: Path) -> None:
        a = [trial for repeat in range(4) for trial in made([0, 1, 0, 1, 0, 1], repeat=repeat)]
        b = [trial for repeat in range(2) for trial in made([1, 1, 0, 1, repeat, 1], repeat=repeat)]
        score = score_of(*two_runs(tmp_path, a, b))
        assert (score.n, score.wins, score.losses, score.test) == (6, 2, 0, "t")
        assert score.difference == pytest.approx(1.5 / 6)

    def test_of_a_retried_trial_the_last_attempt_counts(self, tmp_path: Path) -> None:
        b = [Made("0", failed=Status.PROVIDER_ERROR), Made("1", 1.0), Made("0", 1.0, attempt=1)]
        score = score_of(*two_runs(tmp_path, made([0.0, 1.0]), b))
        assert (score.n, score.wins, score.errors_b) == (2, 1, 0)

    def test_groups_make_the_error_that_of_groups(self, tmp_path: Path) -> None:
        a = [Made(str(n), 0.0, group=f"g{n // 10}") for n in range(100)]
        b = [Made(str(n), float(n < 30), group=f"g{n // 10}") for n in range(100)]
        score = score_of(*two_runs(tmp_path, a, b))
        assert (score.test, score.n_groups, score.p_exact) == ("cluster-t", 10, None)
        assert score.p_value is not None
        assert score.p_value > 0.05  # three groups of ten changed; as 30 of 100 samples it would be certain

    def test_the_order_of_the_journal_does_not_matter(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(9, 2, 20, 10)
        straight = score_of(*two_runs(tmp_path / "straight", made(a), made(b)))
        mixed = score_of(*two_runs(tmp_path / "mixed", shuffled(made(a), 1), shuffled(made(b), 2)))
        assert mixed.changes != straight.changes
        assert msgspec.structs.replace(mixed, changes=[]) == msgspec.structs.replace(straight, changes=[])

    def test_what_could_have_shown_stands_beside_no_difference(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(10, 10, 70, 10)
        score = score_of(*two_runs(tmp_path, made(a), made(b)))
        assert score.verdict == "no difference found"
        assert score.detectable == pytest.approx((1.95996 + 0.84162) * (0.2 / 99) ** 0.5, rel=1e-4)

    def test_among_several_more_must_be_there_to_show(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(10, 10, 70, 10)
        runs = [*two_runs(tmp_path, made(a), made(b)), str(write_run(tmp_path / "c", made(b)))]
        score = comparison_of(*runs).pairs[0].scores[0]
        assert score.detectable == pytest.approx((2.24140 + 0.84162) * (0.2 / 99) ** 0.5, rel=1e-4)

    def test_identical_runs_still_tell_what_could_have_shown(self, tmp_path: Path) -> None:
        score = score_of(*two_runs(tmp_path, made([1, 0, 1, 1]), made([1, 0, 1, 1])))
        assert score.verdict == "no difference found"
        assert score.detectable is not None
        assert score.detectable > 0.2

    def test_one_sample_decides_nothing(self, tmp_path: Path) -> None:
        score = score_of(*two_runs(tmp_path, made([0.3]), made([0.9])))
        assert (score.verdict, score.p_value, score.low) == ("undecided", None, None)

    def test_many_comparisons_are_held_to_holms_level(self, tmp_path: Path) -> None:
        runs = [str(write_run(tmp_path / "base", made([0.0] * 10 + [1.0] * 40)))]
        for number, wins in enumerate((8, 7, 0)):
            values = [1.0] * wins + [0.0] * (10 - wins) + [1.0] * 40
            runs.append(str(write_run(tmp_path / f"run{number}", made(values))))
        found = comparison_of(*runs)
        scores = [pair.scores[0] for pair in found.pairs]
        assert found.tests == 3
        assert [score.p_value for score in scores] == pytest.approx([2**-8, 2**-7, 1.0])
        assert [score.p_adjusted for score in scores] == pytest.approx([3 * 2**-8, 2 * 2**-7, 1.0])
        assert [score.verdict for score in scores] == ["better", "better", "no difference found"]

    def test_what_a_trial_would_have_become_is_judged_among_the_others(self, tmp_path: Path) -> None:
        """Holm lets the second-smallest of three pass at 0.025; both ways of counting it must be held to that."""
        base = [0.0] * 10 + [1.0] * 40
        runs = [str(write_run(tmp_path / "base", made(base)))]
        for number, (wins, losses) in enumerate(((9, 0), (8, 1), (0, 0))):
            trials = made([1.0] * wins + base[wins:-1] + [1.0 - losses])
            trials[20] = Made("20", failed=Status.PROVIDER_ERROR) if number == 1 else trials[20]
            runs.append(str(write_run(tmp_path / f"run{number}", trials)))
        score = comparison_of(*runs).pairs[1].scores[0]
        dropped = next(one for one in score.counted if one.policy == "dropped")
        assert score.verdict == "better"
        assert score.p_adjusted == pytest.approx(2 * 11 / 512)
        assert (dropped.verdict, dropped.p_value) == ("better", score.p_value)

    def test_the_scores_of_a_pack_are_its_own(self, tmp_path: Path) -> None:
        a = [Made("s1", own={"passed": 0.0, "score": 40.0}), Made("s2", own={"passed": 0.0})]
        b = [Made("s1", own={"passed": 1.0, "score": 90.0}), Made("s2", own={"passed": 0.0})]
        pair = pair_of(*two_runs(tmp_path, a, b, kind="pack", scorers=[], data=[]))
        passed, score = pair.scores
        assert (passed.score, passed.n, passed.wins) == ("passed", 2, 1)
        assert (score.score, score.n, score.difference) == ("score", 1, 50.0)

    def test_samples_of_a_single_group_are_independent_within_it(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(9, 1, 20, 10)
        pair = pair_of(*two_runs(tmp_path, made(a, group="one"), made(b, group="one")))
        assert pair.scores[0].test == "mcnemar-mid-p"
        assert "all samples are in one group" in pair.alignment

    def test_the_targets_of_one_run_are_compared_with_its_baseline(self, tmp_path: Path) -> None:
        trials = made([1, 1, 1, 0]) + made([0, 0, 1, 0], slot="baseline")
        run = str(write_run(tmp_path / "run", trials, targets=TARGETS))
        found = comparison_of(run)
        assert [(one.letter, one.model) for one in found.runs] == [("A", "old"), ("B", "new")]
        assert found.pairs[0].scores[0].wins == 2
        assert score_of(f"{run}@primary", f"{run}@baseline").losses == 2


class TestAlignment:
    def test_what_only_one_run_has_is_left_out(self, tmp_path: Path) -> None:
        score = score_of(*two_runs(tmp_path, made([0] * 10), made([1] * 6)))
        assert (score.n, score.n_a, score.n_b) == (6, 10, 6)

    def test_a_repeat_is_matched_with_the_same_repeat(self, tmp_path: Path) -> None:
        a = [Made("0", 0.0, repeat=0), Made("0", 1.0, repeat=1), Made("0", 1.0, repeat=2)]
        b = [Made("0", 1.0, repeat=1), Made("0", 0.0, repeat=2), Made("0", 1.0, repeat=0)]
        changes = score_of(*two_runs(tmp_path, a, b)).changes
        assert [(one.repeat, one.a, one.b) for one in changes] == [(0, 0.0, 1.0), (2, 1.0, 0.0)]

    def test_nothing_in_common_is_compared_unpaired_and_said(self, tmp_path: Path) -> None:
        b = [Made(str(number), 1.0) for number in range(100, 120)]
        score = score_of(*two_runs(tmp_path, made([0, 1] * 10), b))
        assert score.unpaired == "the two have no sample in common"
        assert (score.n, score.n_a, score.n_b, score.test) == (0, 20, 20, "score")
        assert score.difference == pytest.approx(0.5)

    def test_unpaired_groups_keep_the_error_of_groups(self, tmp_path: Path) -> None:
        a = [Made(f"a{n}", float(n < 20), group=f"a{n // 10}") for n in range(40)]
        b = [Made(f"b{n}", float(n < 30), group=f"b{n // 10}") for n in range(40)]
        score = score_of(*two_runs(tmp_path, a, b))
        assert score.test == "cluster-welch"
        assert score.p_value is not None
        assert score.p_value > 0.4

    def test_other_data_are_aligned_by_what_was_asked(self, tmp_path: Path) -> None:
        a = [Made(str(n), float(n % 2), asked=f"question {n}") for n in range(10)]
        moved = [Made(str(n + 5), float(n % 2), asked=f"question {n}") for n in range(10)]
        run_a = write_run(tmp_path / "a", a)
        run_b = write_run(tmp_path / "b", moved, data=[DataFile("questions.jsonl", "1" * 32, 15)])
        pair = pair_of(str(run_a), str(run_b), allow_incomparable=True)
        assert pair.alignment == "by what was asked, because the data differs"
        assert (pair.scores[0].n, pair.scores[0].ties) == (10, 10)

    def test_a_question_asked_twice_is_two_samples(self, tmp_path: Path) -> None:
        a = [Made(str(n), float(n), asked="the same") for n in range(2)]
        run_a = write_run(tmp_path / "a", a)
        run_b = write_run(tmp_path / "b", a, data=[DataFile("questions.jsonl", "1" * 32, 2)])
        assert score_of(str(run_a), str(run_b), allow_incomparable=True).ties == 2


class TestWithoutAScore:
    def test_no_answer_is_wrong_and_a_failure_is_left_out(self, tmp_path: Path) -> None:
        b = [Made("0", None), Made("1", failed=Status.PROVIDER_ERROR), Made("2", 1.0)]
        score = score_of(*two_runs(tmp_path, made([1, 1, 1]), b))
        assert (score.n, score.losses, score.no_answer_b, score.errors_b) == (2, 1, 1, 1)
        counted = {one.policy: (one.n, round(one.difference, 6)) for one in score.counted}
        assert counted == {
            "dropped": (1, 0.0),
            "zero": (3, round(-2 / 3, 6)),
            "best": (3, 0.0),
            "worst": (3, round(-2 / 3, 6)),
        }

    def test_the_bounds_take_both_sides_against_each_other(self, tmp_path: Path) -> None:
        a = [Made("0", failed=Status.EXECUTION_ERROR), Made("1", 1.0), Made("2", 1.0)]
        b = [Made("0", 1.0), Made("1", failed=Status.PROVIDER_ERROR), Made("2", 1.0)]
        score = score_of(*two_runs(tmp_path, a, b))
        counted = {one.policy: one.difference for one in score.counted}
        assert (counted["best"], counted["worst"]) == pytest.approx((1 / 3, -1 / 3))

    def test_a_verdict_that_depends_on_them_is_said_to(self, tmp_path: Path) -> None:
        b = made([1] * 80) + [Made(str(n), failed=Status.PROVIDER_ERROR) for n in range(80, 100)]
        score = score_of(*two_runs(tmp_path, made([1] * 100), b))
        assert score.verdict == "no difference found"
        assert score.depends
        assert {one.policy: one.verdict for one in score.counted}["worst"] == "worse"

    def test_where_everything_has_a_score_there_is_nothing_to_tell(self, tmp_path: Path) -> None:
        score = score_of(*two_runs(tmp_path, made([1, 0]), made([1, 1])))
        assert (score.counted, score.depends) == ([], False)

    def test_scores_beyond_one_have_no_bounds(self, tmp_path: Path) -> None:
        score = score_of(*two_runs(tmp_path, made([3.0, 4.0]), [Made("0", 2.0), Made("1", None)]))
        assert [one.policy for one in score.counted] == ["dropped", "zero"]

    def test_a_run_without_any_value_is_no_comparison(self, tmp_path: Path) -> None:
        b = [Made("0", failed=Status.PROVIDER_ERROR)]
        pair = pair_of(*two_runs(tmp_path, made([1]), b))
        assert pair.scores == []
        assert "'exact' is not compared: B has no score" in pair.notes

    def test_scores_of_different_samples_only_are_no_comparison(self, tmp_path: Path) -> None:
        failed = Status.PROVIDER_ERROR
        a, b = [Made("0"), Made("1", failed=failed)], [Made("0", failed=failed), Made("1")]
        pair = pair_of(*two_runs(tmp_path, a, b))
        assert pair.scores == []
        assert "'exact' is not compared: no sample is scored on both sides" in pair.notes


class TestWhatChanged:
    def test_both_answers_are_told_by_their_spans(self, tmp_path: Path) -> None:
        a = [Made("7", 0.0, span="B"), Made("8", 1.0, span="C")]
        b = [Made("7", 1.0, span="A"), Made("8", 1.0, span="C")]
        (change,) = score_of(*two_runs(tmp_path, a, b)).changes
        assert (change.sample, change.answer_a, change.answer_b) == ("7", "B", "A")

    def test_without_a_span_the_answer_itself_is(self, tmp_path: Path) -> None:
        a, b = [Made("0", 0.0, answer="forty")], [Made("0", 1.0, answer="42" * 1000)]
        (change,) = score_of(*two_runs(tmp_path, a, b)).changes
        assert change.answer_a == "forty"
        assert change.answer_b is not None
        assert len(change.answer_b) == 300

    def test_the_largest_changes_come_first(self, tmp_path: Path) -> None:
        changes = score_of(*two_runs(tmp_path, made([0.5, 0.5, 0.5]), made([0.6, 0.5, 0.1]))).changes
        assert [change.sample for change in changes] == ["2", "0"]


class TestNotComparable:
    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"data": [DataFile("questions.jsonl", "1" * 32, 2)]}, "the data differ"),
            ({"data": [DataFile("others.jsonl", "0" * 32, 2)]}, "A is eval questions, B is eval others"),
            ({"scorers": [ScorerInfo("exact", "rule 2")]}, "graded by different rules"),
            ({"kind": "pack"}, "A is eval questions, B is pack questions"),
        ],
    )
    def test_it_is_refused_with_its_reason(
        self, tmp_path: Path, changes: dict[str, Any], reason: str
    ) -> None:
        a = str(write_run(tmp_path / "a", made([0, 1])))
        b = str(write_run(tmp_path / "b", made([1, 1]), **changes))
        pair = pair_of(a, b)
        assert pair.is_refused
        assert reason in pair.refusals[0]
        assert pair.scores == []

    def test_a_simulated_run_against_a_real_one(self, tmp_path: Path) -> None:
        runs = two_runs(tmp_path, made([0, 1]), made([0, 1], simulated=True))
        (reason,) = pair_of(*runs).refusals
        assert reason == "B was answered by the simulated endpoint, the other by a real one"

    @pytest.mark.parametrize(
        ("about", "reason"),
        [
            ({"variant": "documented"}, "the variants differ: mmlu and mmlu:documented"),
            ({"protocol": "another"}, "the protocols differ"),
        ],
    )
    def test_variants_and_protocols_of_a_benchmark(
        self, tmp_path: Path, about: dict[str, str], reason: str
    ) -> None:
        plain = {"benchmark": "mmlu", "variant": None, "protocol": "simple-evals"}
        a = str(write_run(tmp_path / "a", made([0, 1]), kind="benchmark", about=plain))
        b = str(write_run(tmp_path / "b", made([0, 1]), kind="benchmark", about=plain | about))
        assert reason in pair_of(a, b).refusals[0]

    def test_versions_of_a_protocol(self, tmp_path: Path) -> None:
        about = {"benchmark": "mmlu", "variant": None, "protocol": "simple-evals"}
        a, b = (
            str(
                write_run(
                    tmp_path / version,
                    made([0, 1]),
                    kind="benchmark",
                    about=about,
                    task=TaskSpec("mmlu", version, "solver"),
                )
            )
            for version in "12"
        )
        assert pair_of(a, b).refusals == ["the versions of the protocol differ: 1; 2"]

    def test_anyway_compares_and_keeps_the_reason(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([0, 1])))
        b = str(write_run(tmp_path / "b", made([1, 1]), scorers=[ScorerInfo("exact", "rule 2")]))
        pair = pair_of(a, b, allow_incomparable=True)
        assert not pair.is_refused
        assert "different rules" in pair.refusals[0]
        assert pair.scores[0].wins == 1

    def test_without_a_common_score_there_is_nothing_to_compare_even_so(self, tmp_path: Path) -> None:
        document = {
            "config": {"model": "m", "n_runs": 1},
            "rows": [{"row_index": 0, "runs": [{"run_index": 0, "success": True, "scores": {"style": 1.0}}]}],
        }
        (tmp_path / "o.json").write_text(json.dumps(document))
        pair = pair_of(
            str(write_run(tmp_path / "a", made([1]))), str(tmp_path / "o.json"), allow_incomparable=True
        )
        assert pair.is_refused
        assert "no score in common: model has exact, m has style" in pair.refusals[-1]

    def test_a_larger_limit_is_no_reason(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([0, 1])))
        b = str(write_run(tmp_path / "b", made([0, 1, 1]), data=[DataFile("questions.jsonl", "0" * 32, 3)]))
        assert pair_of(a, b).refusals == []

    def test_settings_that_differ_are_told_and_compared(self, tmp_path: Path) -> None:
        warm = [Target("primary", "model", "http://127.0.0.1:9/v1", {"temperature": 1.0})]
        a = str(write_run(tmp_path / "a", made([0, 1])))
        b = str(write_run(tmp_path / "b", made([0, 1]), targets=warm))
        assert "temperature: none → 1.0" in pair_of(a, b).notes

    def test_an_unfinished_run_is_said_to_be_one(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([0, 1])))
        b = str(write_run(tmp_path / "b", made([0, 1]), finished=False))
        assert "B is unfinished: only its finished trials are compared" in pair_of(a, b).notes


class TestSeveralTasks:
    def test_each_task_has_its_own_first_run(self, tmp_path: Path) -> None:
        others: dict[str, Any] = {"data": [DataFile("others.jsonl", "1" * 32, 2)]}
        runs = [
            str(write_run(tmp_path / "a", made([0, 1]))),
            str(write_run(tmp_path / "b", made([0, 1]))),
            str(write_run(tmp_path / "c", made([0, 1]), **others)),
            str(write_run(tmp_path / "d", made([1, 1]), **others)),
        ]
        found = comparison_of(*runs)
        assert [(pair.a, pair.b) for pair in found.pairs] == [("A", "B"), ("C", "D")]
        assert found.tests == 2

    def test_a_lonely_run_is_told(self, tmp_path: Path) -> None:
        others: dict[str, Any] = {"data": [DataFile("others.jsonl", "1" * 32, 2)]}
        runs = [str(write_run(tmp_path / name, made([0, 1]))) for name in "ab"]
        runs.append(str(write_run(tmp_path / "c", made([0, 1]), **others)))
        (note,) = comparison_of(*runs).notes
        assert note.startswith("C is the only run of eval others")


class TestSpeed:
    def test_percentiles_are_compared_at_equal_concurrency(self, tmp_path: Path) -> None:
        a = [Made(str(n), ttft=0.1 + n / 1000) for n in range(100)]
        b = [Made(str(n), ttft=0.2 + n / 1000) for n in range(100)]
        median = pair_of(*two_runs(tmp_path, a, b)).latencies[0]
        assert (median.metric, median.q, median.n_a, median.n_b) == ("ttft", 0.5, 100, 100)
        assert median.difference == pytest.approx(0.1)
        assert median.low is not None
        assert median.high is not None
        assert 0.08 < median.low < 0.1 < median.high < 0.12

    def test_an_end_that_the_data_cannot_give_is_none(self, tmp_path: Path) -> None:
        p99 = pair_of(*two_runs(tmp_path, made([1] * 30), made([1] * 30))).latencies[2]
        assert (p99.q, p99.low, p99.high) == (0.99, None, None)

    def test_other_concurrency_is_no_comparison(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([1])))
        b = str(write_run(tmp_path / "b", made([1]), concurrency=32))
        pair = pair_of(a, b)
        assert (pair.latencies, pair.no_latency) == ([], "the concurrency differs: 4 and 32")

    def test_what_was_taken_over_from_earlier_runs_has_no_time(self, tmp_path: Path) -> None:
        b = [Made("0", latency=99.0, reused=True), Made("1", latency=1.0), Made("2", latency=1.0)]
        pair = pair_of(*two_runs(tmp_path, made([1, 1, 1]), b))
        assert {one.n_b for one in pair.latencies} == {2}
        assert all(one.b <= 1.0 for one in pair.latencies)

    def test_without_streaming_only_latency_is_compared(self, tmp_path: Path) -> None:
        pair = pair_of(*two_runs(tmp_path, made([1] * 9, ttft=None), made([1] * 9)))
        assert {one.metric for one in pair.latencies} == {"latency"}


def result_file(place: Path, name: str, correct: list[bool], **more: Any) -> str:
    samples = [{"id": f"q{n}", "correct": one, "predicted": f"{name}{n}"} for n, one in enumerate(correct)]
    document = {"benchmark": "mmlu", "model": name, "sample_results": samples} | more
    path = place / f"{name}.json"
    path.write_text(json.dumps(document))
    return str(path)


class TestFiles:
    def test_files_of_other_tools_are_aligned_by_their_ids_and_it_is_said(self, tmp_path: Path) -> None:
        a = result_file(tmp_path, "a", [False, False, True, True])
        b = result_file(tmp_path, "b", [True, False, True, False])
        pair = pair_of(a, b)
        assert "by the ids" in pair.alignment
        assert "could not check that the data is the same" in pair.notes
        assert (pair.scores[0].score, pair.scores[0].wins, pair.scores[0].losses) == ("accuracy", 1, 1)
        assert pair.scores[0].changes[0].answer_b == "b0"

    @pytest.mark.parametrize(
        ("protocol", "reason"),
        [
            ({"protocol": "two-shot", "protocol_version": "1"}, "the protocols differ: one-shot; two-shot"),
            ({"protocol": "one-shot", "protocol_version": "2"}, "the versions of the protocol differ: 1; 2"),
        ],
    )
    def test_files_of_different_protocols_are_not_compared(
        self, tmp_path: Path, protocol: dict[str, str], reason: str
    ) -> None:
        a = result_file(tmp_path, "a", [True], protocol={"protocol": "one-shot", "protocol_version": "1"})
        b = result_file(tmp_path, "b", [True], protocol=protocol)
        assert pair_of(a, b).refusals == [reason]

    def test_a_graded_score_stands_beside_the_accuracy(self, tmp_path: Path) -> None:
        def graded(name: str, values: list[float]) -> str:
            samples = [{"id": n, "correct": value == 1, "score": value} for n, value in enumerate(values)]
            return result_file(tmp_path, name, [], sample_results=samples)

        pair = pair_of(graded("a", [0.5, 0.2, 1.0]), graded("b", [0.75, 0.2, 1.0]))
        assert [(score.score, score.wins) for score in pair.scores] == [("accuracy", 0), ("score", 1)]

    def test_what_other_tools_write_elsewhere_does_not_matter(self, tmp_path: Path) -> None:
        odd = {"config": [1], "protocol": "p", "run": 7, "timings_valid": "yes", "repeats": "x"}
        sample = {"id": [1], "correct": True, "details": ["d"], "metrics": 3, "status": {}, "repeat": "r"}
        a = result_file(tmp_path, "a", [], sample_results=[sample], **odd)
        b = result_file(tmp_path, "b", [], sample_results=[sample | {"correct": False}], **odd)
        assert score_of(a, b).losses == 1

    def test_without_ids_nothing_is_paired(self, tmp_path: Path) -> None:
        a = result_file(tmp_path, "a", [], sample_results=[{"correct": True}, {"correct": False}])
        b = result_file(tmp_path, "b", [True, True])
        score = score_of(a, b)
        assert score.unpaired == "the samples of a have no ids"
        assert (score.n_a, score.mean_a) == (2, 0.5)

    def test_a_file_that_names_a_run_on_this_machine_stands_for_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        about = {"benchmark": "mmlu", "variant": None, "protocol": "p"}
        write_run(tmp_path / "runs" / "run-1", made([0, 1, 1]), kind="benchmark", about=about)
        found = comparison_of(
            result_file(tmp_path, "a", [True] * 3, run="run-1"),
            result_file(tmp_path, "b", [True] * 3, run="run-elsewhere"),
        )
        assert [one.source for one in found.runs] == ["journal", "result file"]

    def test_the_results_of_an_eval(self, tmp_path: Path) -> None:
        def document(name: str, scores: list[float]) -> str:
            rows = [
                {
                    "row_index": n,
                    "runs": [{"run_index": 0, "success": value >= 0, "scores": {"exact": value}}],
                }
                for n, value in enumerate(scores)
            ]
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps({"config": {"model": name, "n_runs": 1}, "summary": {}, "rows": rows}))
            return str(path)

        score = score_of(document("a", [0.0, 1.0, 1.0]), document("b", [1.0, 1.0, -1.0]))
        assert (score.n, score.wins, score.errors_b) == (2, 1, 1)

    def test_what_is_no_run_and_no_file_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        with pytest.raises(UserError, match="There is no run 'yesterday'"):
            compare(["yesterday"])
