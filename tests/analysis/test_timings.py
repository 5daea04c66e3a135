"""Timings that do not hold: what is advised fits the command, and what it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import STARTED, made, write_run
from tests.rendered import as_text
from tests.web.web_kit import viewing

from benchwright.analysis.summary import summary_of
from benchwright.app.report import ReportSettings, make_report
from benchwright.records import RunEvent
from benchwright.reports.summary import render_summary
from benchwright.runs.journal import Journal
from benchwright.runs.process_delays import LoopLag

MEASURED = "the client was too busy (loop lag p99 40.0 ms, longest 900 ms)"
OTHERS = "other programs that keep this machine busy"


def busy_run(directory: Path, *events: RunEvent, **changes: Any) -> Path:
    """A run whose client was late by 40 ms."""
    write_run(directory, made([1.0] * 4), finished=False, **changes)
    journal = Journal(directory)
    for event in events:
        journal.write_lines(event)
    lag = LoopLag(100, 1_000_000, 40_000_000, 900_000_000)
    journal.write_lines(RunEvent("finished", STARTED + 10**9, {"lag": msgspec.to_builtins(lag)}))
    journal.close()
    return directory


def level(**of: Any) -> dict[str, Any]:
    return {"load": {"number": 1, "level": of}}


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "an eval with several in flight": (
        {"concurrency": 8},
        f"Give a lower --concurrency than 8, or look for {OTHERS}.",
    ),
    "an eval with one in flight": ({"concurrency": 1}, f"Look for {OTHERS}."),
    "an agent, one in flight": (
        {"concurrency": 1, "settings": {"module": "agent:loop", "eval_fn": ["rewards:right"]}},
        f"Look for blocking code in the agent or the eval functions and for {OTHERS}.",
    ),
    "an agent of a process of its own": (
        {"concurrency": 1, "settings": {"agent_command": "./agent"}},
        f"Look for {OTHERS}.",
    ),
    "a benchmark": (
        {"kind": "benchmark", "concurrency": 16},
        f"Give a lower --concurrency than 16, or look for slow grading and for {OTHERS}.",
    ),
    "a pack": ({"kind": "pack", "concurrency": 1}, f"Look for {OTHERS}."),
    "a closed loop": (
        {"concurrency": 32, "about": level(concurrency=32)},
        f"Give a lower --concurrency than 32, or look for {OTHERS}.",
    ),
    "a closed loop of one": ({"concurrency": 1, "about": level(concurrency=1)}, f"Look for {OTHERS}."),
    "an open loop": (
        {"concurrency": 1000, "about": level(rate=12.5, arrivals="poisson")},
        f"Measure a lower --rate than 12.5, or look for {OTHERS}.",
    ),
    "a trace": ({"concurrency": 1000, "about": level(arrivals="trace")}, f"Look for {OTHERS}."),
}


@pytest.mark.parametrize(("changes", "advice"), CASES.values(), ids=CASES)
def test_what_is_advised_can_be_done(changes: dict[str, Any], advice: str, tmp_path: Path) -> None:
    summary = summary_of(busy_run(tmp_path / "run", **changes))
    assert summary.timings_note == f"{MEASURED}. {advice}"
    assert f"TIMINGS INVALID: {summary.timings_note}" in " ".join(as_text(render_summary(summary)).split())


def test_a_number_below_the_one_that_was_found_is_advised(tmp_path: Path) -> None:
    settled = RunEvent("concurrency", STARTED + 1000, {"level": 24, "settled": True})
    note = summary_of(busy_run(tmp_path / "run", settled, concurrency=None)).timings_note
    assert note == f"{MEASURED}. Give a lower --concurrency than 24, or look for {OTHERS}."


def test_every_door_says_it_in_the_same_words(tmp_path: Path) -> None:
    program = Program(tmp_path)
    run = busy_run(program.home / "runs" / "20260101T000000-busy-00000000", concurrency=8)
    note = str(summary_of(run).timings_note)
    (banner,) = make_report([str(run)], ReportSettings()).runs[0].banners
    assert banner == f"Timings invalid: {note}"
    with viewing(program) as viewer:
        page = viewer.get(f"/runs/{run.name}").text
    assert note in page
    assert program.summary("show", run.name).timings_note == note
    program.end()


def test_valid_timings_need_no_advice(tmp_path: Path) -> None:
    assert summary_of(write_run(tmp_path / "run", made([1.0]))).timings_note is None
