"""`kill -9` of the program ends what it started, and none of it has anything to say about that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import GrowingJournal, Program, settings
from tests.app.eval_kit import Project
from tests.app.test_workers import children, is_there
from tests.catalog.made_up_rows import WRITERS
from tests.simulated import simulated_endpoint
from tests.web.web_kit import viewing

STAYS = """
import os, subprocess, urllib.request
from contextlib import suppress

with suppress(OSError):
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models")
started = subprocess.Popen(["sleep", "600"], start_new_session=True)
with open("pids", "a") as file:
    file.write(f"{os.getpid()}\\n{started.pid}\\n")
started.wait()
"""
"""A program that asks the relay, writes down its own process and one that it started in another session, and stays."""


@pytest.fixture(scope="module")
def stuck() -> Iterator[str]:
    """An endpoint that never begins to answer."""
    with simulated_endpoint("--first-token=600000") as base_url:
        yield base_url


def kill(process: subprocess.Popen[str]) -> str:
    """Kills the program; what it and all that it started wrote to stderr, until nobody is left who could."""
    process.kill()
    return process.communicate(timeout=20)[1]


def below(parent: int) -> list[int]:
    """All processes that descend from one, but for those that watch for its end and so have no children."""
    own = children(parent)
    return own + [pid for child in own for pid in below(child)]


def wait_until_gone(pids: list[int]) -> None:
    end = time.monotonic() + 20
    while left := [pid for pid in pids if is_there(pid)]:
        assert time.monotonic() < end, f"{left} live on"
        time.sleep(0.01)


def numbers_in(file: Path, count: int, process: subprocess.Popen[str]) -> list[int]:
    """So many process numbers, as soon as they are written."""
    while not file.exists() or file.read_text().count("\n") < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return [int(line) for line in file.read_text().split()]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_programs_of_agents_and_what_they_start(project: Project, echo: str, workers: str) -> None:
    program, script = project.program, project.program.write("stays.py", STAYS)
    process = program.start(
        *(
            "eval",
            "-d",
            "data.jsonl",
            "--eval-fn",
            "rewards:right",
            "--agent-command",
            f"{sys.executable} {script}",
        ),
        *("--model", "m", "--base-url", echo, "--batch-size", "4", "--workers", workers),
    )
    pids = numbers_in(program.directory / "pids", 2 * 4, process)
    started = below(process.pid)
    assert "Traceback" not in kill(process)
    wait_until_gone([*pids, *started])


def test_worker_processes_in_the_middle_of_their_work(program: Program, stuck: str) -> None:
    command = program.evaluating(program.rows(8), stuck, "--workers=2", "--batch-size=8")
    process = program.start(*command)
    while len(children(process.pid)) < 3:  # two and the one that watches
        assert process.poll() is None
    time.sleep(1)  # somewhere between their start and their first requests
    started = below(process.pid)
    assert "Traceback" not in kill(process)
    wait_until_gone(started)


async def test_graders(program: Program) -> None:
    WRITERS["ifeval"](program.directory / "data" / "ifeval")
    with simulated_endpoint(*settings(first_token="constant:200")) as base_url:
        process = program.start("--base-url", base_url, "--model", "m", "run", "ifeval", "--concurrency", "1")
        GrowingJournal(program).wait_for(1, process)
        while not (started := below(process.pid)):
            assert process.poll() is None
        assert "Traceback" not in kill(process)
    wait_until_gone(started)


def test_what_was_started_from_a_page(program: Program, stuck: str) -> None:
    dataset = program.rows(2)
    program.write(
        "quiz.toml", f"[eval]\ndataset='{dataset}'\nscorer=['exact']\nmodel='m'\nbase_url='{stuck}'\n"
    )
    with viewing(program) as viewer:
        assert viewer.post("/start", "what=configuration:quiz.toml").status == 303
        process = program._started[-1]
        while len(started := below(process.pid)) < 2:
            assert process.poll() is None
        kill(process)
        wait_until_gone(started)


def test_a_worker_that_nobody_asks_any_more_ends_without_a_word() -> None:
    from benchwright.python_commands import module_command

    for begun in (b"", b"\0\0", b"\0" * 7 + b"\x09abc"):
        worker = subprocess.Popen(
            module_command("benchwright.engine.offload_worker"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert worker.communicate(begun, timeout=20) == (b"", b"")


def test_ctrl_c_is_not_for_a_worker() -> None:
    from benchwright.engine.offload_worker import HEADER_BYTES
    from benchwright.python_commands import module_command

    worker = subprocess.Popen(
        module_command("benchwright.engine.offload_worker"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    import pickle

    def request(function: Callable[[], object]) -> bytes:
        encoded = pickle.dumps((function, (), None))
        return len(encoded).to_bytes(HEADER_BYTES, "big") + encoded

    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(request(os.getpid))
    worker.stdin.flush()
    size = int.from_bytes(worker.stdout.read(HEADER_BYTES), "big")
    assert pickle.loads(worker.stdout.read(size)) == ("value", worker.pid), "what prepares it is called in it"
    worker.send_signal(signal.SIGINT)
    said = worker.communicate(request(os.getppid), timeout=20)[0]
    assert pickle.loads(said[HEADER_BYTES:]) == ("value", worker.pid), "what grades is called in its child"
    assert worker.returncode == 0
