"""From a level that was run to its result: figures, accuracy, the server's metrics, and whether the client held out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from benchwright.analysis.comparison.from_table import RunSides
from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.joint.records import OutcomeCounts
from benchwright.analysis.joint.views import clusters_of, judged, right
from benchwright.analysis.load.cached_prompts import WARM, unexpected_share
from benchwright.analysis.load.figures import Figures, find_window, in_flight
from benchwright.analysis.load.records import Level, LevelResult, Objective, Server
from benchwright.analysis.load.requests import read_requests
from benchwright.analysis.run_figures import keep_figures
from benchwright.analysis.summary import RunSummary
from benchwright.endpoint.watching import Look
from benchwright.records import Status
from benchwright.runs.table import STATUSES, RunTable
from benchwright.stats.prefixes import SeenPrefixes
from benchwright.stats.windows import Cut

BUSY = 0.9
"""Share of one core from which on our own process, which has one loop, is taken to be the limit."""

SLOWED = 0.05
"""Share of the median latency that our event loop's median lag may be."""

LATE_SECONDS = 0.01
"""At a 99th percentile of lateness above this, requests did not leave when they were due."""


class ReadLevel(msgspec.Struct, frozen=True):
    """A level's result; and the side that it is in a comparison, None where nothing was scored."""

    result: LevelResult
    side: Side | None


def read_level(
    table: RunTable,
    level: Level,
    looks: Sequence[Look],
    seconds: float,
    objectives: Sequence[Objective],
    warmup: Cut | None,
    cooldown: Cut,
    limit: int,
    sent: SeenPrefixes,
) -> ReadLevel:
    """The result of a level, which took `seconds`, from its table; `looks` are at the server's metrics meanwhile.

    `limit` is how many requests an open loop may have in flight. `sent` holds the prompts of the levels before, and
    takes those of this one.

    Without a `warmup` the default is taken: in a closed loop as many requests as are in flight, in an open loop a
    tenth of them.

    Raises:
        JournalError: the journal cannot be read.
    """
    requests = read_requests(table)
    run = RunSides(table.directory, str(table.directory), table)
    summary = run.summary
    keep_figures(table, summary)
    side = run.side("primary") if run.manifest.scorers else None
    n = int(requests.ok.size)
    cut = default_warmup(level, n) if warmup is None else warmup
    found = find_window(requests, cut, cooldown) if n else None
    unexpected = unexpected_share(table, sent)
    result = LevelResult(
        level=level,
        run=table.directory.name,
        state=summary.state,
        stop_reason=summary.stop_reason,
        requests=n,
        judged=None if side is None else accuracy(side),
        ungraded=_ungraded(table),
        shortfalls=summary.shortfalls,
        in_flight=in_flight(requests),
        limit_reached=level.open and in_flight(requests) >= limit,
        lag_p99=summary.lag.p99 / 1e9,
        cpu_share=summary.cpu_seconds / seconds if seconds else 0.0,
        unexpected_cached=unexpected,
        warm_cache=unexpected is not None and unexpected > WARM,
        server=server_of(looks),
        simulated=requests.simulated,
    )
    if found is not None:
        figures = Figures(requests, found, open_loop=level.open)
        result = _with_figures(result, figures, found.seconds, found.steady, objectives)
    result = msgspec.structs.replace(
        result, client_bound=client_bound(result, summary), client_limited=client_limited(result, summary)
    )
    return ReadLevel(result, side)


def default_warmup(level: Level, requests: int) -> Cut:
    """What is left out where nothing is said; nothing where little would be left."""
    number = requests // 10 if level.concurrency is None else level.concurrency
    return Cut(requests=number if 2 * number < requests else 0)


def _with_figures(
    result: LevelResult, figures: Figures, seconds: float, steady: bool, objectives: Sequence[Objective]
) -> LevelResult:
    return msgspec.structs.replace(
        result,
        counted=figures.counted,
        failed=figures.failed,
        failures=figures.failures,
        seconds=seconds,
        steady=steady,
        offered=figures.offered if result.level.open else None,
        achieved=figures.achieved,
        input_tokens=figures.tokens_per_second("prompt_tokens"),
        output_tokens=figures.tokens_per_second("completion_tokens"),
        ttft=figures.spread("ttft"),
        latency=figures.spread("latency"),
        sent_latency=figures.spread("sent_latency"),
        itl=figures.spread("itl"),
        late=figures.lateness() if result.level.open else None,
        goodput=figures.goodput(objectives),
        prompt_length=figures.mean("prompt_tokens"),
        answer_length=figures.mean("completion_tokens"),
        cached=figures.cached(),
    )


def client_bound(result: LevelResult, summary: RunSummary) -> str | None:
    """Why the timings say more of our own process than of the server; None where they do not."""
    lag = summary.lag
    if lag.spoils_timings:
        return f"our loop was {lag.p99 / 1e6:.0f} ms late (p99)"
    if result.cpu_share >= BUSY:
        return f"our process used {result.cpu_share * 100:.0f} % of a core"
    late = result.late
    if late is not None and late.p99.value > LATE_SECONDS and not result.limit_reached:
        return f"requests left {late.p99.value * 1000:.0f} ms after they were due (p99)"
    return None


def client_limited(result: LevelResult, summary: RunSummary) -> bool:
    """Whether our own process held the rates down: its core was used up, or it was late by a part of the latency."""
    slowed = result.latency is not None and summary.lag.p50 / 1e9 > SLOWED * result.latency.p50.value
    return result.cpu_share >= BUSY or slowed


def accuracy(side: Side) -> OutcomeCounts | None:
    """How many answers were right, by the run's first score; all of them count, those of the warm-up too."""
    trials = side.trials
    score = next(iter(trials.scores), None)
    if score is None or not len(trials.samples):
        return None
    column = trials.scores[score]
    reused = np.zeros(len(trials.samples), np.bool_)
    clusters = clusters_of(trials.samples, trials.groups)
    return judged(column, right(column, side.pass_threshold), reused, clusters, 0.95)


def _ungraded(table: RunTable) -> dict[str, int]:
    """Why graders failed, and how often."""
    rows = table.counted("primary")
    ungraded = table.status.equal(STATUSES.index(Status.GRADER_ERROR))[rows]
    return table.failure_reasons(rows[ungraded])


def server_of(looks: Sequence[Look]) -> Server | None:
    """What the server said during a level; None where it said nothing."""
    if not looks:
        return None

    def known(name: str) -> list[float]:
        return [value for look in looks if (value := getattr(look, name)) is not None]

    running, waiting, cache, preempted = (
        known(name) for name in ("running", "waiting", "cache", "preempted")
    )
    return Server(
        looks=len(looks),
        running_mean=sum(running) / len(running) if running else None,
        running_most=max(running, default=None),
        waiting_mean=sum(waiting) / len(waiting) if waiting else None,
        waiting_most=max(waiting, default=None),
        cache_most=max(cache, default=None),
        preempted=max(0.0, preempted[-1] - preempted[0]) if preempted else None,
    )


def sides_of(levels: Sequence[ReadLevel]) -> list[Side]:
    """The sides of the closed-loop levels, which differ in nothing but the concurrency."""
    return [one.side for one in levels if one.side is not None and not one.result.level.open]
