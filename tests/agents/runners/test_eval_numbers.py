"""The numbers of an evaluation, worked out a second time from what was said."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.eval_fns import EvalFnWrapper
from benchwright.agents.runners.bench import BenchRunner
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.errors import ProviderError
from benchwright.agents.runners.evaluation import EvalRunner
from benchwright.agents.runners.results import (
    EvalEvalSummary,
    EvalResult,
    EvalRunResult,
    pass_at_k,
    summarise_scores,
)
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint, keyed_answers


def drawn(passes: Sequence[bool], k: int) -> float:
    """pass@k by its meaning: of all ways to draw k runs, the share in which one passed."""
    draws = list(itertools.combinations(passes, k))
    return sum(any(draw) for draw in draws) / len(draws)


def length_of_number(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> float:
    """A graded score: how much of the right answer's length the answer has, at most 1."""
    return min(1.0, len(solution_str) / 10)


@pytest.fixture
def graded() -> EvalFnWrapper:
    return EvalFnWrapper(length_of_number, "graded")


class TestAgainstAModel:
    """A model that gets 60 % of a key right, its answers read back from the conversations."""

    @pytest.fixture
    async def result(self, make_agent: Any, make_rows: Any, exact: Any, graded: Any) -> EvalResult:
        rows = make_rows(12)
        key = keyed_answers({row["user_prompt"]: row["ground_truth"] for row in rows})
        async with SimulatedEndpoint(Settings(answers=key, accuracy=0.6, seed=3)) as endpoint:
            client = ExternalLLMClient("mine", api_base=endpoint.base_url)
            baseline = ExternalLLMClient("mine", api_base=endpoint.base_url)
            async with client, baseline:
                result = await EvalRunner(
                    make_agent(), client, [exact, graded], baseline_llm_client=baseline
                ).run_eval(rows, n_runs=5, pass_threshold=0.5, batch_size=4)
            self.tokens = endpoint.stats.prompt_tokens + endpoint.stats.generation_tokens
        return result

    @staticmethod
    def scores(result: EvalResult, tag: str) -> list[list[float]]:
        """For each row, 1 or 0 for each of its runs: whether the model said the row's number."""
        return [
            [
                float(run.messages is not None and run.messages[-1]["content"] == str(row.row_index))
                for run in row.runs
                if run.model_tag == tag
            ]
            for row in result.rows
        ]

    def check(self, summary: EvalEvalSummary, scores: list[list[float]]) -> None:
        values = list(itertools.chain.from_iterable(scores))
        assert 0 < sum(values) < len(values) == 60
        assert summary.mean == pytest.approx(statistics.fmean(values))
        assert summary.std == pytest.approx(statistics.pstdev(values))
        assert (summary.min, summary.max) == (0.0, 1.0)
        assert list(summary.pass_at_k) == [1, 3, 5]
        for k, value in summary.pass_at_k.items():
            expected = statistics.fmean(drawn([score >= 0.5 for score in row], k) for row in scores)
            assert value == pytest.approx(expected)

    async def test_the_summary_is_the_primarys_alone(self, result: EvalResult) -> None:
        self.check(result.eval_summaries["exact"], self.scores(result, "primary"))

    async def test_each_model_has_its_own_though_both_have_one_name(self, result: EvalResult) -> None:
        assert result.model_summaries is not None
        primary, baseline = result.model_summaries
        assert [(one.model, one.model_tag) for one in result.model_summaries] == [
            ("mine", "primary"),
            ("mine", "baseline"),
        ]
        assert self.scores(result, "primary") != self.scores(result, "baseline")
        self.check(primary.eval_summaries["exact"], self.scores(result, "primary"))
        self.check(baseline.eval_summaries["exact"], self.scores(result, "baseline"))

    async def test_totals_are_of_both(self, result: EvalResult) -> None:
        assert (result.total_rows, result.total_runs, result.n_runs, result.pass_threshold) == (
            12,
            120,
            5,
            0.5,
        )
        assert result.total_tokens == self.tokens
        assert result.model_summaries is not None
        assert [one.total_runs for one in result.model_summaries] == [60, 60]
        assert sum(one.total_tokens for one in result.model_summaries) == self.tokens
        for one in result.model_summaries:
            durations = [
                run.duration_ms for row in result.rows for run in row.runs if run.model_tag == one.model_tag
            ]
            assert one.total_duration_ms == pytest.approx(sum(durations))

    async def test_a_graded_score_has_its_mean_and_spread(self, result: EvalResult) -> None:
        values = [
            min(1.0, len(run.messages[-1]["content"]) / 10)
            for row in result.rows
            for run in row.runs
            if run.model_tag == "primary" and run.messages is not None
        ]
        summary = result.eval_summaries["graded"]
        assert summary.mean == pytest.approx(statistics.fmean(values))
        assert summary.std == pytest.approx(statistics.pstdev(values))
        assert (summary.min, summary.max) == (min(values), max(values))


class TestFailedRuns:
    async def test_count_as_0_in_everything(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        """Of four rows, one fails in both of its runs."""

        def answer(messages: list[dict[str, Any]]) -> Any:
            number = messages[-1]["content"].strip("Say .")
            return ProviderError("overloaded") if number == "2" else number

        result = await BenchRunner(make_agent(), fake_client(answer), [exact]).run_bench(
            make_rows(4), n_runs=2
        )
        summary = result.eval_summaries["exact"]
        assert (summary.mean, summary.min, summary.max) == (0.75, 0.0, 1.0)
        assert summary.std == pytest.approx(math.sqrt(0.1875))
        assert summary.pass_at_k == {1: 0.75}

    async def test_do_not_pass_at_any_threshold(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client(lambda messages: ProviderError("overloaded"))
        result = await EvalRunner(make_agent(), client, [exact]).run_eval(
            make_rows(1), n_runs=2, pass_threshold=0.0
        )
        assert result.eval_summaries["exact"].pass_at_k == {1: 0.0}


class TestPassAtK:
    @pytest.mark.parametrize(
        ("n_runs", "ks"), [(1, []), (2, [1]), (3, [1, 3]), (9, [1, 3, 5]), (10, [1, 3, 5, 10]), (12, [1, 3, 5, 10])]
    )  # fmt: skip
    def test_is_given_for_1_3_5_and_10_up_to_the_runs_of_a_row(self, n_runs: int, ks: list[int]) -> None:
        runs = [EvalRunResult(run, True, {"exact": 1.0}) for run in range(n_runs)]
        assert list(summarise_scores(runs, ["exact"], n_runs, 1.0)["exact"].pass_at_k) == ks

    def test_runs_that_never_came_neither_pass_nor_fail(self) -> None:
        """A row of which one of five runs was made, before the evaluation stopped."""
        summary = summarise_scores([EvalRunResult(0, True, {"exact": 1.0})], ["exact"], 5, 1.0)["exact"]
        assert summary.pass_at_k == {1: 1.0}

    def test_the_documents_example(self) -> None:
        """They round 0.9917 to 0.97; the formula beside it gives 1 - 1/120."""
        assert pass_at_k(10, 7, 1) == pytest.approx(0.7)
        assert pass_at_k(10, 7, 3) == pytest.approx(1 - 1 / 120)

    @given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
    def test_is_the_share_of_draws_in_which_one_passed(self, passes: list[bool], k: int) -> None:
        n, c = len(passes), sum(passes)
        expected = drawn(passes, k) if k <= n else float(c > 0)
        assert pass_at_k(n, c, k) == pytest.approx(expected)
