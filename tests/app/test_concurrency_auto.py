"""`--concurrency auto` by the command line: settles near what the endpoint serves at once, and times only then."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.app.app_kit import GrowingJournal, Program, finished, one_line_of, scores, trials
from tests.app.benchmark_kit import knowing, only_result, write_mmlu
from tests.app.pack_kit import Packs, numbered
from tests.journals import read_lines
from tests.simulated import simulated_endpoint

from benchwright.analysis.comparison.comparability import latency_refusal_reason
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.quality_and_speed.views import joint_view
from benchwright.analysis.report.columns import columns_of
from benchwright.analysis.summary_records import RunSummary
from benchwright.records import RunEvent, Status
from benchwright.runs.concurrency_history import SETTLING_FLAG
from benchwright.runs.table import read_table

SLOTS = 8
TRIALS = 700
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def serving() -> Iterator[str]:
    """An endpoint that answers 8 requests at a time within 50 ms, and lets others wait."""
    with simulated_endpoint("--first-token=50", f"--slots={SLOTS}") as base_url:
        yield base_url


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    """An endpoint that answers 8 requests at a time within 50 ms, and refuses others with HTTP 429."""
    program = str(Path(__file__).with_name("refusing_endpoint.py"))
    with simulated_endpoint("--first-token=50", program=[program, "--most", str(SLOTS)]) as base_url:
        yield base_url


def levels(run: Path) -> list[tuple[int, bool]]:
    """The levels in a run's journal, and whether each had settled."""
    events = [line for line in read_lines(run) if isinstance(line, RunEvent) and line.name == "concurrency"]
    return [(event.detail["level"], event.detail["settled"]) for event in events]


def first_levels(run: Path) -> list[int]:
    """The level at which each session of a run began."""
    events = [line for line in read_lines(run) if isinstance(line, RunEvent)]
    known = [event for event in events if event.name in ("started", "concurrency")]
    return [
        after.detail["level"]
        for event, after in pairwise(known)
        if (event.name, after.name) == ("started", "concurrency")
    ]


def flagged(run: Path) -> int:
    return sum(SETTLING_FLAG in request.flags for trial in trials(run) for request in trial.requests)


def check_all_done_once(summary: RunSummary, run: Path) -> None:
    assert (summary.state, summary.done) == ("finished", TRIALS)
    assert len(trials(run)) == len({trial.key for trial in trials(run)}) == TRIALS
    assert {trial.status for trial in trials(run)} == {Status.ANSWERED}
    assert len(scores(run)) == TRIALS


@pytest.fixture(scope="module")
def found(serving: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, str, str]]:
    """A program that has made one run whose concurrency found itself; what it printed, and what it said."""
    program = Program(tmp_path_factory.mktemp("found"))
    try:
        ended = program.run(*program.evaluating(program.rows(TRIALS), serving, "--concurrency=auto"))
        assert ended.returncode == 0, ended.stderr
        yield program, " ".join(ended.stdout.split()), ended.stderr
    finally:
        program.end()


def test_it_settles_near_what_is_served_at_once_and_does_every_trial_once(
    found: tuple[Program, str, str],
) -> None:
    program, _, said = found
    summary = program.summary("show", program.only_run.name)
    check_all_done_once(summary, program.only_run)
    assert summary.concurrency is not None
    assert 2 <= summary.concurrency <= 4 * SLOTS
    assert levels(program.only_run)[-1] == (summary.concurrency, True)
    assert f"Concurrency settled at {summary.concurrency}; timings count from now on." in said


def test_it_takes_less_time_than_one_by_one(
    found: tuple[Program, str, str], program: Program, serving: str
) -> None:
    quick = found[0].summary("show", found[0].only_run.name)
    slow = program.summary(*program.evaluating(program.rows(60), serving, "--concurrency=1"))
    seconds = [one.targets[0].requests.wall_time_seconds / one.done for one in (quick, slow)]
    assert seconds[0] < seconds[1] / 2


def test_requests_before_it_settled_count_in_scores_and_not_in_timings(
    found: tuple[Program, str, str],
) -> None:
    program, told, _ = found
    left_out = flagged(program.only_run)
    assert 0 < left_out < TRIALS
    assert f"Timings leave out {left_out} requests made while the concurrency settled." in told
    (target,) = program.summary("show", program.only_run.name).targets
    requests = target.requests
    assert target.scores[0].n_scored == requests.total_requests == TRIALS
    assert requests.settling_requests == left_out
    timed = requests.wall_time_seconds - requests.settling_seconds
    assert requests.effective_throughput_rps == pytest.approx((TRIALS - left_out) / timed)
    kept = [request for trial in trials(program.only_run) for request in trial.requests]
    counted = [request.total / 1e9 for request in kept if SETTLING_FLAG not in request.flags]
    assert requests.latency_mean == pytest.approx(sum(counted) / len(counted), rel=1e-5)


def test_comparisons_and_reports_leave_the_same_requests_out(found: tuple[Program, str, str]) -> None:
    run = found[0].only_run
    timed = TRIALS - flagged(run)
    side = RunSides(run, "A").side()
    assert side.timings["latency"].size == side.timings["ttft"].size == timed
    assert side.usage is not None
    assert np.isfinite(side.usage.latency).sum() == side.usage.timed_requests == timed
    table = read_table(run, effort=True)
    assert np.isfinite(columns_of(table, "primary").latency).sum() == timed
    assert table.requests["primary"].timing_column("latency").size == timed
    view = joint_view(side)
    assert view is not None
    assert view.judged.correct == TRIALS
    assert view.correct_per_second is not None
    assert view.correct_per_second.correct == timed
    assert view.requests_per_second == pytest.approx(view.correct_per_second.value)


def test_speed_is_compared_only_with_what_ran_at_the_concurrency_that_was_found(
    found: tuple[Program, str, str],
) -> None:
    run = found[0].only_run
    level, _ = levels(run)[-1]
    facts = replace(
        RunSides(run, "A").side().facts, timings_valid=True
    )  # whether the machine was busy or not
    assert latency_refusal_reason(facts, replace(facts, concurrency=level)) is None
    told = f"the concurrency differs: {level} and {level + 1}"
    assert latency_refusal_reason(facts, replace(facts, concurrency=level + 1)) == told


def test_at_an_endpoint_that_refuses_what_is_too_much_it_stays_low_and_no_trial_fails(
    program: Program, refusing: str
) -> None:
    summary = program.summary(*program.evaluating(program.rows(TRIALS), refusing, "--concurrency=auto"))
    check_all_done_once(summary, program.only_run)
    assert summary.targets[0].statuses == {"scored": TRIALS}
    assert summary.found_concurrency[-1] <= 1.5 * SLOTS


def test_an_interrupted_run_goes_on_and_settles_anew(program: Program, serving: str) -> None:
    command = program.evaluating(program.rows(TRIALS), serving, "--concurrency=auto")
    process = program.start(*command)
    GrowingJournal(program).wait_for(300, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    before = len(finished(program.only_run))
    assert 300 <= before < TRIALS

    summary = program.summary(*command)
    check_all_done_once(summary, program.only_run)
    assert first_levels(program.only_run) == [1, 1]
    assert summary.found_concurrency


def test_a_run_too_short_to_settle_says_that_nothing_was_timed(program: Program, serving: str) -> None:
    command = program.evaluating(program.rows(10), serving, "--concurrency=auto")
    ended = program.run(*command)
    told = " ".join(ended.stdout.split())
    assert "No request counts in timings: the concurrency had not settled yet." in told
    assert program.summary("show", program.only_run.name).concurrency is None


def test_a_benchmarks_result_file_has_the_number_that_was_found(program: Program) -> None:
    path = write_mmlu(program, 40)
    with knowing("mmlu", path, accuracy=0.75) as base_url:
        ended = program.run(
            *("--base-url", base_url, "--model", "m", "run", "mmlu", "--data-dir", "data"),
            *("--concurrency", "auto"),
        )
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert result["accuracy"] == 0.75
    assert result["config"]["concurrency"] == levels(program.only_run)[-1][0]
    assert result["config"]["concurrency_settled"] is levels(program.only_run)[-1][1]


def test_a_packs_own_requests_are_watched_and_serial_modes_stay_one_by_one(
    program: Program, refusing: str
) -> None:
    packs = Packs(program)
    pack = packs.pack("pack", numbered(60))
    for mode in ("full_parallel", "serial"):
        command = packs.arguments(refusing, f"--mode={mode}", "--concurrency=auto", "-q")
        ended = program.run("pack", "run", pack, *command)
        assert ended.returncode == 0, ended.stderr
    together, one_by_one = program.runs
    assert max(level for level, _ in levels(together)) > 2
    assert levels(one_by_one) == []


def test_it_can_stand_in_a_file_of_settings(program: Program, serving: str) -> None:
    program.write("eval.toml", '[eval]\nbatch_size = "auto"\n')
    summary = program.summary(*program.evaluating(program.rows(20), serving, "--config=eval.toml"))
    assert summary.found_concurrency
    schema = json.loads(program.run("schema").stdout)
    assert {"const": "auto", "type": "string"} in schema["properties"]["batch_size"]["anyOf"]


@pytest.mark.parametrize("option", ["--workers=2", "--executor=ray"])
def test_it_does_not_go_with_several_processes(program: Program, option: str) -> None:
    command = program.evaluating(program.rows(5), NOWHERE, "--concurrency=auto", option)
    ended = program.run(*command)
    assert ended.returncode == 1
    assert "--concurrency auto works in one process only: give a number" in one_line_of(ended.stderr)


def test_what_is_neither_a_number_nor_auto_is_told_with_a_guess(program: Program) -> None:
    ended = program.run(*program.evaluating(program.rows(5), NOWHERE, "--batch-size=atuo"))
    assert ended.returncode == 2
    assert "'atuo' is neither a number nor 'auto'. Did you mean 'auto'?" in ended.stderr
