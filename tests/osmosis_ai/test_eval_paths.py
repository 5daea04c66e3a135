"""The import paths of the documented Python API of evaluations."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import MISSING, fields
from typing import Any

import pytest

from benchwright.agents import eval_fns, rollout_requests
from benchwright.data import errors as data_errors
from benchwright.errors import BenchwrightError
from benchwright.errors import ProviderError as OwnProviderError

EVAL = "osmosis_ai.rollout.eval"
EVAL_FUNCTIONS = ["EvalFnError", "EvalFnWrapper", "load_eval_fn", "load_eval_fns", "pass_at_k"]
PROMISED = {
    f"{EVAL}.common": [
        *("DatasetReader", "DatasetRow", "REQUIRED_COLUMNS", "dataset_row_to_request", "ExternalLLMClient"),
        *("LocalExecutionError", "DatasetValidationError", "DatasetParseError", "ProviderError"),
        *("ToolValidationError", "LocalRolloutRunner", "LocalRunResult", "LocalBatchResult"),
        *("validate_tools", "build_completion_params", "create_llm_client", "load_agent"),
        *("load_dataset_rows", "format_duration", "format_tokens"),
    ],
    f"{EVAL}.common.errors": ["ProviderError", "SystemicProviderError", "ToolValidationError"],
    f"{EVAL}.bench": [
        *("BenchRunner", "BenchResult", "BenchRowResult", "BenchRunResult", "BenchEvalSummary"),
        *(*EVAL_FUNCTIONS, "format_bench_report"),
    ],
    f"{EVAL}.evaluation": [
        *("EvalRunner", "EvalResult", "EvalRowResult", "EvalRunResult", "EvalEvalSummary"),
        *("EvalModelSummary", *EVAL_FUNCTIONS, "format_eval_report"),
    ],
    f"{EVAL}.test_mode": ["LocalTestRunner", "LocalTestBatchResult", "LocalTestRunResult"],
}


def named(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"{EVAL}.{module}"), name)


@pytest.mark.parametrize("module", PROMISED)
def test_every_promised_name_is_there_and_public(module: str) -> None:
    imported = importlib.import_module(module)
    assert set(PROMISED[module]) <= set(imported.__all__)
    for name in imported.__all__:
        assert getattr(imported, name) is not None


@pytest.mark.parametrize("name", EVAL_FUNCTIONS)
def test_eval_functions_are_the_same_in_both_modes(name: str) -> None:
    assert named(f"bench.{name}") is named(f"evaluation.{name}")


def test_the_documented_exceptions_are_those_that_everything_here_raises() -> None:
    assert named("common.DatasetValidationError") is data_errors.DatasetValidationError
    assert named("common.DatasetParseError") is data_errors.DatasetParseError
    assert named("common.ProviderError") is OwnProviderError
    assert named("common.ToolValidationError") is rollout_requests.ToolValidationError
    assert named("bench.EvalFnError") is eval_fns.EvalFnError


@pytest.mark.parametrize(
    "name", ["DatasetValidationError", "DatasetParseError", "ProviderError", "ToolValidationError"]
)
def test_one_exception_is_the_base_of_all(name: str) -> None:
    base = named("common.LocalExecutionError")
    assert base is BenchwrightError
    assert issubclass(named(f"common.{name}"), base)
    assert issubclass(named("common.errors.SystemicProviderError"), named("common.ProviderError"))


SIGNATURES = {
    "common.DatasetReader": ["file_path"],
    "common.ExternalLLMClient": ["model='gpt-5-mini'", "api_key=None", "api_base=None"],
    "common.dataset_row_to_request": [
        *("row", "row_index", "max_turns=10", "max_tokens_total=4096", "completion_params=None"),
        *("rollout_id_prefix='local'", "rollout_id=None", "metadata_overrides=None"),
    ],
    "bench.BenchRunner": [
        *("agent_loop", "llm_client", "eval_fns", "debug=False", "debug_dir=None", "llm_client_factory=None")
    ],
    "bench.BenchRunner.run_bench": [
        *("self", "rows", "n_runs=1", "max_turns=10", "completion_params=None", "pass_threshold=1.0"),
        *("on_progress=None", "start_index=0", "batch_size=1"),
    ],
    "bench.BenchRunner.run_single": [
        *("self", "row", "row_index", "run_index", "max_turns=10", "completion_params=None", "runner=None"),
        "model_tag=None",
    ],
    "evaluation.EvalRunner": [
        *("agent_loop", "llm_client", "eval_fns", "debug=False", "debug_dir=None", "llm_client_factory=None"),
        *("baseline_llm_client=None", "baseline_llm_client_factory=None"),
    ],
    "evaluation.EvalRunner.run_eval": [
        *("self", "rows", "n_runs=1", "max_turns=10", "completion_params=None", "pass_threshold=1.0"),
        *("on_progress=None", "start_index=0", "batch_size=1"),
    ],
    "evaluation.EvalFnWrapper": ["fn", "name"],
    "test_mode.LocalTestRunner": ["agent_loop", "llm_client", "debug=False", "debug_dir=None"],
    "test_mode.LocalTestRunner.run_batch": [
        *("self", "rows", "max_turns=10", "completion_params=None", "on_progress=None", "start_index=0")
    ],
}


@pytest.mark.parametrize("path", SIGNATURES)
def test_parameters_have_the_documented_names_order_and_defaults(path: str) -> None:
    room, name, *method = path.split(".")
    called = named(f"{room}.{name}")
    if method:
        called = getattr(called, method[0])
    parameters = inspect.signature(called).parameters.values()
    assert [_shown(parameter) for parameter in parameters] == SIGNATURES[path]


def _shown(parameter: inspect.Parameter) -> str:
    default = parameter.default
    return parameter.name if default is inspect.Parameter.empty else f"{parameter.name}={default!r}"


RESULTS = {
    "bench.BenchRunResult": ["run_index", "success", "scores", "duration_ms", "tokens", "error"],
    "bench.BenchRowResult": ["row_index", "runs"],
    "bench.BenchEvalSummary": ["mean", "std", "min", "max", "pass_at_k"],
    "bench.BenchResult": [
        *("rows", "eval_summaries", "total_rows", "total_runs", "total_tokens", "total_duration_ms"),
        *("n_runs", "pass_threshold"),
    ],
    "evaluation.EvalModelSummary": [
        *("model", "model_tag", "eval_summaries", "total_runs", "total_tokens", "total_duration_ms")
    ],
    "common.LocalRunResult": ["row_index", "success", "result", "error", "duration_ms", "token_usage"],
    "common.LocalBatchResult": [
        *("results", "total", "passed", "failed", "total_duration_ms", "total_tokens", "stopped_early"),
        "stop_reason",
    ],
}


@pytest.mark.parametrize("path", RESULTS)
def test_results_begin_with_the_documented_fields_and_the_rest_may_be_left_out(path: str) -> None:
    all_fields = fields(named(path))
    documented = len(RESULTS[path])
    assert [field.name for field in all_fields[:documented]] == RESULTS[path]
    for field in all_fields[documented:]:
        assert (field.default, field.default_factory) != (MISSING, MISSING), field.name
