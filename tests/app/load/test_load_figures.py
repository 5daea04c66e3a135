"""The figures of a level, computed from journals whose every moment is known."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.level_results import summarise_server_metrics
from benchwright.analysis.load.measurement_windows import find_window, peak_in_flight
from benchwright.analysis.load.records import LevelPlan, LoadLevel, Objective
from benchwright.analysis.load.requests import read_requests
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.records import RequestRecord, Status, TrialRecord, Usage
from benchwright.runs.journal import Journal
from benchwright.runs.table import RunTable
from benchwright.stats.windows import WindowTrim

WALL = 1_763_000_000_000_000_000
MS = 1_000_000
CLOSED = LoadLevel(concurrency=4)
OPEN = LoadLevel(rate=20.0, arrivals="constant")


class Asked(NamedTuple):
    """One request, in ms: when it was due, how late it left, its TTFT, its length; and its tokens."""

    due: int
    late: int = 0
    ttft: int | None = 50
    total: int = 100
    tokens: int | None = 11
    failed: bool = False


def journal(directory: Path, asked: Iterable[Asked]) -> Path:
    """Writes the journal of a run that made these requests."""
    written = Journal(directory)
    for number, one in enumerate(asked):
        usage = Usage(prompt_tokens=10, completion_tokens=one.tokens)
        request = RequestRecord(
            id=str(number),
            ttft=None if one.failed or one.ttft is None else one.ttft * MS,
            total=one.total * MS,
            usage=Usage() if one.failed else usage,
            error="refused" if one.failed else None,
        )
        record = TrialRecord(
            key=f"{number:016x}{0:016x}",
            sample=str(number),
            target="primary",
            status=Status.PROVIDER_ERROR if one.failed else Status.ANSWERED,
            reason="refused" if one.failed else None,
            requests=[request],
            started_at=WALL + (one.due + one.late) * MS,
            duration=(one.total + 1) * MS,
            late=one.late * MS,
        )
        written.write_trial(record, b"{}")
    written.close()
    return directory


def table_of(directory: Path) -> RunTable:
    table = RunTable(directory, effort=True)
    table.read_journal()
    return table


NOTHING_CUT = WindowTrim()


def figures(
    directory: Path, *asked: Asked, open_loop: bool = False, warmup: WindowTrim = NOTHING_CUT
) -> WindowFigures:
    requests = read_requests(table_of(journal(directory, asked)))
    found = find_window(requests, LevelPlan("load-1", OPEN if open_loop else CLOSED, warmup=warmup))
    assert found is not None
    return WindowFigures(requests, found.window, open_loop=open_loop)


def value(estimate: FigureEstimate | None) -> float:
    assert estimate is not None
    return estimate.value


def test_latency_counts_from_the_intended_start_where_the_naive_one_hides_the_wait(tmp_path: Path) -> None:
    """A server of one slot and 100 ms, asked each 50 ms by a client of one connection: the queue is on our side."""
    asked = [Asked(due=50 * number, late=50 * number, total=100) for number in range(20)]
    found = figures(tmp_path, *asked, open_loop=True)
    naive, honest = found.column_distribution("sent_latency"), found.column_distribution("latency")
    assert naive is not None
    assert honest is not None
    assert (naive.p50.value, naive.p99.value) == pytest.approx((0.1, 0.1))
    assert honest.p50.value == pytest.approx(0.1 + 0.05 * 9.5)
    assert honest.p99.value == pytest.approx(0.1 + 0.05 * 19 * 0.99)
    ttft = found.column_distribution("ttft")
    assert ttft is not None
    assert ttft.p50.value == pytest.approx(0.05 + 0.05 * 9.5)
    late = found.lateness()
    assert late is not None
    assert late.p50.value == pytest.approx(0.05 * 9.5)


def test_normalized_latency_is_that_of_a_token_of_the_answer_and_leaves_out_what_is_not_told(
    tmp_path: Path,
) -> None:
    asked = [
        Asked(200 * number, late=10, total=100, tokens=tokens)
        for number, tokens in enumerate((11, 11, None, 0))
    ]
    normalized = figures(tmp_path, *asked, open_loop=True).normalized_latency()
    assert normalized is not None
    assert normalized.n == 2
    assert normalized.mean == pytest.approx(0.11 / 11)


def test_goodput_is_what_met_all_objectives_of_all_that_were_asked(tmp_path: Path) -> None:
    kinds = [
        Asked(0),
        Asked(0, ttft=300),
        Asked(0, total=900),
        Asked(0, late=600),
        Asked(0, failed=True),
        Asked(0, ttft=None),
        Asked(0, tokens=1),
    ]
    asked = [one._replace(due=1000 * number) for number, one in enumerate(kinds * 3)]
    objectives = [Objective("ttft", 0.2), Objective("latency", 0.5), Objective("itl", 0.01)]
    good = figures(tmp_path, *asked, open_loop=True).goodput(objectives)
    assert good is not None
    assert (good.met, good.counted) == (6, 21), "the plain one and that of one token"
    assert good.share == pytest.approx(6 / 21)
    assert value(good.rate) == pytest.approx(6 / 21)
    assert good.low < good.share < good.high


@given(st.integers(1, 6), st.integers(5, 20))
def test_a_closed_loop_answers_as_many_as_are_in_flight_over_what_each_takes(
    tmp_path_factory: pytest.TempPathFactory, in_flight_count: int, rounds: int
) -> None:
    asked = [Asked(100 * number) for number in range(rounds) for _ in range(in_flight_count)]
    found = figures(tmp_path_factory.mktemp("closed"), *asked, warmup=WindowTrim(requests=in_flight_count))
    assert value(found.achieved_rate) == pytest.approx(in_flight_count / 0.1)
    assert value(found.tokens_per_second("completion_tokens")) == pytest.approx(11 * in_flight_count / 0.1)


def test_warm_up_is_left_out_of_every_figure(tmp_path: Path) -> None:
    slow = [Asked(1000 * number, total=900, ttft=800) for number in range(3)]
    quick = [Asked(3000 + 100 * number) for number in range(30)]
    found = figures(tmp_path, *slow, *quick, warmup=WindowTrim(requests=3))
    latency = found.column_distribution("latency")
    assert found.counted_requests == 30
    assert latency is not None
    assert latency.p99.value == pytest.approx(0.1)
    assert value(found.achieved_rate) == pytest.approx(10)


def test_failures_are_told_with_their_reasons_and_are_in_no_time(tmp_path: Path) -> None:
    found = figures(tmp_path, Asked(0), Asked(100, failed=True), Asked(200, failed=True, total=5), Asked(300))
    latency = found.column_distribution("latency")
    assert (found.counted_requests, found.failed_requests, found.failure_reasons) == (4, 2, {"refused": 2})
    assert latency is not None
    assert latency.n == 2


def test_the_time_between_tokens_is_that_after_the_first_shared_by_the_others(tmp_path: Path) -> None:
    itl = figures(tmp_path, Asked(0, ttft=50, total=100, tokens=11)).column_distribution("itl")
    assert itl is not None
    assert itl.p50.value == pytest.approx(0.005)


def test_the_most_in_flight_is_counted(tmp_path: Path) -> None:
    asked = [Asked(0), Asked(10), Asked(20), Asked(200)]
    assert peak_in_flight(read_requests(table_of(journal(tmp_path, asked)))) == 3


def test_trials_are_put_in_the_order_of_their_intended_starts(tmp_path: Path) -> None:
    requests = read_requests(table_of(journal(tmp_path, [Asked(100), Asked(0, late=150), Asked(50)])))
    assert requests.intended.tolist() == pytest.approx([0, 0.05, 0.1])
    assert requests.start.tolist() == pytest.approx([0.15, 0.05, 0.1])


def test_a_run_without_trials_has_no_window(tmp_path: Path) -> None:
    requests = read_requests(table_of(journal(tmp_path, [])))
    assert find_window(requests, LevelPlan("load-1", CLOSED, warmup=WindowTrim())) is None
    assert peak_in_flight(requests) == 0


def test_shares_of_the_server_are_of_what_its_counters_grew_by() -> None:
    looks = [
        ServerMetrics(1, prefix_queries=1000, prefix_hits=900, drafted=50, accepted=50),
        ServerMetrics(2, prefix_queries=2000, prefix_hits=1000, drafted=150, accepted=120),
    ]
    server = summarise_server_metrics(looks)
    assert server is not None
    assert (server.cached, server.accepted) == (0.1, 0.7)


def test_shares_of_what_did_not_happen_are_not_known() -> None:
    server = summarise_server_metrics(
        [
            ServerMetrics(1, running=1, drafted=50, accepted=50),
            ServerMetrics(2, running=1, drafted=50, accepted=50),
        ]
    )
    assert server is not None
    assert (server.cached, server.accepted) == (None, None)
