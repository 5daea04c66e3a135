"""The import paths, names, signatures and defaults that the llm-benchmarker document promises."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

PROMISED = {
    "llm_benchmarker.config": ["BenchmarkConfig", "RunConfig", "VLLMConfig"],
    "llm_benchmarker.client": ["InstrumentedClient", "RequestMetrics"],
    "llm_benchmarker.metrics": [
        *("AggregatedMetrics", "RequestMetrics", "aggregate_metrics", "compute_pass_at_k"),
        "confidence_interval_95",
    ],
    "llm_benchmarker.runner": ["BenchmarkRunner"],
    "llm_benchmarker.results": ["compare_results", "save_result"],
    "llm_benchmarker.benchmarks": ["get_benchmark", "list_benchmarks", "register"],
    "llm_benchmarker.benchmarks.base": [
        "BaseBenchmark",
        "BenchmarkResult",
        "BenchmarkSample",
        "SampleResult",
    ],
    "llm_benchmarker.benchmarks.docker_base": ["DockerBenchmark"],
    "llm_benchmarker.benchmarks.mmlu": ["MMLUBenchmark"],
    "llm_benchmarker.benchmarks.mmlu_pro": ["MMLUProBenchmark"],
    "llm_benchmarker.benchmarks.humaneval": ["HumanEvalBenchmark"],
    "llm_benchmarker.benchmarks.ifeval": ["IFEvalBenchmark"],
    "llm_benchmarker.benchmarks.hle": ["HLEBenchmark"],
    "llm_benchmarker.benchmarks.longbench_v2": ["LongBenchV2Benchmark"],
    "llm_benchmarker.benchmarks.graphwalks": ["GraphWalksBenchmark"],
    "llm_benchmarker.benchmarks.multi_if": ["MultiIFBenchmark"],
    "llm_benchmarker.benchmarks.mrcr": ["MRCRBenchmark"],
    "llm_benchmarker.benchmarks.bfcl": ["BFCLBenchmark"],
    "llm_benchmarker.benchmarks.tau_bench": ["TauBenchBenchmark"],
    "llm_benchmarker.benchmarks.terminal_bench": ["TerminalBenchBenchmark"],
    "llm_benchmarker.benchmarks.swe_bench": ["SWEBenchBenchmark"],
    "llm_benchmarker.benchmarks.swe_bench_pro": ["SWEBenchProBenchmark"],
    "llm_benchmarker.evaluators.exact_match": ["contains_match", "exact_match", "normalize"],
    "llm_benchmarker.evaluators.mcq": ["LETTERS_10", "evaluate_mcq", "extract_mcq_answer"],
    "llm_benchmarker.evaluators.code_execution": ["execute_python", "run_humaneval_test"],
    "llm_benchmarker.evaluators.ifeval_rules": ["verify_instruction"],
    "llm_benchmarker.evaluators.ast_eval": [
        *("compare_function_calls", "normalize_value", "parse_function_call"),
    ],
    "llm_benchmarker.evaluators.set_comparison": ["extract_set", "jaccard_similarity", "set_exact_match"],
}


@pytest.mark.parametrize("module", PROMISED)
def test_every_promised_name_is_public_and_nothing_else_is(module: str) -> None:
    imported = importlib.import_module(module)
    assert sorted(imported.__all__) == sorted(PROMISED[module])
    for name in imported.__all__:
        assert getattr(imported, name) is not None


def test_a_name_is_the_same_wherever_it_is_imported_from() -> None:
    client, metrics = map(importlib.import_module, ("llm_benchmarker.client", "llm_benchmarker.metrics"))
    assert client.RequestMetrics is metrics.RequestMetrics


SIGNATURES = {
    "evaluators.mcq.extract_mcq_answer": ["response", "num_options=4"],
    "evaluators.mcq.evaluate_mcq": ["response", "expected", "num_options=4"],
    "evaluators.exact_match.exact_match": ["predicted", "expected"],
    "evaluators.exact_match.contains_match": ["predicted", "expected"],
    "evaluators.code_execution.execute_python": ["code", "timeout=10.0"],
    "evaluators.code_execution.run_humaneval_test": [
        *("prompt", "completion", "test_code", "entry_point", "timeout=10.0"),
    ],
    "evaluators.ifeval_rules.verify_instruction": ["response", "instruction_id", "kwargs"],
    "evaluators.ast_eval.parse_function_call": ["text"],
    "evaluators.ast_eval.compare_function_calls": ["predicted", "expected"],
    "evaluators.set_comparison.extract_set": ["text"],
    "evaluators.set_comparison.set_exact_match": ["predicted", "expected"],
    "evaluators.set_comparison.jaccard_similarity": ["predicted", "expected"],
    "metrics.compute_pass_at_k": ["n", "c", "k"],
    "metrics.confidence_interval_95": ["scores"],
    "benchmarks.get_benchmark": ["name"],
    "benchmarks.list_benchmarks": [],
    "benchmarks.base.BaseBenchmark.load_dataset": ["self", "data_dir", "max_samples=None"],
    "benchmarks.base.BaseBenchmark.evaluate": ["self", "sample", "response"],
    "benchmarks.base.BaseBenchmark.multi_turn": ["self", "sample", "client", "config"],
    "runner.BenchmarkRunner": ["config"],
}


@pytest.mark.parametrize("path", SIGNATURES)
def test_parameters_have_the_documented_names_order_and_defaults(path: str) -> None:
    parameters = inspect.signature(_found(path)).parameters.values()
    assert [_shown(parameter) for parameter in parameters] == SIGNATURES[path]


def _found(path: str) -> Any:
    found: Any = importlib.import_module("llm_benchmarker")
    for part in path.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def _shown(parameter: inspect.Parameter) -> str:
    default = parameter.default
    return parameter.name if default is inspect.Parameter.empty else f"{parameter.name}={default!r}"


FIELDS = {
    "metrics.RequestMetrics": [
        *("request_id", "ttft_seconds", "total_latency_seconds", "prompt_tokens", "completion_tokens"),
        *("prefill_time_seconds", "decode_time_seconds", "tokens_per_second_generation"),
        *("tokens_per_second_prompt", "error"),
    ],
    "metrics.AggregatedMetrics": [
        *("ttft_p50", "ttft_p95", "ttft_p99", "ttft_mean", "generation_tps_mean", "generation_tps_p50"),
        *("prompt_tps_mean", "latency_p50", "latency_p95", "latency_p99", "latency_mean"),
        *("total_prompt_tokens", "total_completion_tokens", "total_requests", "failed_requests"),
        *("wall_time_seconds", "effective_throughput_rps"),
    ],
    "benchmarks.base.BenchmarkSample": ["id", "messages", "metadata"],
    "benchmarks.base.SampleResult": [
        *("id", "correct", "score", "predicted", "expected", "details", "metrics"),
    ],
    "benchmarks.base.BenchmarkResult": [
        *("name", "num_samples", "accuracy", "score", "aggregated_metrics", "sample_results"),
    ],
}


@pytest.mark.parametrize("path", FIELDS)
def test_the_dataclasses_begin_with_the_documented_fields_in_their_order(path: str) -> None:
    documented = FIELDS[path]
    assert [field.name for field in fields(_found(path))][: len(documented)] == documented


def test_the_documented_defaults_of_the_settings() -> None:
    from llm_benchmarker.config import BenchmarkConfig, RunConfig, VLLMConfig

    config = BenchmarkConfig(vllm=VLLMConfig(model="m"), run=RunConfig())
    assert config.model_dump() == {
        "vllm": {
            "base_url": "http://localhost:8000/v1",
            "api_key": "EMPTY",
            "model": "m",
            "timeout": 300.0,
        },
        "run": {
            "concurrency": 8,
            "max_samples": None,
            "streaming": True,
            "seed": 42,
            "temperature": 0.0,
            "max_tokens": 2048,
            "output_dir": Path("results"),
            "data_dir": Path("data"),
            "scrape_prometheus": False,
            "prometheus_url": "http://localhost:8000/metrics",
        },
    }


def test_the_model_is_required_and_the_concurrency_is_at_least_1() -> None:
    from llm_benchmarker.config import RunConfig, VLLMConfig

    with pytest.raises(ValidationError, match="model"):
        VLLMConfig.model_validate({})
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        RunConfig(concurrency=0)


def test_a_comparison_shows_a_column_for_every_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from llm_benchmarker.benchmarks.base import BenchmarkResult, SampleResult
    from llm_benchmarker.config import BenchmarkConfig, RunConfig, VLLMConfig
    from llm_benchmarker.results import compare_results, save_result

    paths = []
    for model, right in (("small", 1), ("large", 3)):
        results = [SampleResult(str(n), correct=n < right) for n in range(4)]
        config = BenchmarkConfig(vllm=VLLMConfig(model=model), run=RunConfig(output_dir=tmp_path))
        paths.append(
            save_result(BenchmarkResult("mine", 4, right / 4, right / 4, sample_results=results), config)
        )
    compare_results(paths)
    shown = capsys.readouterr().out
    assert "small" in shown
    assert "large" in shown
    (accuracy,) = [line for line in shown.splitlines() if "Accuracy" in line]
    assert [word for word in accuracy.split() if word[0].isdigit()] == ["0.2500", "0.7500"]


def test_listing_benchmarks_imports_nothing_that_takes_long() -> None:
    program = (
        "import sys, llm_benchmarker.benchmarks as b; b.list_benchmarks(); "
        "print([m for m in ('numpy', 'pydantic', 'rich', 'asyncio', 'httptools') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "[]\n", ended.stderr
