"""Computes the result of a level from its run: figures, accuracy, server metrics, and checks of our own
process as the client.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.load.cached_prompts import MIN_WARM_CACHE_SHARE, PromptCacheUse, measure_cache_use
from benchwright.analysis.load.costs import cost_of
from benchwright.analysis.load.energy import energy_of
from benchwright.analysis.load.figure_records import ServerMetricsSummary
from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.level_standstills import longest_undisturbed_requests, standstills_of_level
from benchwright.analysis.load.measurement_windows import (
    FoundWindow,
    count_held_back_requests,
    find_window,
    needed_seconds,
    peak_in_flight,
    whole_level_figures,
)
from benchwright.analysis.load.plot_data import LevelDetail, level_detail_of
from benchwright.analysis.load.records import LevelPlan, LevelResult
from benchwright.analysis.load.replay_fidelity import with_replay_result
from benchwright.analysis.load.requests import LevelRequests, read_requests
from benchwright.analysis.load.sequential_server import count_sequential_streams
from benchwright.analysis.load.server_metrics_file import read_power, read_server_metrics
from benchwright.analysis.quality_and_speed.records import OutcomeCounts
from benchwright.analysis.quality_and_speed.views import clusters_of, correct_mask, outcome_counts
from benchwright.analysis.run_figures import cache_figures
from benchwright.analysis.summary_records import RunSummary
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.errors import JournalError
from benchwright.records import DECODE_ERRORS, Status
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable
from benchwright.stats.seen_prefixes import SeenPrefixes

MIN_BUSY_CPU_SHARE = 0.9
"""Smallest share of one core that our own process must use for the client to count as the limit.

The process has one event loop. With --workers, the mean share over all processes is compared.
"""

MAX_LOOP_LAG_SHARE = 0.05
"""Largest ratio of the median lag of our event loop to the median latency.

If the ratio is higher, the client counts as the limit.
"""

MAX_LATENESS_SECONDS = 0.01
"""Largest 99th percentile of lateness, in seconds.

If it is higher, the requests count as not sent on time.
"""


class LevelData(msgspec.Struct, frozen=True):
    """A level that was read: its plan, its result, the data of its plots, and its manifest.

    `side`: the level's scores as a side of a comparison (one run). None if nothing was scored.
    """

    plan: LevelPlan
    result: LevelResult
    detail: LevelDetail
    side: Side | None
    manifest: Manifest


def level_plan_of(manifest: Manifest) -> LevelPlan | None:
    """Return the plan of a load level from its manifest. None for any other run.

    Raises:
        JournalError: If the plan is invalid.
    """
    if "load" not in manifest.about:
        return None
    try:
        return msgspec.convert(manifest.about["load"], LevelPlan)
    except DECODE_ERRORS as error:
        raise JournalError(f"{manifest.id} does not say which level of load it is ({error}).") from None


def read_level(table: RunTable, plan: LevelPlan, sent: SeenPrefixes | None = None) -> LevelData:
    """Return the result of a level, from the table of its run. The table must be read with `effort=True`.

    `sent` holds the prompts of earlier levels; this level's prompts are added. Without `sent`, warm caches are
    not detected.

    Raises:
        JournalError: If the journal cannot be read.
    """
    requests = read_requests(table)
    run = RunSides(table.directory, str(table.directory), table)
    summary = run.summary
    cache_figures(table, summary)
    side = run.side("primary") if run.manifest.scorers else None
    prompts = PromptCacheUse() if sent is None or plan.made_of_trace else measure_cache_use(table, sent)
    _, times = np.unique(table.sample.numbers(table.counted_rows("primary")), return_counts=True)
    seconds = table.sessions.wall_seconds
    level, most = plan.level, peak_in_flight(requests)
    processes = run.manifest.settings.get("workers") or 1
    looks = read_server_metrics(table.directory)
    counting = longest_undisturbed_requests(requests, summary.lag.standstills)
    found = find_window(counting, plan)
    figures = None if found is None else WindowFigures(counting, found.window, open_loop=level.is_open_loop)
    result = LevelResult(
        level=level,
        run=table.directory.name,
        state=summary.state,
        stop_reason=summary.stop_reason,
        requests=int(requests.ok.size),
        repeat=plan.repeat,
        judged=None if side is None else count_outcomes(side),
        ungraded=_ungraded(table),
        shortfalls=summary.shortfalls,
        in_flight=most,
        limit_reached=level.is_open_loop and most >= plan.max_in_flight,
        held_back=count_held_back_requests(counting, plan.max_in_flight) if level.is_open_loop else 0,
        stood_still=standstills_of_level(requests, summary.lag.standstills),
        disturbed=int(requests.ok.size - counting.ok.size),
        lag_p99=summary.lag.p99 / 1e9,
        cpu_share=summary.cpu_seconds / seconds / processes if seconds else 0.0,
        unexpected_cached=prompts.unexpected_share,
        warm_cache=prompts.unexpected_share is not None and prompts.unexpected_share > MIN_WARM_CACHE_SHARE,
        prompts=int(times.size),
        prompt_most=int(times.max(initial=0)),
        prompts_repeated=prompts.repeated_share,
        server=summarise_server_metrics(looks),
        simulated=requests.simulated,
    )
    result = with_replay_result(result, table.directory)
    if found is not None and figures is not None:
        result = with_window_figures(result, counting, plan, found, figures)
    result = msgspec.structs.replace(
        result,
        cost=cost_of(result, plan.price),
        energy=energy_of(result, read_power(table.directory), requests.began_at),
        client_bound=client_bound_reason(result, summary),
        client_limited=is_client_limited(result, summary),
    )
    detail = level_detail_of(result.run, requests, found, figures, looks)
    return LevelData(plan, result, detail, side, run.manifest)


def with_window_figures(
    result: LevelResult, requests: LevelRequests, plan: LevelPlan, found: FoundWindow, figures: WindowFigures
) -> LevelResult:
    """Return the result with the figures of the level's window. It has no rates if nothing was answered."""
    answered = figures.counted_requests > figures.failed_requests
    return msgspec.structs.replace(
        result,
        counted=figures.counted_requests,
        overall=whole_level_figures(requests),
        failed=figures.failed_requests,
        failures=figures.failure_reasons,
        begin=found.window.begin,
        seconds=found.window.seconds,
        window=found.rule,
        steady=found.is_steady,
        needs_seconds=needed_seconds(requests, is_open=result.level.is_open_loop)
        if found.window.is_burst
        else None,
        drift=found.drift,
        offered=figures.offered_rate if result.level.is_open_loop else None,
        achieved=figures.achieved_rate if answered else None,
        input_tokens=figures.tokens_per_second("prompt_tokens"),
        output_tokens=figures.tokens_per_second("completion_tokens"),
        tokens_told=figures.reported_share("completion_tokens"),
        ttft=figures.column_distribution("ttft"),
        ttfa=figures.ttfa(),
        connect=figures.column_distribution("connect"),
        lost=figures.column_distribution("lost_seconds"),
        gaps=figures.chunk_gaps(),
        latency=figures.column_distribution("latency"),
        sent_latency=figures.column_distribution("sent_latency"),
        itl=figures.column_distribution("itl"),
        normalized=figures.normalized_latency(),
        late=figures.lateness() if result.level.is_open_loop else None,
        ending=figures.ending_delay(),
        at_once=figures.unstreamed_answers,
        streams_alone=count_sequential_streams(requests),
        outlasting=figures.outlasting_requests,
        goodput=figures.goodput(plan.objectives) if answered else None,
        prompt_length=figures.column_mean("prompt_tokens"),
        answer_length=figures.column_mean("completion_tokens"),
        reasoning_length=figures.column_mean("reasoning_tokens"),
        cached=figures.cached_share(),
    )


def client_bound_reason(result: LevelResult, summary: RunSummary) -> str | None:
    """Return the reason why the timings show the speed of our own process rather than the server's.

    Return None if the timings show the server's speed.
    """
    lag = summary.lag
    if lag.spoils_timings:
        return f"our loop was {lag.p99 / 1e6:.0f} ms late (p99)"
    if result.cpu_share >= MIN_BUSY_CPU_SHARE:
        return f"our process used {result.cpu_share * 100:.0f} % of a core"
    late = result.late
    if late is not None and late.p99.value > MAX_LATENESS_SECONDS and not result.limit_reached:
        return f"requests left {late.p99.value * 1000:.0f} ms after they were due (p99)"
    return None


def is_client_limited(result: LevelResult, summary: RunSummary) -> bool:
    """Return True if our own process limited the rates: its core was used up, or its loop lag was high."""
    slowed = (
        result.latency is not None and summary.lag.p50 / 1e9 > MAX_LOOP_LAG_SHARE * result.latency.p50.value
    )
    return result.cpu_share >= MIN_BUSY_CPU_SHARE or slowed


def count_outcomes(side: Side) -> OutcomeCounts | None:
    """Return the number of right and wrong answers by the run's first score.

    Answers of the warm-up are included. Return None if the run has no score.
    """
    trials = side.trials
    score = next(iter(trials.scores), None)
    if score is None or not len(trials.samples):
        return None
    column = trials.scores[score]
    reused = np.zeros(len(trials.samples), np.bool_)
    clusters = clusters_of(trials.samples, trials.groups)
    correct = correct_mask(column, side.pass_threshold)
    return outcome_counts(column, correct, reused, clusters, 0.95, side.failure_reasons(score))


def _ungraded(table: RunTable) -> dict[str, int]:
    """Return the reasons why graders failed, with counts."""
    rows = table.counted_rows("primary")
    ungraded = table.status.equal_mask(STATUSES.index(Status.GRADER_ERROR))[rows]
    return table.failure_reasons(rows[ungraded])


def summarise_server_metrics(looks: Sequence[ServerMetrics]) -> ServerMetricsSummary | None:
    """Return the summary of the server's metrics during a level. None if the server reported no metrics."""
    if not looks:
        return None

    def known(name: str, of: Sequence[ServerMetrics]) -> list[float]:
        return [value for look in of if (value := getattr(look, name)) is not None]

    meanwhile = looks[1:-1]  # the first and the last reading are of an idle server
    running, waiting, cache = (known(name, meanwhile) for name in ("running", "waiting", "cache"))
    preempted = known("preempted", looks)
    return ServerMetricsSummary(
        looks=len(looks),
        running_mean=sum(running) / len(running) if running else None,
        running_most=max(running, default=None),
        waiting_mean=sum(waiting) / len(waiting) if waiting else None,
        waiting_most=max(waiting, default=None),
        cache_most=max(cache, default=None),
        preempted=_grown(preempted) if preempted else None,
        cached=_share(known("prefix_hits", looks), known("prefix_queries", looks)),
        accepted=_share(known("accepted", looks), known("drafted", looks)),
    )


def _share(part: Sequence[float], whole: Sequence[float]) -> float | None:
    """Return the growth of counter `part` as a share of the growth of counter `whole`.

    None if `whole` did not grow.
    """
    return _grown(part) / grown if part and (grown := _grown(whole)) else None


def _grown(counter: Sequence[float]) -> float:
    """Return the growth of a counter over its readings. It is 0 after a restart of the server, or without readings."""
    return max(0.0, counter[-1] - counter[0]) if counter else 0.0


def closed_loop_sides(levels: Sequence[LevelData]) -> list[Side]:
    """Return the scores of the closed-loop levels as sides of a comparison, one side per level.

    The levels differ only in concurrency. Levels without scores are left out.
    """
    return [one.side for one in levels if one.side is not None and not one.result.level.is_open_loop]
