"""Decisions for machines: `--fail-if`, `--max-regression`, and how often they are wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.compare_kit import Made, made, paired_outcomes, two_runs, write_run

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.records import GateResult
from benchwright.analysis.comparison.rules import OPERATORS, parse_rule
from benchwright.errors import UserError
from benchwright.records import Status
from benchwright.runs.manifest import ScorerInfo


def rulings_on(*references: str, **wanted: Any) -> list[GateResult]:
    return compare(references, ComparisonOptions(**wanted)).comparison.rulings


def ruling_on(*references: str, **wanted: Any) -> GateResult:
    (ruling,) = rulings_on(*references, **wanted)
    return ruling


class TestRules:
    @given(
        st.from_regex(r"[a-z][a-z0-9_.:-]{0,20}", fullmatch=True),
        st.sampled_from(sorted(OPERATORS)),
        st.floats(-1e6, 1e6, allow_nan=False),
        st.sampled_from(["", " ", "  "]),
    )
    def test_a_name_an_operator_and_a_number(self, name: str, sign: str, value: float, gap: str) -> None:
        rule = parse_rule(f"{gap}{name}{gap}{sign}{gap}{value!r}{gap}")
        assert (rule.name, rule.operator, rule.threshold) == (name, sign, value)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "accuracy",
            "accuracy <",
            "< 0.7",
            "a < b",
            "a < nan",
            "a < inf",
            "a = 1",
            "a < 1 < 2",
            "a b < 1",
        ],
    )
    def test_anything_else_is_told_with_an_example(self, text: str) -> None:
        with pytest.raises(UserError, match=r'--fail-if "accuracy < 0\.7"'):
            parse_rule(text)

    def test_of_one_run(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", made([1, 1, 1, 0])))
        assert ruling_on(run, fail_if=("exact < 0.7",)).passed
        ruling = ruling_on(run, fail_if=("exact < 0.8",))
        assert not ruling.passed
        assert (ruling.rule, ruling.explanation) == ("fail if exact < 0.8", "exact is 0.75")

    def test_of_two_it_is_the_second_that_is_ruled_on(self, tmp_path: Path) -> None:
        runs = two_runs(tmp_path, made([1, 1]), made([0, 1]))
        assert "0.5" in ruling_on(*runs, fail_if=("exact < 0.9",)).explanation

    @pytest.mark.parametrize(
        ("metric", "value"),
        [
            ("exact", 0.4),
            ("exact.scored", 2 / 4),
            ("value", 0.4),
            ("errors", 0.2),
            ("no_answer", 0.2),
            ("samples", 5),
            ("trials", 5),
            ("latency_p50", 1.0),
            ("ttft_p95", 0.1),
            ("total_completion_tokens", 25),
            ("difference", -0.5),
            ("exact.difference", -0.5),
            ("p_value", 0.25),
        ],
    )
    def test_the_names_and_what_they_mean(self, tmp_path: Path, metric: str, value: float) -> None:
        b = [*made([1, 1, 0]), Made("3", None), Made("4", failed=Status.PROVIDER_ERROR)]
        metrics = compare(two_runs(tmp_path, made([1] * 5), b)).comparison.metrics
        assert metrics[metric] == pytest.approx(value, abs=1e-6)

    def test_a_name_that_is_misspelt_gets_a_suggestion_and_the_list(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", made([1])))
        with pytest.raises(
            UserError, match=r"'latency_p59'. Did you mean 'latency_p99'\? Choose from: .*exact"
        ):
            compare([run], ComparisonOptions(fail_if=("latency_p59 > 1",)))

    def test_what_was_not_measured_decides_nothing(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", made([1], ttft=None)))
        with pytest.raises(UserError, match="ttft_p50 was not measured"):
            compare([run], ComparisonOptions(fail_if=("ttft_p50 > 1",)))

    def test_every_candidate_is_held_to_every_rule(self, tmp_path: Path) -> None:
        runs = [
            str(write_run(tmp_path / name, made([1, good]))) for name, good in (("a", 1), ("b", 1), ("c", 0))
        ]
        rulings = rulings_on(*runs, fail_if=("exact < 0.9",))
        assert [(ruling.rule[0], ruling.passed) for ruling in rulings] == [("B", True), ("C", False)]


class TestRegression:
    def test_a_certain_loss_fails(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=5, losses=40, both=400, neither=55)
        ruling = ruling_on(*two_runs(tmp_path, made(a), made(b)), max_regression=0.01)
        assert not ruling.passed
        assert "-0.0700" in ruling.explanation

    def test_one_within_the_margin_passes(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=5, losses=40, both=400, neither=55)
        assert ruling_on(*two_runs(tmp_path, made(a), made(b)), max_regression=0.06).passed

    def test_one_that_may_be_chance_passes_and_is_told(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=2, losses=5, both=40, neither=3)
        ruling = ruling_on(*two_runs(tmp_path, made(a), made(b)), max_regression=0.01)
        assert ruling.passed
        assert "it may be due to chance" in ruling.explanation

    def test_more_confidence_asks_for_more_evidence(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=5, losses=17, both=400, neither=55)
        runs = two_runs(tmp_path, made(a), made(b))
        assert not ruling_on(*runs, max_regression=0.0, confidence=0.95).passed
        assert ruling_on(*runs, max_regression=0.0, confidence=0.9999).passed

    def test_the_same_loss_everywhere_is_certain_without_an_interval(self, tmp_path: Path) -> None:
        runs = two_runs(tmp_path, made([0.5] * 20), made([0.25] * 20))
        assert not ruling_on(*runs, max_regression=0.1).passed

    def test_a_run_that_failed_throughout_never_passes(self, tmp_path: Path) -> None:
        b = [Made(str(n), failed=Status.PROVIDER_ERROR) for n in range(5)]
        told = "no score (5 of 5 failed: provider error), so there is nothing to decide"
        with pytest.raises(UserError, match=re.escape(told)):
            rulings_on(*two_runs(tmp_path, made([1] * 5), b), max_regression=0.01)

    @pytest.mark.parametrize("rule", ["exact < 0.5", "exact > 0.5", "exact.scored < 0.5", "value == 0"])
    def test_a_rule_on_a_score_that_does_not_exist_decides_nothing(self, tmp_path: Path, rule: str) -> None:
        run = write_run(tmp_path / "a", [Made(str(n), failed=Status.PROVIDER_ERROR) for n in range(5)])
        with pytest.raises(UserError, match="so there is nothing to decide"):
            rulings_on(str(run), fail_if=(rule,))

    def test_what_is_not_comparable_never_passes(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([1])))
        b = str(write_run(tmp_path / "b", made([1]), scorers=[ScorerInfo("exact", "rule 2")]))
        with pytest.raises(UserError, match=r"A and B are not comparable: .*different rules"):
            rulings_on(a, b, max_regression=0.01)

    def test_several_gates_share_the_level(self, tmp_path: Path) -> None:
        """A loss whose one-sided p-value is 0.03: certain enough for one gate at 0.05, not for one of two."""
        a, b = paired_outcomes(wins=5, losses=13, both=70, neither=12)
        first, second = two_runs(tmp_path, made(a), made(b))
        third = str(write_run(tmp_path / "c", made(b)))
        assert not ruling_on(first, second, max_regression=0.0).passed
        assert [one.passed for one in rulings_on(first, second, third, max_regression=0.0)] == [True, True]

    def test_a_single_sample_decides_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="a single sample supports no decision"):
            rulings_on(*two_runs(tmp_path, made([0.9]), made([0.1])), max_regression=0.01)

    def test_it_takes_two(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="--max-regression needs two runs"):
            rulings_on(str(write_run(tmp_path / "a", made([1]))), max_regression=0.01)

    @pytest.mark.parametrize("confidence", [0.5, 1.0, 95.0, float("nan")])
    def test_a_confidence_that_is_none_is_told(self, tmp_path: Path, confidence: float) -> None:
        with pytest.raises(UserError, match=r"between 0\.5 and 1"):
            rulings_on(str(write_run(tmp_path / "a", made([1]))), confidence=confidence)
