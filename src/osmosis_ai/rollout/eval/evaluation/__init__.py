"""Documented import path of eval mode: an agent over a dataset, scored by eval functions, maybe with a baseline."""

from __future__ import annotations

from benchwright.agents.eval_fns import EvalFnError, EvalFnWrapper, load_eval_fn, load_eval_fns
from benchwright.agents.runners.evaluation import EvalRunner
from benchwright.agents.runners.reports import format_eval_report
from benchwright.agents.runners.results import (
    EvalEvalSummary,
    EvalModelSummary,
    EvalResult,
    EvalRowResult,
    EvalRunResult,
    pass_at_k,
)

__all__ = [
    "EvalEvalSummary",
    "EvalFnError",
    "EvalFnWrapper",
    "EvalModelSummary",
    "EvalResult",
    "EvalRowResult",
    "EvalRunResult",
    "EvalRunner",
    "format_eval_report",
    "load_eval_fn",
    "load_eval_fns",
    "pass_at_k",
]
