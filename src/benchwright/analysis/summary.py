"""The summary of a run, computed from its journal: scores with their denominators and intervals, statuses, speed.

Two rules of counting stand side by side. The documented one: a trial without a value counts as 0 (`mean`,
`std`, pass@k). The honest one: only what was scored (`mean_scored`, with `n_scored` of `n`), and between
which bounds the mean could lie had the rest been scored 0 or 1 (`bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.analysis.differences import Difference, differences
from benchwright.analysis.tally import ScoreColumn, Tally, TargetTally
from benchwright.records import JournalLine, LoopLag, Record, Target
from benchwright.runs.journal import last_attempts, read_lines
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.paces import Paces

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PassAt(Record, frozen=True):
    """pass@k (at least one of k repeats passes) and pass^k (all of k pass), means over samples."""

    k: int
    pass_at_k: float
    pass_hat_k: float
    low: float | None = None
    high: float | None = None


class ScoreSummary(Record, frozen=True):
    """One scorer's values over the trials of one target.

    `n` trials are done; `n_scored` of them got a value, `unparsed` none because no answer was found,
    `grader_errors` none because the scorer failed, the rest none because the trial had no answer. `low` and
    `high` are the confidence interval of `mean_scored`, made by `method`.
    """

    scorer: str
    n: int
    n_scored: int
    unparsed: int
    grader_errors: int
    mean: float
    std: float
    min: float
    max: float
    mean_scored: float | None
    low: float | None
    high: float | None
    method: str
    n_samples: int
    n_groups: int | None
    between: float | None
    within: float | None
    bounds: tuple[float, float] | None
    passes: list[PassAt] = []


class RequestSummary(Record, frozen=True):
    """The requests of the role `model`, under the names of the documented AggregatedMetrics; seconds.

    Figures that need streaming are None without it. `effective_throughput_rps` and `wall_time_seconds` leave
    out the time between two sessions of a resumed run. Of the requests, `settling_requests` were made in the
    `settling_seconds` in which the concurrency found itself; no other figure of time or throughput has them.
    """

    total_requests: int = 0
    failed_requests: int = 0
    retried_requests: int = 0
    total_prompt_tokens: int = 0
    total_completion_tokens: int = 0
    wall_time_seconds: float = 0.0
    effective_throughput_rps: float | None = None
    ttft_mean: float | None = None
    ttft_p50: float | None = None
    ttft_p95: float | None = None
    ttft_p99: float | None = None
    ttfa_p50: float | None = None
    latency_mean: float | None = None
    latency_p50: float | None = None
    latency_p95: float | None = None
    latency_p99: float | None = None
    generation_tps_mean: float | None = None
    generation_tps_p50: float | None = None
    prompt_tps_mean: float | None = None
    gap_p50: float | None = None
    gap_p99: float | None = None
    waited_seconds: float = 0.0
    dispatch_lag_p99: float | None = None
    detect_lag_p99: float | None = None
    settling_requests: int = 0
    settling_seconds: float = 0.0


class TargetSummary(Record, frozen=True):
    """What one target did. `statuses` counts its trials by status; `reused` of them are from earlier runs.

    `failures` are the most frequent reasons for which trials failed, with their counts.
    """

    slot: str
    model: str
    base_url: str
    trials: int
    statuses: dict[str, int]
    scores: list[ScoreSummary]
    requests: RequestSummary
    other_roles: dict[str, int] = {}
    reused: int = 0
    failures: dict[str, int] = {}


class RunSummary(Record, frozen=True):
    """A run in numbers. `planned` is None where the plan's size is not known.

    `concurrency` is that of its timings: the number given, or where it found itself the one at which it settled;
    None where it did not settle, or at several. `found_concurrency` are all at which it settled by itself, or
    the last where it did not.
    """

    run: str
    kind: str
    name: str
    state: str
    planned: int | None
    done: int
    repeats: int
    targets: list[TargetSummary]
    lag: LoopLag
    timings_valid: bool
    simulated: bool
    stop_reason: str | None = None
    cpu_seconds: float = 0.0
    differences: list[Difference] = []
    concurrency: int | None = None
    found_concurrency: list[int] = []


def summary_of(directory: Path) -> RunSummary:
    """The summary of a run.

    Raises:
        UserError: there is no run.
        JournalError: its journal cannot be read.
    """
    return summarise(read_manifest(directory), read_lines(directory), last_attempts(directory))


def summarise(
    manifest: Manifest, lines: Iterable[JournalLine], last_attempts: Mapping[str, int] = {}
) -> RunSummary:
    """Reads a journal once and sums it up; memory grows by a few numbers a trial.

    `last_attempts` are those of `journal.last_attempts`, for runs whose trials may have been made again.
    """
    slots = {target.slot for target in manifest.targets}
    by_sample = manifest.repeats > 1 or len(manifest.targets) > 1
    tally = Tally([scorer.name for scorer in manifest.scorers], slots, last_attempts, by_sample=by_sample)
    for line in lines:
        tally.add(line)
    tally.close()
    targets = [
        _target_summary(target, tally.targets[target.slot], tally, manifest) for target in manifest.targets
    ]
    samples = sum(dataset.samples for dataset in manifest.data)
    return RunSummary(
        run=manifest.id,
        kind=manifest.kind,
        name=manifest.name,
        state=tally.state,
        planned=tally.planned if tally.planned is not None else samples * manifest.repeats or None,
        done=sum(target.trials for target in targets),
        repeats=manifest.repeats,
        targets=targets,
        lag=tally.lag,
        timings_valid=not tally.lag.spoils_timings,
        simulated=tally.simulated,
        stop_reason=tally.stop_reason,
        cpu_seconds=round(tally.cpu_seconds, 3),
        differences=differences(manifest, tally),
        concurrency=_concurrency(manifest, tally.paces),
        found_concurrency=_found_concurrency(tally.paces),
    )


def _concurrency(manifest: Manifest, paces: Paces) -> int | None:
    if not paces.found:
        return manifest.concurrency
    levels = {*paces.settled, *([manifest.concurrency] if paces.given else [])}
    return levels.pop() if len(levels) == 1 else None


def _found_concurrency(paces: Paces) -> list[int]:
    return paces.settled or [level for level in (paces.last,) if level is not None]


MOST_FAILURES = 5


def _target_summary(target: Target, tally: TargetTally, run: Tally, manifest: Manifest) -> TargetSummary:
    requests = _request_summary(tally, run.wall_seconds, run.paces.seconds)
    tally.timings.clear()  # they and the copies that the scores need would not be held at once
    return TargetSummary(
        slot=target.slot,
        model=target.model,
        base_url=target.base_url,
        trials=tally.trials,
        statuses=dict(sorted(tally.statuses.items())),
        scores=[
            _score_summary(name, column, tally.trials, manifest) for name, column in tally.scores.items()
        ],
        requests=requests,
        other_roles=tally.other_roles,
        reused=tally.reused,
        failures=dict(tally.failures.most_common(MOST_FAILURES)),
    )


def _score_summary(name: str, column: ScoreColumn, trials: int, manifest: Manifest) -> ScoreSummary:
    import numpy as np

    from benchwright.stats.repeats import estimate

    values = np.frombuffer(column.values) if len(column.values) else np.empty(0)
    samples = np.frombuffer(column.samples, np.uint64) if len(values) else np.empty(0, np.uint64)
    missing = trials - len(values)
    padded = np.concatenate([values, np.zeros(missing)]) if missing else values
    finite = bool(len(values)) and bool(np.isfinite(values).all())
    groups = column.group_of_value() if finite else None
    result = estimate(values, samples if manifest.repeats > 1 else None, groups) if finite else None
    interval = result.interval if result is not None else None
    in_unit = finite and float(values.min()) >= 0 and float(values.max()) <= 1
    return ScoreSummary(
        scorer=name,
        n=trials,
        n_scored=len(values),
        unparsed=column.unparsed,
        grader_errors=column.grader_errors,
        mean=float(padded.mean()) if trials else 0.0,
        std=float(padded.std()) if trials else 0.0,
        min=float(padded.min()) if trials else 0.0,
        max=float(padded.max()) if trials else 0.0,
        mean_scored=result.mean if result is not None else None,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        method=result.method if result is not None else "none",
        n_samples=result.n_samples if result is not None else 0,
        n_groups=result.n_groups if result is not None else None,
        between=result.between if result is not None else None,
        within=result.within if result is not None else None,
        bounds=(float(padded.mean()), float((padded.sum() + missing) / trials))
        if in_unit and missing
        else None,
        passes=_passes(values, samples, column, manifest) if manifest.repeats > 1 and len(values) else [],
    )


def _passes(
    values: NDArray[Any], samples: NDArray[Any], column: ScoreColumn, manifest: Manifest
) -> list[PassAt]:
    """pass@k and pass^k per sample, then the mean; a repeat without a value is one that did not pass."""
    import numpy as np

    from benchwright.stats.passk import KS, mean_pass_at_k, mean_pass_hat_k

    ids, counts = np.unique(samples[values >= manifest.pass_threshold], return_counts=True)
    passed = dict(zip(ids.tolist(), counts.tolist(), strict=True))
    everyone = list({*samples.tolist(), *column.samples_without_value})
    groups = column.groups_of(everyone)
    repeats = manifest.repeats
    trials = [repeats] * len(everyone)
    passes = [min(repeats, passed.get(sample, 0)) for sample in everyone]
    result = []
    for k in (k for k in KS if k <= repeats):
        at = mean_pass_at_k(trials, passes, k, groups)
        low, high = at.interval if at.interval is not None else (None, None)
        result.append(PassAt(k, at.mean, mean_pass_hat_k(trials, passes, k).mean, low, high))
    return result


def _request_summary(tally: TargetTally, wall: float, settling: float) -> RequestSummary:
    import numpy as np

    from benchwright.stats.histogram import quantile

    def column(name: str) -> NDArray[Any]:
        values = tally.timings[name]
        return np.frombuffer(values, np.float32) if len(values) else np.empty(0, np.float32)

    def mean(name: str) -> float | None:
        values = column(name)
        return float(values.mean(dtype=np.float64)) if len(values) else None

    def percentile(name: str, q: float) -> float | None:
        values = column(name)
        return float(np.percentile(values, q)) if len(values) else None

    timed = wall - settling
    return RequestSummary(
        total_requests=tally.requests,
        failed_requests=tally.failed_requests,
        retried_requests=tally.retried_requests,
        total_prompt_tokens=tally.prompt_tokens,
        total_completion_tokens=tally.completion_tokens,
        wall_time_seconds=wall,
        effective_throughput_rps=tally.timed_requests / timed if timed > 0 else None,
        ttft_mean=mean("ttft"),
        ttft_p50=percentile("ttft", 50),
        ttft_p95=percentile("ttft", 95),
        ttft_p99=percentile("ttft", 99),
        ttfa_p50=percentile("ttfa", 50),
        latency_mean=mean("latency"),
        latency_p50=percentile("latency", 50),
        latency_p95=percentile("latency", 95),
        latency_p99=percentile("latency", 99),
        generation_tps_mean=mean("generation_tps"),
        generation_tps_p50=percentile("generation_tps", 50),
        prompt_tps_mean=tally.prompt_tps / tally.prompt_tps_count if tally.prompt_tps_count else None,
        gap_p50=quantile(tally.gaps, 0.5) / 1e9 if tally.gaps else None,
        gap_p99=quantile(tally.gaps, 0.99) / 1e9 if tally.gaps else None,
        waited_seconds=tally.waited / 1e9,
        dispatch_lag_p99=quantile(tally.dispatch_lags, 0.99) / 1e9 if tally.dispatch_lags else None,
        detect_lag_p99=quantile(tally.detect_lags, 0.99) / 1e9 if tally.detect_lags else None,
        settling_requests=tally.settling_requests,
        settling_seconds=settling,
    )


def settling_lines(left_out: int, requests: int) -> list[str]:
    """That so many of the requests count in no timing, if there are any."""
    if not left_out:
        return []
    if left_out == requests:
        return ["No request counts in timings: the concurrency had not settled yet."]
    return [f"{left_out:,} requests made while the concurrency settled do not count in timings."]
