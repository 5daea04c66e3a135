"""The documented numbers, held against numpy, exact fractions and figures computed by hand."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.llm_benchmarker_api.metrics import (
    AggregatedMetrics,
    RequestMetrics,
    aggregate_metrics,
    compute_pass_at_k,
    confidence_interval_95,
)
from benchwright.records import RequestRecord, Usage

SECOND = 1_000_000_000


def record(ttft: float | None, total: float, prompt: int = 10, completion: int = 5) -> RequestRecord:
    return RequestRecord(
        id="00c0ffee",
        ttft=None if ttft is None else round(ttft * SECOND),
        total=round(total * SECOND),
        usage=Usage(prompt, completion),
    )


class TestRequests:
    def test_the_fields_are_those_of_the_engines_record(self) -> None:
        metrics = RequestMetrics.of(record(ttft=0.5, total=2.5, prompt=10, completion=5))
        assert metrics == RequestMetrics(
            request_id="00c0ffee",
            ttft_seconds=0.5,
            total_latency_seconds=2.5,
            prompt_tokens=10,
            completion_tokens=5,
            prefill_time_seconds=0.5,
            decode_time_seconds=2.0,
            tokens_per_second_generation=(5 - 1) / 2.0,
            tokens_per_second_prompt=10 / 0.5,
            error=None,
        )

    def test_without_streaming_what_needs_it_is_none(self) -> None:
        metrics = RequestMetrics.of(record(ttft=None, total=2.5))
        derived = (metrics.ttft_seconds, metrics.decode_time_seconds, metrics.tokens_per_second_generation)
        assert derived == (None, None, None)

    def test_an_id_of_eight_hex_digits_is_made_up_where_none_is_given(self) -> None:
        assert len(RequestMetrics().request_id) == 8
        int(RequestMetrics().request_id, 16)


class TestAggregated:
    def test_percentiles_and_means_are_those_of_numpy(self) -> None:
        requests = [record(ttft=0.1 * n, total=0.3 * n, completion=n + 1) for n in range(1, 30)]
        found = aggregate_metrics(requests, 10.0)
        ttft = [0.1 * n for n in range(1, 30)]
        assert found.ttft_p50 == pytest.approx(np.percentile(ttft, 50))
        assert found.ttft_p95 == pytest.approx(np.percentile(ttft, 95))
        assert found.ttft_p99 == pytest.approx(np.percentile(ttft, 99))
        assert found.ttft_mean == pytest.approx(np.mean(ttft))
        latency = [0.3 * n for n in range(1, 30)]
        assert found.latency_p95 == pytest.approx(np.percentile(latency, 95))
        assert found.generation_tps_mean == pytest.approx(5.0)  # n tokens in 0.2 * n seconds, each time
        assert found.prompt_tps_mean == pytest.approx(np.mean([10 / value for value in ttft]))

    def test_failed_requests_are_counted_and_nothing_else_of_them(self) -> None:
        good, bad = RequestMetrics(total_latency_seconds=1.0, prompt_tokens=7), RequestMetrics(error="no")
        found = aggregate_metrics([good, bad], wall_time=4.0)
        assert (found.total_requests, found.failed_requests, found.total_prompt_tokens) == (2, 1, 7)
        assert found.latency_mean == 1.0
        assert found.effective_throughput_rps == 1 / 4

    def test_what_is_none_is_left_out_of_the_dict(self) -> None:
        assert aggregate_metrics([], 0.0).to_dict() == {
            "total_prompt_tokens": 0,
            "total_completion_tokens": 0,
            "total_requests": 0,
            "failed_requests": 0,
            "wall_time_seconds": 0.0,
        }
        whole = AggregatedMetrics(*range(17))
        assert list(whole.to_dict()) == [field.name for field in fields(AggregatedMetrics)]


class TestPassAtK:
    @given(st.integers(1, 40), st.data())
    def test_it_is_the_documented_simplified_formula(self, n: int, data: st.DataObject) -> None:
        c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
        product = prod(1 - Fraction(k, i) for i in range(n - c + 1, n + 1)) if n - c >= k else Fraction(0)
        assert compute_pass_at_k(n, c, k) == pytest.approx(float(1 - product), abs=1e-15)

    def test_by_hand(self) -> None:
        assert compute_pass_at_k(10, 3, 1) == 0.3
        assert compute_pass_at_k(10, 7, 3) == pytest.approx(1 - 1 / 120)  # 0.9917

    def test_more_tries_than_answers_are_refused(self) -> None:
        with pytest.raises(ValueError, match="k=5 with 3 trials"):
            compute_pass_at_k(3, 1, 5)


class TestInterval:
    def test_by_hand(self) -> None:
        low, high = confidence_interval_95([1, 1, 1, 0])
        half = 1.96 * (0.75 * 0.25) ** 0.5 / 2
        assert (low, high) == pytest.approx((0.75 - half, 0.75 + half))

    def test_with_fewer_than_two_scores_it_has_no_width(self) -> None:
        assert confidence_interval_95([]) == (0.0, 0.0)
        assert confidence_interval_95([1.0]) == (1.0, 1.0)

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
    def test_it_is_the_mean_and_1_96_standard_errors_with_ddof_0(self, scores: list[float]) -> None:
        low, high = confidence_interval_95(scores)
        assert (low + high) / 2 == pytest.approx(np.mean(scores))
        assert high - low == pytest.approx(2 * 1.96 * np.std(scores) / len(scores) ** 0.5, abs=1e-12)
