"""Benchmarks of the catalog behind the documented interface."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.documented.answering import answering
from tests.catalog.punkt_model import lay_fetched

import llm_benchmarker.benchmarks
from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark, BenchmarkSample, SampleResult
from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
from benchwright.catalog.llm_benchmarker_api.registry import get_benchmark, list_benchmarks, register
from benchwright.catalog.llm_benchmarker_api.runner import BenchmarkRunner
from benchwright.catalog.registry import find_about
from benchwright.errors import UserError

assert llm_benchmarker.benchmarks  # importing it registers them

ROWS = [
    {"question": f"Question {n}?", "subject": "anatomy", "choices": ["w", "x", "y", "z"], "answer": n % 4}
    for n in range(6)
]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    write_rows(tmp_path / "mmlu" / "test.jsonl", ROWS)
    return tmp_path


async def test_ifeval_finds_its_sentence_model_in_the_data_directory_that_is_read(tmp_path: Path) -> None:
    """Our own splitter takes "St." for an abbreviation; the model that lies there does not."""
    lay_fetched(tmp_path)
    given = {"num_sentences": 2, "relation": "at least"}
    row = {"key": 1, "prompt": "Two sentences.", "kwargs": [given]}
    row["instruction_id_list"] = ["length_constraints:number_sentences"]
    write_rows(tmp_path / "ifeval" / "train.jsonl", [row])
    ifeval = get_benchmark("ifeval")
    (sample,) = await ifeval.load_dataset(tmp_path)
    assert (await ifeval.evaluate(sample, "In St. Louis it rains")).correct


class TestMmlu:
    def test_its_metadata_is_the_catalogs(self) -> None:
        mmlu = get_benchmark("mmlu")
        assert (mmlu.name, mmlu.tier, mmlu.is_multi_turn) == ("mmlu", 1, False)
        assert mmlu.description == find_about("mmlu").description

    async def test_samples_have_their_messages_and_what_they_are_graded_from(self, data_dir: Path) -> None:
        samples = await get_benchmark("mmlu").load_dataset(data_dir, max_samples=2)
        assert [sample.id for sample in samples] == ["mmlu_0", "mmlu_1"]
        assert "Question 1?" in samples[1].messages[-1]["content"]
        assert samples[1].metadata["content"]["answer"] == "B"
        assert samples[1].metadata["labels"]["subject"] == "anatomy"

    async def test_answers_are_graded_as_the_catalog_does(self, data_dir: Path) -> None:
        mmlu = get_benchmark("mmlu")
        samples = await mmlu.load_dataset(data_dir)
        right = await mmlu.evaluate(samples[1], "Thinking.\n\nAnswer: B")
        assert (right.id, right.correct, right.predicted, right.expected) == ("mmlu_1", True, "B", "B")
        assert right.details["subject"] == "anatomy"
        assert not (await mmlu.evaluate(samples[1], "Answer: C")).correct
        assert not (await mmlu.evaluate(samples[1], "It is B.")).correct, "the protocol wants 'Answer: B'"

    async def test_a_variant_is_asked_for_by_its_name(self, data_dir: Path) -> None:
        documented = get_benchmark("mmlu:documented")
        (sample,) = await documented.load_dataset(data_dir, max_samples=1)
        assert sample.messages[-1]["content"].endswith("Answer with the letter only.")
        assert documented.get_request_kwargs(sample)["max_tokens"] == 32
        assert (await documented.evaluate(sample, "It is A.")).correct

    async def test_the_runner_asks_and_grades_by_the_protocol(
        self, data_dir: Path, config: Callable[..., BenchmarkConfig]
    ) -> None:
        async with answering(lambda body: "Answer: A") as server:
            result = await BenchmarkRunner(config(server.base_url, data_dir=data_dir)).run("mmlu")
        assert (result.num_samples, result.accuracy) == (6, 2 / 6)
        assert {body["max_tokens"] for body in server.bodies} == {find_about("mmlu").max_tokens}

    async def test_explicit_settings_win_over_the_protocols(
        self, data_dir: Path, config: Callable[..., BenchmarkConfig]
    ) -> None:
        settings = {"data_dir": data_dir, "max_samples": 1, "temperature": 0.3, "max_tokens": 77}
        async with answering() as server:
            await BenchmarkRunner(config(server.base_url, **settings)).run("mmlu")
            await BenchmarkRunner(config(server.base_url, **settings)).run("mmlu:documented")
        assert [body["temperature"] for body in server.bodies] == [0.3, 0.3]
        assert [body["max_tokens"] for body in server.bodies] == [77, 32]

    async def test_its_conversation_can_be_led_by_hand(
        self, data_dir: Path, config: Callable[..., BenchmarkConfig]
    ) -> None:
        from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient

        mmlu = get_benchmark("mmlu")
        samples = await mmlu.load_dataset(data_dir)
        async with answering(lambda body: "Answer: C") as server:
            settings = config(server.base_url)
            async with InstrumentedClient(settings) as client:
                result = await mmlu.multi_turn(samples[2], client, settings)
        assert (result.id, result.correct, result.predicted) == ("mmlu_2", True, "C")
        assert result.metrics is not None

    async def test_data_that_is_nowhere_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
        with pytest.raises(UserError, match="fetch mmlu"):
            await get_benchmark("mmlu").load_dataset(tmp_path)


async def test_the_real_rows_are_graded(real_rows: Path) -> None:
    mmlu = get_benchmark("mmlu")
    from benchwright.data.datasets import find_dataset

    mmlu.source = lambda data_dir: find_dataset(  # type: ignore[attr-defined]
        find_about("mmlu").dataset, data_dir, path=real_rows / "mmlu" / "sample.jsonl"
    )
    samples = await mmlu.load_dataset(real_rows, max_samples=3)
    for sample in samples:
        assert (await mmlu.evaluate(sample, f"Answer: {sample.metadata['content']['answer']}")).correct


class TestRegistry:
    def test_all_14_documented_benchmarks_are_listed_by_name(self) -> None:
        listed = {entry["name"]: entry["tier"] for entry in list_benchmarks()}
        assert {
            **dict.fromkeys(
                ["graphwalks", "hle", "humaneval", "ifeval", "longbench_v2", "mmlu", "mmlu_pro"], 1
            ),
            **dict.fromkeys(["mrcr", "multi_if"], 2),
            **dict.fromkeys(["bfcl", "tau_bench"], 3),
            **dict.fromkeys(["swe_bench", "swe_bench_pro", "terminal_bench"], 4),
        }.items() <= listed.items()
        assert list(listed) == sorted(listed)
        assert all(entry["description"] for entry in list_benchmarks())

    def test_a_name_that_is_none_is_told_with_the_nearest(self) -> None:
        with pytest.raises(UserError, match="Did you mean 'mmlu_pro'"):
            get_benchmark("mmlu_por")
        with pytest.raises(UserError, match="mmlu:6shot"):
            _ = get_benchmark("mmlu:6shot").about  # type: ignore[attr-defined]

    def test_two_classes_cannot_have_one_name(self) -> None:
        class Another(BaseBenchmark):
            name = "mmlu"

            async def load_dataset(
                self, data_dir: Any, max_samples: int | None = None
            ) -> list[BenchmarkSample]:
                return []

        with pytest.raises(UserError, match="Two benchmarks are named 'mmlu'"):
            register(Another)

    def test_a_class_needs_a_name(self) -> None:
        class Nameless(BaseBenchmark):
            async def load_dataset(
                self, data_dir: Any, max_samples: int | None = None
            ) -> list[BenchmarkSample]:
                return []

        with pytest.raises(UserError, match="Nameless needs a name"):
            register(Nameless)


class TestBase:
    async def test_what_a_class_does_not_implement_is_told(self) -> None:
        class Silent(BaseBenchmark):
            name = "silent"

            async def load_dataset(
                self, data_dir: Any, max_samples: int | None = None
            ) -> list[BenchmarkSample]:
                return []

        sample = BenchmarkSample("x", [])
        with pytest.raises(NotImplementedError, match="Silent has no evaluate"):
            await Silent().evaluate(sample, "")

    def test_a_class_without_samples_cannot_be_made(self) -> None:
        class Empty(BaseBenchmark):
            name = "empty"

            async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
                return SampleResult(sample.id, correct=True)

        with pytest.raises(TypeError, match="load_dataset"):
            Empty()  # type: ignore[abstract]


class TestDocker:
    def test_the_documented_limits(self) -> None:
        from llm_benchmarker.benchmarks.docker_base import DockerBenchmark
        from llm_benchmarker.benchmarks.swe_bench import SWEBenchBenchmark
        from llm_benchmarker.benchmarks.swe_bench_pro import SWEBenchProBenchmark
        from llm_benchmarker.benchmarks.terminal_bench import TerminalBenchBenchmark

        assert DockerBenchmark.network_mode == "none"
        assert DockerBenchmark.mem_limit == "2g"
        assert (DockerBenchmark.cpu_period, DockerBenchmark.cpu_quota) == (100_000, 100_000)
        assert (SWEBenchBenchmark.docker_image, SWEBenchBenchmark.max_tokens) == ("python:3.11", 4096)
        assert issubclass(SWEBenchProBenchmark, SWEBenchBenchmark)
        terminal = TerminalBenchBenchmark
        assert (terminal.docker_image, terminal.max_turns, terminal.max_tokens) == ("ubuntu:22.04", 15, 1024)

    async def test_those_of_the_catalog_are_run_as_the_catalog_runs_them(
        self, config: Callable[..., BenchmarkConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setenv("HF_HOME", str(tmp_path))
        runner = BenchmarkRunner(config("http://127.0.0.1:9/v1", data_dir=tmp_path))
        with pytest.raises(UserError, match="benchwright fetch swe_bench"):
            await runner.run("swe_bench")
