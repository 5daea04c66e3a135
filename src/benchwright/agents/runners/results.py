"""Results of an `EvalRunner` in the form that osmosis_ai documents.

There are results of one run, of one row, of one model, and of the whole evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchwright.records import Message


@dataclass
class EvalRunResult:
    """One run of one row.

    `success`: True if the agent completed, so that there are scores. `error`: the reason if it did not.
    `duration_ms`: the agent's time, without scoring. `model_tag`: "primary" or "baseline"; None if there is
    only one model.
    """

    run_index: int
    success: bool
    scores: dict[str, float] = field(default_factory=dict)
    duration_ms: float = 0.0
    tokens: int = 0
    error: str | None = None
    model_tag: str | None = None
    messages: list[Message] | None = None
    row_index: int = 0


@dataclass
class EvalRowResult:
    """All runs of one row, ordered by model and run."""

    row_index: int
    runs: list[EvalRunResult] = field(default_factory=list)


@dataclass
class EvalEvalSummary:
    """The scores that one eval function gave to all runs. A run without a score counts as 0.

    `std`: the standard deviation of a population. `pass_at_k`: empty if each row has one run.
    """

    mean: float = 0.0
    std: float = 0.0
    min: float = 0.0
    max: float = 0.0
    pass_at_k: dict[int, float] = field(default_factory=dict)


@dataclass
class EvalModelSummary:
    """The results of one model. `total_duration_ms`: the sum of the times of its runs."""

    model: str
    model_tag: str
    eval_summaries: dict[str, EvalEvalSummary]
    total_runs: int
    total_tokens: int
    total_duration_ms: float


@dataclass
class EvalResult:
    """The result of an evaluation.

    `eval_summaries`: with a baseline, the summaries of the primary model. `total_rows`: the number of rows
    that at least one model has run. `total_runs`: the number of runs of all models. `total_duration_ms`:
    wall-clock time.
    """

    rows: list[EvalRowResult]
    eval_summaries: dict[str, EvalEvalSummary]
    total_rows: int
    total_runs: int
    total_tokens: int
    total_duration_ms: float
    n_runs: int
    pass_threshold: float
    stopped_early: bool = False
    stop_reason: str | None = None
    model_summaries: list[EvalModelSummary] | None = None


BenchRunResult = EvalRunResult
BenchRowResult = EvalRowResult
BenchEvalSummary = EvalEvalSummary
BenchResult = EvalResult


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return pass@k: the probability that at least one of `k` runs passes.

    The `k` runs are drawn from `n` runs, of which `c` passed. pass@k is 1.0 if fewer than `k` runs failed.
    """
    from benchwright.stats import passk

    if c <= 0:
        return 0.0
    return passk.pass_at_k(n, c, k) if k <= n - c else 1.0


def group_by_row(runs: Sequence[EvalRunResult]) -> list[EvalRowResult]:
    """Group the results of runs, which are ordered by row, into one result per row."""
    rows: dict[int, EvalRowResult] = {}
    for run in runs:
        rows.setdefault(run.row_index, EvalRowResult(run.row_index)).runs.append(run)
    return list(rows.values())


def summarise_scores(
    runs: Sequence[EvalRunResult], names: Sequence[str], n_runs: int, pass_threshold: float
) -> dict[str, EvalEvalSummary]:
    """Return {eval function: summary} over these runs. All runs are of one model."""
    from benchwright.stats.documented_statistics import count_runs_by_sample, documented_statistics

    rows = [run.row_index for run in runs]
    summaries = {}
    for name in names:
        values = [run.scores.get(name, 0.0) for run in runs]
        passed = [run.success and value >= pass_threshold for run, value in zip(runs, values, strict=True)]
        figures = documented_statistics(values, count_runs_by_sample(rows, passed), n_runs)
        summaries[name] = EvalEvalSummary(
            figures.mean, figures.std, figures.min, figures.max, figures.pass_at
        )
    return summaries


def summarise_model(
    model: str,
    tag: str,
    runs: Sequence[EvalRunResult],
    names: Sequence[str],
    n_runs: int,
    pass_threshold: float,
) -> EvalModelSummary:
    """Return the summary of one model.

    `tag`: the model's `model_tag`. `runs`: the runs of all models, of which those with this `model_tag` are
    summarised.
    """
    own = [run for run in runs if run.model_tag == tag]
    return EvalModelSummary(
        model=model,
        model_tag=tag,
        eval_summaries=summarise_scores(own, names, n_runs, pass_threshold),
        total_runs=len(own),
        total_tokens=sum(run.tokens for run in own),
        total_duration_ms=math.fsum(run.duration_ms for run in own),
    )
