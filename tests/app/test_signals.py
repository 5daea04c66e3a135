"""Ctrl-C and SIGTERM: once finishes what is in flight, twice stops at once; the same command then goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from time import monotonic

import pytest
from tests.app.app_kit import NOWHERE, GrowingJournal, Program, finished, scores, trials
from tests.app.eval_kit import Project, read_json, target
from tests.simulated import simulated_endpoint

from benchwright.records import Status

TRIALS = 40


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    """An endpoint that takes half a second to answer."""
    with simulated_endpoint("--first-token=500") as base_url:
        yield base_url


@pytest.fixture(scope="module")
def stuck() -> Iterator[str]:
    """An endpoint that answers one request after another, and each so slowly that nobody waits for it."""
    with simulated_endpoint("--first-token=600000") as base_url:
        yield base_url


def at_work(program: Program, command: list[str], trials: int) -> subprocess.Popen[str]:
    """Starts the command and returns when it has done so many trials."""
    process = program.start(*command)
    GrowingJournal(program).wait_for(trials, process)
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code, and what was written to stdout and to stderr."""
    stdout, stderr = process.communicate(timeout=30)
    return process.returncode, stdout, stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_finishes_what_is_in_flight_and_the_same_command_goes_on(
    program: Program, slow: str, number: signal.Signals
) -> None:
    command = program.evaluating(program.rows(TRIALS), slow, "--batch-size=10")
    process = at_work(program, command, trials=1)
    process.send_signal(number)
    code, _, stderr = ended(process)
    assert code == 130
    assert "Stopping: finishing what is in flight and saving it, for up to 5 minutes." in stderr
    assert "Press again to stop immediately." in stderr
    assert "Traceback" not in stderr

    before = finished(program.only_run)
    assert {trial.status for trial in trials(program.only_run)} == {Status.ANSWERED}, "none was cut off"
    assert 10 <= len(before) < TRIALS
    assert len(scores(program.only_run)) == len(before)
    assert f"Evaluation interrupted. Progress: {len(before)}/{TRIALS} runs." in stderr
    assert "Re-run the same command to resume from where you left off." in stderr

    summary = program.summary(*command)
    assert (summary.state, summary.done) == ("finished", TRIALS)
    assert len(trials(program.only_run)) == TRIALS


@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)])
def test_twice_stops_at_once_and_what_was_in_flight_is_asked_again(
    program: Program, stuck: str, numbers: tuple[signal.Signals, signal.Signals]
) -> None:
    command = program.evaluating(program.rows(6), stuck, "--batch-size=4")
    process = at_work(program, command, trials=0)
    time.sleep(0.3)  # the first requests are on their way
    start = monotonic()
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.3)
    code, _, stderr = ended(process)
    assert code == 130
    assert monotonic() - start < 10, "the endpoint would have taken ten minutes"
    assert "Stopping now; finished trials are saved." in stderr
    assert "Traceback" not in stderr
    assert [trial.status for trial in trials(program.only_run)] == [Status.CANCELLED] * 4
    assert finished(program.only_run) == []


INTERRUPTS_ITSELF = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"

IN_A_CALLBACK = """
import os, signal, time, weakref

class Gone:
    pass

gone = Gone()
reference = weakref.ref(gone, lambda _: os.kill(os.getpid(), signal.SIGINT))
del gone
time.sleep(20)
"""


SLOW_TO_START_THREADS = """
import threading, time

start = threading.Thread.start

def slowly(thread):
    start(thread)
    time.sleep(0.1)

threading.Thread.start = slowly
"""


def test_while_modules_are_imported_it_ends_without_a_word(program: Program) -> None:
    program.write("click.py", INTERRUPTS_ITSELF)
    program.forked = False
    ended = program.run("list", PYTHONPATH=str(program.directory))
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


def test_in_a_callback_of_pythons_own_it_is_heard_right_after(program: Program) -> None:
    ended = program.run("list", "--plugin", program.write("plugin.py", IN_A_CALLBACK))
    assert (ended.returncode, ended.stderr.strip()) == (130, "")


WHILE_A_CLASS_IS_MADE = """
import os, signal

class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)

class Owner:
    field = Field()
"""


def test_while_a_class_is_made_it_is_heard_too(program: Program) -> None:
    ended = program.run("list", "--plugin", program.write("plugin.py", WHILE_A_CLASS_IS_MADE))
    assert (ended.returncode, ended.stderr.strip()) == (130, "")


def test_so_it_is_where_threads_are_slow_to_start(program: Program) -> None:
    plugin = program.write("plugin.py", SLOW_TO_START_THREADS + IN_A_CALLBACK)
    ended = program.run("list", "--plugin", plugin)
    assert (ended.returncode, ended.stderr.strip()) == (130, "")


HANGS_FROM_ROW_20 = """
import asyncio


async def agent(row):
    if int(row["user_prompt"].removeprefix("word")) >= 20:
        await asyncio.sleep(600)
    return row["user_prompt"]
"""


def test_what_was_cut_off_is_neither_done_nor_failed_anywhere(project: Project) -> None:
    program = project.program
    program.write("hangs.py", HANGS_FROM_ROW_20)
    project.rows(TRIALS)
    command = ["eval", "-m", "hangs:agent", "-d", "data.jsonl", "--eval-fn", "rewards:right", "--model", "m"]
    process = program.start(
        *command,
        *(f"--base-url={NOWHERE}", "--no-probe", "--batch-size=5", "-o", "out.json"),
        **project.environment,
    )
    GrowingJournal(program).wait_for(20, process)
    time.sleep(0.5)  # five more are under way
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    code, stdout, stderr = ended(process)
    assert code == 130
    assert len(trials(program.only_run)) == 25, "five were cut off"

    assert f"Evaluation interrupted. Progress: 20/{TRIALS} runs." in stderr
    assert f"[20/{TRIALS}]" in stdout
    assert f"[21/{TRIALS}]" not in stdout
    document, entry = read_json(program.directory / "out.json"), project.entry
    assert (document["summary"]["total_runs"], len(entry["runs"])) == (20, 20)
    right = sum(target(row) == f"word{row}" for row in range(20)) / 20
    assert document["summary"]["eval_fns"]["rewards:right"]["mean"] == right
    summary = program.summary("show", program.only_run.name)
    (scores_of_it,) = summary.targets[0].scores
    assert (summary.done, scores_of_it.n, scores_of_it.mean) == (20, 20, right)
    listed = project.run("eval", "cache", "ls", "--json").stdout
    assert json.loads(listed)["evals"][0]["runs"] == 20
