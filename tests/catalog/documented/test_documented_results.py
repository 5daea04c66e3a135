"""Result files in the documented shape."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright.catalog.llm_benchmarker_api.base import BenchmarkResult, SampleResult
from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
from benchwright.catalog.llm_benchmarker_api.metrics import AggregatedMetrics, RequestMetrics
from benchwright.catalog.llm_benchmarker_api.results import save_result
from benchwright.errors import JournalError

URL = "http://localhost:8000/v1"


@pytest.fixture
def result() -> BenchmarkResult:
    sample = SampleResult(
        id="mine_0",
        correct=True,
        score=1.0,
        predicted="B",
        expected="B",
        details={"subject": "law"},
        metrics=RequestMetrics(request_id="00c0ffee", ttft_seconds=0.174, total_latency_seconds=0.213),
    )
    aggregated = AggregatedMetrics(ttft_p50=0.174, total_requests=1)
    return BenchmarkResult("mine", 1, 1.0, 1.0, aggregated, [sample])


def test_the_file_has_the_documented_keys_in_their_order(
    result: BenchmarkResult, config: Callable[..., BenchmarkConfig], tmp_path: Path
) -> None:
    path = save_result(result, config(URL, model="meta-llama/Llama-3.1-8B-Instruct", output_dir=tmp_path))
    document = json.loads(path.read_text())
    stamp = document.pop("timestamp")
    assert path == tmp_path / f"mine_meta-llama_Llama-3.1-8B-Instruct_{stamp}.json"
    assert len(stamp) == len("20260220T120000Z")
    assert stamp.endswith("Z")
    aggregated = document.pop("aggregated_metrics")
    assert aggregated["ttft_p50"] == 0.174
    assert "ttft_p95" not in aggregated
    (sample,) = document.pop("sample_results")
    assert list(sample) == ["id", "correct", "score", "predicted", "expected", "details", "metrics"]
    assert sample["metrics"]["total_latency_seconds"] == 0.213
    assert document == {
        "benchmark": "mine",
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "config": {
            "base_url": URL,
            "concurrency": 8,
            "streaming": True,
            "temperature": 0.0,
            "max_tokens": 2048,
            "seed": 42,
        },
        "name": "mine",
        "num_samples": 1,
        "accuracy": 1.0,
        "score": 1.0,
    }


def test_files_of_the_same_second_do_not_overwrite_each_other(
    result: BenchmarkResult, config: Callable[..., BenchmarkConfig], tmp_path: Path
) -> None:
    settings = config(URL, output_dir=tmp_path / "made" / "for it")
    paths = {save_result(result, settings) for _ in range(5)}
    assert len(paths) == 5
    assert set((tmp_path / "made" / "for it").iterdir()) == paths


def test_details_that_json_cannot_hold_are_told_as_well_as_can_be(
    result: BenchmarkResult, config: Callable[..., BenchmarkConfig], tmp_path: Path
) -> None:
    result.sample_results[0].details["odd"] = {1j}
    path = save_result(result, config(URL), tmp_path)
    assert json.loads(path.read_text())["sample_results"][0]["details"]["odd"] == ["1j"]


def test_a_directory_that_cannot_be_written_is_told(
    result: BenchmarkResult, config: Callable[..., BenchmarkConfig], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="Cannot write the results to"):
        save_result(result, config(URL), tmp_path / "file")
