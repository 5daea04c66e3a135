"""What an agent starts ends with its trial, and what it writes holds nobody up: real processes and real folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows
from tests.app.app_kit import Program, trials
from tests.recipes.recipe_kit import write_recipe
from tests.simulated import simulated_endpoint

from benchwright.agents.command_task import command_task
from benchwright.agents.recipe_task import recipe_task
from benchwright.engine.lag import LoopLagSampler
from benchwright.recipes.recipe import read_recipe
from benchwright.records import Status, TrialLimits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in Linux's /proc")

ANSWER = "ask([{'role': 'user', 'content': prompt}])\n"

IN_A_SESSION = "subprocess.Popen(server, start_new_session=True)\n"
WITHOUT_ENVIRONMENT = "subprocess.Popen(server, start_new_session=True, env={})\n"
FORKED_TWICE = (
    "if os.fork() == 0:\n    os.setsid()\n    os.fork() or os.execv(server[0], server)\n    os._exit(0)\n"
)
BY_A_SHELL = "subprocess.run(['sh', '-c', 'nohup setsid \"$@\" >/dev/null 2>&1 &', 'sh', *server])\n"
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
        self.ready = f"while not os.path.exists({self.word!r}): time.sleep(0.01)\n"

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


async def run_agent(folder: Path, program: str, records: Sequence[str] = (), **options: object) -> Ran:
    recipe = read_recipe(write_recipe(folder / "recipes", program, records=list(records)))
    rows = write_rows(folder / "rows.jsonl", {"question": "Hello", "answer": "Hello"})
    return await run_trial(recipe_task(rows, recipe, ()), **options)  # type: ignore[arg-type]


class TestProcesses:
    @pytest.mark.parametrize("start", [IN_A_SESSION, WITHOUT_ENVIRONMENT, FORKED_TWICE, BY_A_SHELL])
    async def test_that_an_agent_leaves_running_end_with_its_trial_which_says_so(
        self, tmp_path: Path, servers: Servers, start: str
    ) -> None:
        ran = await run_agent(tmp_path, servers.start + start + servers.ready + ANSWER)
        assert ran.record.status is Status.ANSWERED
        assert servers.running == []
        assert ran.body.artifacts["left_running"].startswith("1 process left running and ended: python")

    async def test_of_nobody_else_are_ended(self, tmp_path: Path, servers: Servers) -> None:
        with subprocess.Popen(servers.command, start_new_session=True) as other:
            ran = await run_agent(tmp_path, ANSWER)
            assert "left_running" not in ran.body.artifacts
            assert servers.running == [other.pid]
            other.kill()

    async def test_end_at_a_limit_of_time(self, tmp_path: Path, servers: Servers) -> None:
        program = servers.start + IN_A_SESSION + "time.sleep(60)"
        ran = await run_agent(tmp_path, program, limits=TrialLimits(seconds=2))
        assert (ran.record.status, servers.running) == (Status.LIMIT, [])

    async def test_end_even_if_the_agent_kills_its_supervisor(self, tmp_path: Path, servers: Servers) -> None:
        program = servers.start + IN_A_SESSION + ANSWER + "os.kill(os.getppid(), 9)\ntime.sleep(60)"
        ran = await run_agent(tmp_path, program)
        assert (ran.record.status, servers.running) == (Status.EXECUTION_ERROR, [])

    async def test_of_a_command_end_too(self, tmp_path: Path, servers: Servers) -> None:
        script = tmp_path / "agent.py"
        script.write_text(f"import subprocess\n{servers.start}{IN_A_SESSION}print('done')")
        rows = write_rows(
            tmp_path / "rows.jsonl", {"user_prompt": "x", "system_prompt": "s", "ground_truth": "y"}
        )
        ran = await run_trial(command_task(rows, f"{sys.executable} {script}", ()))
        assert servers.running == []
        assert "1 process" in ran.body.artifacts["left_running"]

    async def test_that_start_others_without_end_are_ended(self, tmp_path: Path, servers: Servers) -> None:
        code = f"import subprocess, time\n{servers.start}while True:\n    {IN_A_SESSION}    time.sleep(0.05)"
        program = f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)\n"
        ran = await run_agent(tmp_path, program + servers.ready + ANSWER)
        assert (ran.record.status, servers.running) == (Status.ANSWERED, [])


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


class TestFolders:
    async def test_of_twenty_thousand_files_hold_up_no_loop(self, tmp_path: Path) -> None:
        with LoopLagSampler() as sampler:
            many = "for n in range(20_000): pathlib.Path(f'{n}.txt').write_text('text')\n"
            ran = await run_agent(tmp_path, many + ANSWER)
        assert [one for one in sampler.result.standstills if one.cause == "busy"] == []
        assert len(ran.body.artifacts["files"]) == 500
        assert "files not kept: " in ran.body.artifacts["not_kept"]

    async def test_of_three_thousand_levels_end_no_trial(self, tmp_path: Path) -> None:
        program = "here = os.getcwd()\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\nos.chdir(here)\n"
        ran = await run_agent(tmp_path, program + ANSWER)
        assert ran.record.status is Status.ANSWERED
        assert "folders deeper than 64: 1" in ran.body.artifacts["not_kept"]

    async def test_with_pipes_sockets_links_and_names_that_are_no_text_are_collected(
        self, tmp_path: Path
    ) -> None:
        program = (
            "import socket\nos.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')\n"
            "os.mkdir('a')\nos.symlink('..', 'a/up')\nos.symlink('nowhere', 'b')\nos.symlink('/etc', 'etc')\n"
            "open('large', 'w').truncate(10**12)\nopen(b'\\xff.txt', 'w').write('named')\n"
        )
        ran = await run_agent(tmp_path, program + ANSWER)
        assert ran.body.artifacts["files"] == {"\\xff.txt": "named"}
        assert ran.body.artifacts["not_kept"] == "files not kept: larger than 1 MiB: 1, no plain file: 2"

    async def test_that_became_links_are_not_followed(self, tmp_path: Path) -> None:
        """Else files of the user's would be kept with the trial, and removed after it."""
        ours = tmp_path / "ours"
        ours.mkdir()
        (ours / "secret.txt").write_text("ours")
        program = (
            "import shutil\nfor place in (os.environ['HOME'], os.getcwd()):\n"
            f"    shutil.rmtree(place)\n    os.symlink({str(ours)!r}, place)\n"
        )
        ran = await run_agent(tmp_path, program + ANSWER, records=["**/*.txt"])
        assert (ran.body.artifacts["files"], ran.body.artifacts["records"]) == ({}, {})
        assert (ours / "secret.txt").read_text() == "ours"
