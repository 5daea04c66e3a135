"""Documented import path of bench mode: runs an agent over a dataset and scores it by eval functions."""

from __future__ import annotations

from benchwright.agents.eval_fns import EvalFnError, EvalFnWrapper, load_eval_fn, load_eval_fns
from benchwright.agents.runners.bench import BenchRunner
from benchwright.agents.runners.reports import format_bench_report
from benchwright.agents.runners.results import (
    BenchEvalSummary,
    BenchResult,
    BenchRowResult,
    BenchRunResult,
    pass_at_k,
)

__all__ = [
    "BenchEvalSummary",
    "BenchResult",
    "BenchRowResult",
    "BenchRunResult",
    "BenchRunner",
    "EvalFnError",
    "EvalFnWrapper",
    "format_bench_report",
    "load_eval_fn",
    "load_eval_fns",
    "pass_at_k",
]
