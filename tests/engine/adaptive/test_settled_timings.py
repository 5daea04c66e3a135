"""The summary of runs whose concurrency found itself: journals small enough to be worked out by hand."""

from __future__ import annotations

import pytest
from tests.engine.engine_kit import TARGET, table_of

from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.records import JournalLine, RequestRecord, RunEvent, Status, TaskSpec, TrialRecord
from benchwright.runs.concurrency_history import SETTLING_FLAG
from benchwright.runs.manifest import Manifest

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


def at_level(second: int, level: int, *, settled: bool = False) -> RunEvent:
    return RunEvent("concurrency", second * SECOND, {"level": level, "settled": settled})


def started(second: int) -> RunEvent:
    return RunEvent("started", second * SECOND, {"total": 10})


def ended(second: int, name: str = "finished") -> RunEvent:
    return RunEvent(name, second * SECOND)


def asked(key: str, milliseconds: int, *, settling: bool = False) -> TrialRecord:
    request = RequestRecord(
        key, total=milliseconds * MILLISECOND, ttft=milliseconds * MILLISECOND // 2,
        flags=[SETTLING_FLAG] if settling else [],
    )  # fmt: skip
    return TrialRecord(key, key, "primary", Status.ANSWERED, requests=[request])


def summary_of(*lines: JournalLine, given: int | None = None) -> RunSummary:
    """The summary of a run with these lines in its journal, that was given this concurrency."""
    task = TaskSpec("test", "1", "f")
    manifest = Manifest("20260101T000000-test", "eval", "test", "f", 0, task, [TARGET], concurrency=given)
    return summarise(manifest, table_of(lines))


SETTLES: list[JournalLine] = [
    started(100),
    at_level(100, 1),
    asked("a", 1000, settling=True),
    at_level(102, 2),
    asked("b", 3000, settling=True),
    at_level(104, 2, settled=True),
    asked("c", 100),
    asked("d", 300),
    ended(106),
]


def test_times_and_throughput_are_of_what_came_after_it_had_settled() -> None:
    summary = summary_of(*SETTLES)
    requests = summary.targets[0].requests
    assert (requests.total_requests, requests.settling_requests) == (4, 2)
    assert (requests.wall_time_seconds, requests.settling_seconds) == (6.0, 4.0)
    assert requests.effective_throughput_rps == 2 / 2
    assert requests.latency_mean == pytest.approx(0.2)
    assert requests.ttft_mean == pytest.approx(0.1)
    assert (summary.concurrency, summary.found_concurrency, summary.state) == (2, [2], "finished")


def test_while_it_settles_anew_nothing_is_timed_and_its_concurrency_is_not_one_number() -> None:
    again: list[JournalLine] = [
        at_level(106, 1),
        asked("e", 9000, settling=True),
        at_level(109, 1, settled=True),
        asked("f", 500),
    ]
    summary = summary_of(*SETTLES[:-1], *again, ended(110))
    requests = summary.targets[0].requests
    assert (requests.wall_time_seconds, requests.settling_seconds) == (10.0, 7.0)
    assert requests.effective_throughput_rps == 3 / 3
    assert (summary.concurrency, summary.found_concurrency) == (None, [2, 1])


def test_a_run_that_never_settled_has_no_timings() -> None:
    summary = summary_of(*SETTLES[:5], ended(106, "stopped"))
    requests = summary.targets[0].requests
    assert requests.settling_seconds == requests.wall_time_seconds == 6.0
    assert requests.effective_throughput_rps is None
    assert requests.latency_p50 is None
    assert (summary.concurrency, summary.found_concurrency, summary.state) == (None, [2], "stopped")


def test_sessions_at_the_same_concurrency_are_of_one_whoever_said_it() -> None:
    given: list[JournalLine] = [started(200), asked("e", 500), ended(201)]
    assert (
        summary_of(*SETTLES, started(200), at_level(200, 1), at_level(203, 2, settled=True)).concurrency == 2
    )
    assert summary_of(*SETTLES, *given).concurrency is None
    assert summary_of(*SETTLES, *given, given=2).concurrency == 2
    assert summary_of(*SETTLES, *given, given=8).concurrency is None


def test_a_number_that_was_given_is_told_as_it_is() -> None:
    summary = summary_of(started(100), asked("a", 100), ended(101), given=8)
    assert (summary.concurrency, summary.found_concurrency) == (8, [])
    assert summary.targets[0].requests.settling_requests == 0
