"""`--workers N`: the trials of one run in several processes, with the same results in one journal."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from tests.app.app_kit import GrowingJournal, Program, finished, scores, settings, trials
from tests.app.benchmark_kit import knowing, only_result, write_mmlu
from tests.app.eval_kit import Project
from tests.simulated import simulated_endpoint


def children(parent: int) -> list[int]:
    """The ids of a process's children, whichever of its threads started them."""
    found: list[str] = []
    for thread in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended meanwhile
            found += thread.read_text().split()
    return [int(pid) for pid in found]


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_eval_of_an_agent_has_the_same_scores_with_any_number_of_workers(
    program: Program, project: Project, echo: str
) -> None:
    project.rows(60)
    scored = [
        program.summary(*project.command(echo, f"--workers={workers}", "--batch-size=8", "--fresh"))
        .targets[0]
        .scores[0]
        for workers in (1, 3)
    ]
    assert scored[0].mean == scored[1].mean == 2 / 3
    assert [len(finished(run)) for run in program.runs] == [60, 60]
    assert {trial.key for trial in trials(program.runs[0])} == {
        trial.key for trial in trials(program.runs[1])
    }


def test_a_benchmark_has_the_same_accuracy(program: Program) -> None:
    path = write_mmlu(program, 40)
    with knowing("mmlu", path, accuracy=0.75) as base_url:
        ended = program.run(
            *("--base-url", base_url, "--model", "m", "run", "mmlu", "--data-dir", "data", "--workers", "2")
        )
    assert ended.returncode == 0, ended.stderr
    assert only_result(program)["accuracy"] == 0.75


def test_killing_a_worker_costs_no_trial_and_asks_no_finished_one_again(program: Program) -> None:
    with simulated_endpoint(*settings(first_token="constant:20")) as base_url:
        command = program.evaluating(program.rows(400), base_url, "--workers=2", "--batch-size=8")
        process = program.start(*command, "--json")
        GrowingJournal(program).wait_for(40, process)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    done = finished(program.only_run)
    assert len(done) == len({trial.key for trial in done}) == 400
    assert len(scores(program.only_run)) == 400


def test_workers_end_with_the_command_that_started_them(program: Program) -> None:
    with simulated_endpoint(*settings(first_token="constant:20")) as base_url:
        command = program.evaluating(program.rows(400), base_url, "--workers=2", "--batch-size=8")
        process = program.start(*command, "-q")
        GrowingJournal(program).wait_for(20, process)
        workers = children(process.pid)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        while any(map(is_there, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [pid for pid in workers if is_there(pid)] == []

        summary = program.summary(*command)
    assert (summary.state, summary.done) == ("finished", 400)


def test_a_wrong_number_of_workers_is_told(program: Program) -> None:
    ended = program.run(*program.evaluating(program.rows(2), "http://127.0.0.1:9/v1", "--workers=0"))
    assert ended.returncode == 2
    assert "--workers: Input should be greater than or equal to 1." in ended.stderr
