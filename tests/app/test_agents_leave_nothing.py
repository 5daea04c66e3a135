"""`benchwright eval --agent` leaves nothing of what its agents start, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from tests.app.app_kit import Program, trials
from tests.recipes.recipe_kit import write_recipe
from tests.simulated import simulated_endpoint

from benchwright.records import Status

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in Linux's /proc")

ANSWER = "ask([{'role': 'user', 'content': prompt}])\n"

IN_A_SESSION = "subprocess.Popen(server, start_new_session=True)\n"
ALONE = """
for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        words = path.read_text()
    except OSError:
        continue
    assert server[-1] not in words
"""

SECONDS = 30.0


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


class Servers:
    """Processes that are known by the last word of their command line, a file that each makes when it runs."""

    def __init__(self, folder: Path) -> None:
        self.word = f"{folder}/server-{token_hex(8)}"
        code = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"
        self.command = [sys.executable, "-S", "-c", code, self.word]
        self.start = f"server = {self.command!r}\n"

    @property
    def running(self) -> list[int]:
        """Their numbers, from the process list."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if words[-2:-1] == [self.word.encode()]:
                found.append(int(path.parent.name))
        return found

    def wait(self, reached: Callable[[int], bool]) -> None:
        """Wait until so many of them run."""
        deadline = time.monotonic() + SECONDS
        while not reached(len(self.running)):
            assert time.monotonic() < deadline, self.running
            time.sleep(0.02)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    servers = Servers(tmp_path)
    yield servers
    for pid in servers.running:
        os.kill(pid, signal.SIGKILL)


class TestProgram:
    """`benchwright eval --agent` with an agent that starts a detached server, and then waits."""

    @pytest.mark.parametrize("numbers", [[signal.SIGKILL], [signal.SIGINT] * 2, [signal.SIGTERM] * 2])
    def test_that_is_ended_leaves_nothing_of_its_agents(
        self, program: Program, servers: Servers, numbers: list[signal.Signals]
    ) -> None:
        with simulated_endpoint() as base_url:
            process = start(program, base_url, servers.start + IN_A_SESSION + "time.sleep(60)")
            servers.wait(lambda count: count > 0)
            for number in numbers:
                process.send_signal(number)
                time.sleep(0.5)
            process.wait(SECONDS)
            servers.wait(lambda count: count == 0)

    def test_runs_each_trial_without_what_earlier_ones_left(self, program: Program, servers: Servers) -> None:
        with simulated_endpoint() as base_url:
            process = start(program, base_url, servers.start + ALONE + IN_A_SESSION + ANSWER, rows=3)
            _, told = process.communicate(timeout=2 * SECONDS)
        assert process.returncode == 0, told
        assert [trial.status for trial in trials(program.only_run)] == [Status.ANSWERED] * 3
        assert servers.running == []


def start(program: Program, base_url: str, agent: str, rows: int = 1) -> subprocess.Popen[str]:
    """Start an evaluation of an agent that is this Python program."""
    recipe = write_recipe(program.directory / "recipes", agent)
    arguments = program.evaluating(
        program.rows(rows), base_url, "--agent", str(recipe), "--concurrency", "1", "-q"
    )
    return program.start(*arguments)
