"""The documented result file of a benchmark. It is built from the journal of the run and written as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.analysis.json_documents import encode_document
from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.summary_records import RunSummary, ScoreSummary, TargetSummary
from benchwright.catalog.benchmark import Benchmark, Figure, GradedTrial, format_timestamp
from benchwright.catalog.breakdowns import Breakdown, Breakdowns
from benchwright.errors import JournalError
from benchwright.files import atomic_file
from benchwright.records import FAILED_STATUSES, Record, RequestRecord, Status
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.counting_rules import FAILURE_STATUSES, ScoreState
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore, Statistic, is_number

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

KEYS_WITH_OWN_FIELD = frozenset({"correct", "expected"})
"""Keys in the details of a score that have their own fields in the file, so that they are not repeated there."""

AGGREGATED_METRICS_KEYS = (
    *("ttft_p50", "ttft_p95", "ttft_p99", "ttft_mean", "generation_tps_mean", "generation_tps_p50"),
    *("prompt_tps_mean", "latency_p50", "latency_p95", "latency_p99", "latency_mean", "total_prompt_tokens"),
    *("total_completion_tokens", "total_requests", "failed_requests", "wall_time_seconds"),
    *("effective_throughput_rps", "ttfa_p50", "gap_p50", "gap_p99", "retried_requests"),
    *("total_reasoning_tokens", "estimated_reasoning_requests", "unknown_reasoning_requests"),
)
"""Keys of `aggregated_metrics` in the file: the documented names of `AggregatedMetrics` in their order, then
names that we add.
"""


class BenchmarkTotals(Record, frozen=True):
    """Totals over the trials of a run. `accuracy` is the share of correct trials among all trials.

    A failed trial is not correct. `no_score` is the reason why nothing was scored; None if something was
    scored. If nothing was scored, there is no accuracy either.
    """

    n: int
    correct: int
    truncated: int
    cut_off_in_thinking: int
    unparsed: int
    errors: int
    breakdowns: list[Breakdown]
    no_score: NoScore | None = None

    @property
    def accuracy(self) -> Statistic:
        """Share of correct trials, or the reason why there is none."""
        return self.documented_accuracy if self.no_score is None else self.no_score

    @property
    def documented_accuracy(self) -> float:
        """The accuracy for documented file formats. These require a number, so it is 0 if nothing was scored."""
        return self.correct / self.n if self.n else 0.0


def graded_trials(trials: Iterable[ScoredTrial], scorer: str) -> Iterator[GradedTrial]:
    """Yield the trials as `GradedTrial` records, from which a benchmark computes its own figures."""
    for trial in trials:
        record, score = trial.record, trial.scores.get(scorer)
        yield GradedTrial(
            sample=record.sample,
            repeat=record.repeat,
            group=record.group,
            labels=record.labels,
            status=trial.status,
            value=None if score is None else score.value,
            detail={} if score is None or score.detail is None else score.detail,
        )


def compute_totals(
    table: RunTable, rows: Rows, benchmark: Benchmark, target: TargetSummary
) -> BenchmarkTotals:
    """Return the totals over a target's trials in `rows`. Figures that the target's summary already has are reused."""
    scorer = benchmark.scorers[0].name
    breakdowns = Breakdowns(benchmark.about.breakdowns)
    if benchmark.about.breakdowns:
        column = table.scores[scorer]
        failed = (column.states(rows) == ScoreState.FAILED).tolist()
        for row, value, without in zip(rows.tolist(), column.values(rows).tolist(), failed, strict=True):
            breakdowns.add(table.label_sets[table.labels[row]], None if without else value)
    return BenchmarkTotals(
        n=target.trials,
        correct=int((table.correct[scorer].numbers(rows) == 2).sum()),
        truncated=target.statuses.get(Status.TRUNCATED, 0),
        cut_off_in_thinking=target.statuses.get(Status.CUT_OFF_IN_THINKING, 0),
        unparsed=score_summary_of(target, scorer).unparsed,
        errors=sum(target.statuses.get(status, 0) for status in FAILURE_STATUSES),
        breakdowns=[entry for label in benchmark.about.breakdowns for entry in breakdowns.entries(label)],
        no_score=score_summary_of(target, scorer).no_score,
    )


def score_summary_of(target: TargetSummary, scorer: str) -> ScoreSummary:
    """Return the target's summary of the score with this scorer's name."""
    return next(score for score in target.scores if score.scorer == scorer)


def write_result_file(
    path: Path,
    benchmark: Benchmark,
    manifest: Manifest,
    summary: RunSummary,
    target: TargetSummary,
    trials: Iterable[ScoredTrial],
    totals: BenchmarkTotals,
    figures: Sequence[Figure],
    more: Mapping[str, Any],
) -> None:
    """Write the complete result file of one model. An earlier file is replaced atomically (by rename).

    Samples are written one by one, so memory does not grow with their number. `more` holds further keys that
    the file has only if the user asked for them (metrics from Prometheus).

    Raises:
        JournalError: If the directory cannot be written.
    """
    head = {**_head(benchmark, manifest, summary, target, totals, figures), **more}
    scorer = benchmark.scorers[0].name
    repeated = manifest.repeats > 1
    with atomic_file(path, error=JournalError) as file:
        file.write(msgspec.json.format(encode_document(head), indent=2).removesuffix(b"\n}"))
        file.write(b',\n  "sample_results": [')
        for position, trial in enumerate(trials):
            file.write(b",\n    " if position else b"\n    ")
            file.write(encode_json(_sample_result(trial, scorer, repeated)))
        file.write(b"\n  ]\n}\n")


def _head(
    benchmark: Benchmark,
    manifest: Manifest,
    summary: RunSummary,
    target: TargetSummary,
    totals: BenchmarkTotals,
    figures: Sequence[Figure],
) -> dict[str, Any]:
    metadata = benchmark.about
    score = score_summary_of(target, benchmark.scorers[0].name)
    settings = next(each.settings for each in manifest.targets if each.slot == target.slot)
    return {
        "benchmark": metadata.name,
        "model": manifest.typed_models.get(target.slot, target.model),
        "timestamp": format_timestamp(manifest.created_at),
        "config": {
            "base_url": target.base_url,
            **_concurrency(summary),
            "streaming": manifest.stream,
            **{name: settings.get(name) for name in ("temperature", "max_tokens", "seed")},
        },
        "name": metadata.name,
        "variant": metadata.variant,
        "num_samples": _planned_samples(manifest, summary) or totals.n,
        "accuracy": totals.documented_accuracy,
        "score": score.documented_mean,
        "metric": metadata.metric,
        **scored_only_figures(score),
        "truncated": totals.truncated,
        "cut_off_in_thinking": totals.cut_off_in_thinking,
        "unparsed": totals.unparsed,
        "errors": totals.errors,
        "repeats": manifest.repeats,
        "passes": score.passes,
        "figures": figures,
        **({"suspicious": target.suspicious} if target.suspicious else {}),
        **({"judge": score.judge} if score.judge else {}),
        **({"certificate": score.certificate} if score.certificate else {}),
        "breakdowns": totals.breakdowns,
        "protocol": manifest.about,
        "simulated": summary.simulated,
        "timings_valid": summary.timings_valid,
        "run": manifest.id,
        "aggregated_metrics": aggregated_metrics(target.requests),
        "other_roles": target.other_roles,
    }


def _planned_samples(manifest: Manifest, summary: RunSummary) -> int:
    return (summary.planned or 0) // (manifest.repeats * len(manifest.targets))


def _concurrency(summary: RunSummary) -> dict[str, Any]:
    """Return the concurrency fields of the documented file.

    If the concurrency was found automatically, the file has its last value, and a flag that tells whether all
    timings were taken at this value.
    """
    if not summary.found_concurrency:
        return {"concurrency": summary.concurrency}
    return {
        "concurrency": summary.found_concurrency[-1],
        "concurrency_settled": summary.concurrency is not None,
    }


def scored_only_figures(score: ScoreSummary) -> dict[str, Any]:
    """Return the figures over scored trials only: their number, mean and interval.

    Also return the bounds of the mean over all trials: unscored trials count with the worst value in one bound
    and with the best value in the other.
    """
    return {
        "n_scored": score.n_scored,
        "mean_scored": score.mean_scored,
        "interval": [score.low, score.high] if is_number(score.low) else None,
        "interval_method": score.method,
        "bounds": score.bounds,
    }


def aggregated_metrics(requests: RequestSummary) -> dict[str, Any]:
    """Return the documented `aggregated_metrics` of all requests. Figures that are unknown are left out."""
    values = {name: getattr(requests, name) for name in AGGREGATED_METRICS_KEYS}
    return {name: value for name, value in values.items() if value is not None}


def _sample_result(trial: ScoredTrial, scorer: str, repeated: bool) -> dict[str, Any]:
    record, score = trial.record, trial.scores.get(scorer)
    detail = {} if score is None or score.detail is None else dict(score.detail)
    error = detail.pop("error", None) if score is not None and score.status is Status.GRADER_ERROR else None
    details = {name: value for name, value in detail.items() if name not in KEYS_WITH_OWN_FIELD}
    if record.status in FAILED_STATUSES or error is not None:
        details["error"] = error or record.reason or str(record.status)
    result = {
        "id": record.sample,
        "correct": bool(detail.get("correct")),
        "score": 0.0 if score is None or score.value is None else score.value,
        "predicted": None if score is None else score.span,
        "expected": detail.get("expected"),
        "status": str(trial.status),
        "details": details,
        "metrics": _metrics([request for request in record.requests if request.role == "model"]),
    }
    if score is not None and score.explanation:
        result["explanation"] = score.explanation
    if repeated:
        result["repeat"] = record.repeat
    if record.labels:
        result["labels"] = record.labels
    return result


def _metrics(requests: list[RequestRecord]) -> dict[str, Any] | None:
    """Return the documented metrics of a trial's last request. None if the trial made no request.

    If there are several requests, the metrics of each are listed under `per_turn`.
    """
    if not requests:
        return None
    metrics = request_metrics(requests[-1])
    return (
        metrics if len(requests) == 1 else metrics | {"per_turn": [request_metrics(one) for one in requests]}
    )


def request_metrics(request: RequestRecord) -> dict[str, Any]:
    """Return all documented fields of `RequestMetrics` (null if not measured), and in addition
    `ttfa_seconds`.
    """
    return {
        "request_id": request.id,
        "ttft_seconds": request.ttft_seconds,
        "ttfa_seconds": request.ttfa_seconds,
        "total_latency_seconds": request.total_latency_seconds,
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.completion_tokens,
        "prefill_time_seconds": request.prefill_time_seconds,
        "decode_time_seconds": request.decode_time_seconds,
        "tokens_per_second_generation": request.tokens_per_second_generation,
        "tokens_per_second_prompt": request.tokens_per_second_prompt,
        "error": request.error,
    }
