"""`run_benchmark`: a benchmark from Python is the run that `benchwright run` makes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.benchmark_kit import knowing, mmlu_rows
from tests.catalog.catalog_kit import write_rows

from benchwright import RunUnfinished, UserError, run_benchmark, run_benchmark_async


@pytest.fixture
def data(place: Path) -> Path:
    return write_rows(place / "data" / "mmlu" / "test.jsonl", mmlu_rows(8))


def test_it_comes_to_an_accuracy_figures_and_the_documented_file(data: Path) -> None:
    with knowing("mmlu", data, 0.5) as url:
        result = run_benchmark("mmlu", "m", base_url=url)
    assert result.accuracy == 0.5
    assert result.reports[0].totals.n == 8
    assert json.loads(result.path.read_text())["accuracy"] == 0.5
    assert "accuracy 0.5000" in str(result)
    assert repr(result) == f"<BenchmarkRun {result.id}: m 0.5000>"


@pytest.fixture
def url(data: Path) -> Iterator[str]:
    """A model that knows all answers."""
    with knowing("mmlu", data) as url:
        yield url


async def test_it_can_be_awaited(url: str) -> None:
    result = await run_benchmark_async("mmlu", "m", base_url=url, max_samples=3)
    assert (result.accuracy, result.summary.done) == (1.0, 3)
    assert "only some of the samples" in result.departures


def test_one_that_is_stopped_is_resumed_by_the_same_call(url: str) -> None:
    with pytest.raises(RunUnfinished) as stopped:
        run_benchmark("mmlu", "m", base_url=url, concurrency=1, budget_tokens=1)
    result = run_benchmark("mmlu", "m", base_url=url, concurrency=1)
    assert result.directory == stopped.value.run


def test_several_models_are_one_run_with_a_file_each(url: str) -> None:
    result = run_benchmark("mmlu", ["one", {"model": "other", "temperature": 0.5}], base_url=url)
    assert [report.model for report in result.reports] == ["one", "other"]
    assert len({report.path for report in result.reports}) == 2
    assert "\n\nother\n" in str(result)


def test_an_unknown_one_is_told(place: Path) -> None:
    with pytest.raises(UserError, match="mmlu"):
        run_benchmark("mmlo", "m", base_url="http://127.0.0.1:9/v1")
