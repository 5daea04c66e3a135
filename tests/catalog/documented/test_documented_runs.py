"""`BenchmarkRunner`: benchmarks of one's own on the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.documented.answering import answering

from benchwright.catalog.llm_benchmarker_api.base import (
    BaseBenchmark,
    BenchmarkResult,
    BenchmarkSample,
    SampleResult,
)
from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
from benchwright.catalog.llm_benchmarker_api.runner import BenchmarkRunner
from benchwright.errors import UserError

MakeConfig = Callable[..., BenchmarkConfig]


class Sums(BaseBenchmark):
    """The server says the last message again, so that even numbers are right."""

    name = "sums"
    description = "Even numbers"

    async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
        return [
            BenchmarkSample(f"sums_{n}", [{"role": "user", "content": str(n)}], {"expected": "even"})
            for n in range(10)
        ]

    async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
        correct = int(response) % 2 == 0
        return SampleResult(
            sample.id,
            correct,
            predicted=response,
            expected=sample.metadata["expected"],
            details={"n": response},
        )


class Talk(BaseBenchmark):
    """Two turns; the second is asked without streaming."""

    name = "talk"
    is_multi_turn = True

    async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
        return [BenchmarkSample("only", [{"role": "user", "content": "one"}], {"odd": {1, 2}})]

    async def multi_turn(
        self, sample: BenchmarkSample, client: InstrumentedClient, config: BenchmarkConfig
    ) -> SampleResult:
        text, _ = await client.chat_completion(sample.messages, max_tokens=5)
        messages = [
            *sample.messages,
            {"role": "assistant", "content": text},
            {"role": "user", "content": "two"},
        ]
        response = await client.chat_completion_raw(messages)
        said = response.choices[0].message.content
        return SampleResult(
            sample.id,
            correct=(text, said) == ("one", "two") and sample.metadata["odd"] == {1, 2},
            score=0.25,
            predicted=said,
            details={"per_turn": [True, True], "model": config.vllm.model},
        )


async def run(benchmark: BaseBenchmark, settings: BenchmarkConfig, **more: Any) -> BenchmarkResult:
    return await BenchmarkRunner(settings).run(benchmark, **more)


class TestOneTurn:
    async def test_every_sample_has_its_result_in_their_order(self, config: MakeConfig) -> None:
        async with answering() as server:
            result = await run(Sums(), config(server.base_url))
        assert (result.name, result.num_samples, result.accuracy, result.score) == ("sums", 10, 0.5, 0.5)
        assert [one.id for one in result.sample_results] == [f"sums_{n}" for n in range(10)]
        third = result.sample_results[3]
        assert (third.correct, third.score, third.predicted, third.expected) == (False, 0.0, "3", "even")
        assert third.details == {"n": "3"}
        assert third.metrics is not None
        assert third.metrics.prompt_tokens == 10

    async def test_requests_are_added_up(self, config: MakeConfig) -> None:
        async with answering(seconds=0.01) as server:
            metrics = (await run(Sums(), config(server.base_url))).aggregated_metrics
        assert (metrics.total_requests, metrics.failed_requests) == (10, 0)
        assert (metrics.total_prompt_tokens, metrics.total_completion_tokens) == (100, 30)
        assert metrics.latency_p50 is not None
        assert 0.01 <= metrics.latency_p50 <= metrics.wall_time_seconds
        assert metrics.effective_throughput_rps == pytest.approx(10 / metrics.wall_time_seconds)

    async def test_as_many_samples_are_under_way_as_the_configuration_says(self, config: MakeConfig) -> None:
        async with answering(seconds=0.02) as server:
            await run(Sums(), config(server.base_url, concurrency=3))
        assert server.most_at_once == 3

    async def test_the_number_of_samples_is_limited_also_where_the_class_does_not_care(
        self, config: MakeConfig
    ) -> None:
        async with answering() as server:
            result = await run(Sums(), config(server.base_url, max_samples=4))
        assert result.num_samples == len(server.bodies) == 4

    async def test_progress_is_told_sample_by_sample(self, config: MakeConfig) -> None:
        told: list[tuple[int, int]] = []
        async with answering() as server:
            await run(Sums(), config(server.base_url), on_progress=lambda *done: told.append(done))
        assert told == [(n, 10) for n in range(1, 11)]


class TestRequests:
    async def test_a_system_prompt_comes_first(self, config: MakeConfig) -> None:
        class Prompted(Sums):
            def system_prompt(self) -> str:
                return "Be brief."

        async with answering() as server:
            await run(Prompted(), config(server.base_url, max_samples=1))
        assert server.bodies[0]["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "0"},
        ]

    async def test_a_system_prompt_may_be_an_attribute(self, config: MakeConfig) -> None:
        class Prompted(Sums):
            system_prompt = "Be brief."  # type: ignore[assignment]

        async with answering() as server:
            await run(Prompted(), config(server.base_url, max_samples=1))
        assert server.bodies[0]["messages"][0]["content"] == "Be brief."

    async def test_a_benchmarks_own_fields_go_before_those_of_the_run(self, config: MakeConfig) -> None:
        class Own(Sums):
            def get_request_kwargs(self, sample: BenchmarkSample) -> dict[str, Any]:
                return {"temperature": 1.0, "stop": [sample.id]}

        async with answering() as server:
            await run(Own(), config(server.base_url, max_samples=1, temperature=0.2, seed=5))
        body = server.bodies[0]
        assert (body["temperature"], body["stop"], body["seed"]) == (1.0, ["sums_0"], 5)

    async def test_they_may_be_written_without_the_parameter(self, config: MakeConfig) -> None:
        class Own(Sums):
            def get_request_kwargs(self) -> dict[str, Any]:  # type: ignore[override]
                return {"stop": ["x"]}

        async with answering() as server:
            await run(Own(), config(server.base_url, max_samples=1))
        assert server.bodies[0]["stop"] == ["x"]

    @pytest.mark.parametrize(
        ("own", "of_the_run", "sent"),
        [(32, {}, 32), (32, {"max_tokens": 16}, 16), (4096, {}, 4096), (4096, {"max_tokens": 3000}, 3000)],
        ids=["smaller than the default", "run smaller", "default gives way", "run smaller, both large"],
    )
    async def test_of_two_limits_of_tokens_the_smaller_counts_and_the_default_is_none(
        self, config: MakeConfig, own: int, of_the_run: dict[str, int], sent: int
    ) -> None:
        class Own(Sums):
            def get_request_kwargs(self, sample: BenchmarkSample) -> dict[str, Any]:
                return {"max_tokens": own}

        async with answering() as server:
            await run(Own(), config(server.base_url, max_samples=1, **of_the_run))
        assert server.bodies[0]["max_tokens"] == sent


class TestManyTurns:
    async def test_the_conversation_goes_through_the_run_and_every_request_counts(
        self, config: MakeConfig
    ) -> None:
        async with answering() as server:
            result = await run(Talk(), config(server.base_url))
        (only,) = result.sample_results
        assert (only.correct, only.score, only.predicted) == (True, 0.25, "two")
        assert only.details == {"per_turn": [True, True], "model": "some-model"}
        assert result.aggregated_metrics.total_requests == 2
        assert [body["max_tokens"] for body in server.bodies] == [5, 2048]

    async def test_the_metrics_are_those_of_the_last_request(self, config: MakeConfig) -> None:
        async with answering(seconds=lambda body: 0.2 if b"two" in body else 0.0) as server:
            result = await run(Talk(), config(server.base_url))
        (only,) = result.sample_results
        assert only.metrics is not None
        assert only.metrics.total_latency_seconds >= 0.2


class TestFailures:
    async def test_a_failed_sample_is_incorrect_and_says_why(self, config: MakeConfig) -> None:
        class Broken(Sums):
            async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
                if sample.id == "sums_2":
                    raise ValueError("cannot say")
                return await super().evaluate(sample, response)

        async with answering() as server:
            result = await run(Broken(), config(server.base_url))
        assert result.accuracy == 0.4
        failed = result.sample_results[2]
        assert (failed.correct, failed.score, failed.details) == (
            False,
            0.0,
            {"error": "ValueError: cannot say"},
        )

    async def test_so_is_one_whose_conversation_failed(self, config: MakeConfig) -> None:
        class Broken(Talk):
            async def multi_turn(self, *_: Any) -> SampleResult:
                raise KeyError("nothing")

        async with answering() as server:
            result = await run(Broken(), config(server.base_url))
        assert result.sample_results[0].details == {"error": "KeyError: 'nothing'"}

    @pytest.mark.parametrize(("benchmark", "method"), [(Sums, "evaluate"), (Talk, "multi_turn")])
    async def test_what_is_no_result_is_told(
        self, config: MakeConfig, benchmark: type[BaseBenchmark], method: str
    ) -> None:
        async def returns_a_dict(*_: Any) -> Any:
            return {"correct": True}

        broken = type("Broken", (benchmark,), {method: returns_a_dict})
        async with answering() as server:
            result = await run(broken(), config(server.base_url, max_samples=1))
        assert (
            result.sample_results[0]
            .details["error"]
            .startswith(f"{method} of {benchmark.name} returned a dict")
        )

    async def test_a_score_that_is_no_number_is_told(self, config: MakeConfig) -> None:
        class Broken(Sums):
            async def evaluate(self, sample: BenchmarkSample, response: str) -> SampleResult:
                return SampleResult(sample.id, True, score=float("nan"))

        async with answering() as server:
            result = await run(Broken(), config(server.base_url, max_samples=1))
        assert "cannot be averaged" in result.sample_results[0].details["error"]

    async def test_a_refused_request_fails_its_sample_only(self, config: MakeConfig) -> None:
        def refuse_five(body: dict[str, Any]) -> Any:
            content = body["messages"][-1]["content"]
            return {"error": {"message": "not five"}} if content == "5" else content

        async with answering(refuse_five) as server:
            result = await run(Sums(), config(server.base_url))
        assert [one.id for one in result.sample_results if "error" in one.details] == ["sums_5"]
        assert result.aggregated_metrics.failed_requests == 1

    async def test_where_there_is_no_server_every_sample_fails_without_being_tried_for_long(
        self, config: MakeConfig
    ) -> None:
        result = await run(Sums(), config("http://127.0.0.1:9/v1", concurrency=1))
        assert (result.num_samples, result.accuracy) == (10, 0.0)
        assert all("Cannot connect" in one.details["error"] for one in result.sample_results)
        assert result.aggregated_metrics.total_requests == 1


class TestBadDatasets:
    @pytest.mark.parametrize(
        ("loaded", "words"),
        [
            (None, "must return a list of BenchmarkSample, but returned a NoneType"),
            ([{"id": "x"}], "but number 0 is a dict"),
            ([BenchmarkSample("x", []), BenchmarkSample("x", [])], "two samples with the id 'x'"),
            ([], "no samples"),
        ],
    )
    async def test_what_is_no_data_set_is_told(self, config: MakeConfig, loaded: Any, words: str) -> None:
        class Broken(Sums):
            async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> Any:
                return loaded

        with pytest.raises(UserError, match=words):
            await run(Broken(), config("http://127.0.0.1:9/v1"))

    async def test_a_failure_is_told_in_one_line(self, config: MakeConfig) -> None:
        class Broken(Sums):
            async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> Any:
                raise FileNotFoundError(f"no {data_dir}/x")

        with pytest.raises(UserError, match=r"^load_dataset of sums failed: FileNotFoundError: no here/x\.$"):
            await run(Broken(), config("http://127.0.0.1:9/v1", data_dir=Path("here")))


async def test_the_servers_metrics_are_attached_when_asked_for(config: MakeConfig) -> None:
    from benchwright.endpoint.simulate import Settings, SimulatedEndpoint

    async with SimulatedEndpoint(Settings()) as endpoint:
        result = await run(Sums(), config(endpoint.base_url, scrape_prometheus=True))
    assert result.prometheus_metrics is not None
    assert "# TYPE" in result.prometheus_metrics
    assert result.prometheus_delta is not None
    assert any(value == 10 for value in result.prometheus_delta.values())
