"""What an agent starts ends with its trial, in whatever session it runs, and the trial says so."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows
from tests.recipes.recipe_kit import write_recipe

from benchwright.agents.command_task import command_task
from benchwright.agents.recipe_task import recipe_task
from benchwright.analysis.trial_preview import trial_notes
from benchwright.recipes.recipe import read_recipe
from benchwright.records import Status, TrialLimits

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux gives a process its grandchildren"
)

STARTED = {
    "in a session of its own": "subprocess.Popen(SLEEP, start_new_session=True)",
    "by a shell that ends": "subprocess.run(['sh', '-c', 'setsid nohup ' + ' '.join(SLEEP) + ' >/dev/null 2>&1 &'])",
    "as a daemon": "os.fork() or (os.setsid(), os.fork() and os._exit(0), os.execvp('sleep', SLEEP))",
    "in its process group": "subprocess.Popen(SLEEP)",
    "without our environment": "subprocess.Popen(SLEEP, start_new_session=True, env={'PATH': os.environ['PATH']})",
}

RunAgent = Callable[..., Coroutine[Any, Any, Ran]]


@pytest.fixture
def seconds() -> str:
    """A number of seconds that no other process sleeps for."""
    return f"{uuid4().int % 10**9 + 10**6}"


@pytest.fixture(params=["a recipe", "a command"])
def run_agent(request: pytest.FixtureRequest, tmp_path: Path) -> RunAgent:
    """Run one trial of an agent that is this Python program and asks its model, in each of the two ways."""

    async def run(program: str, **options: Any) -> Ran:
        path = write_recipe(tmp_path / "recipes", f"ask([{{'role': 'user', 'content': 'Hi'}}])\n{program}")
        row = {
            "question": "Hello",
            "answer": "Hello",
            "system_prompt": "s",
            "user_prompt": "u",
            "ground_truth": "g",
        }
        rows = write_rows(tmp_path / "rows.jsonl", row)
        if request.param == "a recipe":
            return await run_trial(recipe_task(rows, read_recipe(path), ()), **options)
        command = shlex.join([sys.executable, str(path.with_suffix(".py")), "prompt"])
        return await run_trial(command_task(rows, command, ()), **options)

    return run


def asleep(seconds: str) -> list[str]:
    """Return the processes that sleep for so long."""
    return [str(path.parent) for path in Path("/proc").glob("[0-9]*/cmdline") if seconds in _words(path)]


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").split("\0")
    except OSError:
        return []


def starting(way: str, seconds: str) -> str:
    return f"SLEEP = ['sleep', '{seconds}']\n{STARTED[way]}\n"


@pytest.mark.parametrize("way", STARTED)
async def test_a_process_that_was_left_running_is_ended_and_noted(
    run_agent: RunAgent, way: str, seconds: str
) -> None:
    ran = await run_agent(starting(way, seconds))
    assert ran.record.status is Status.ANSWERED
    assert asleep(seconds) == []
    assert trial_notes(ran.record) == ["the agent left a process running, which was ended: sleep"]


async def test_several_are_counted(run_agent: RunAgent, seconds: str) -> None:
    ran = await run_agent(starting("in a session of its own", seconds) * 3)
    assert asleep(seconds) == []
    assert trial_notes(ran.record) == ["the agent left 3 processes running, which were ended: sleep"]


async def test_nothing_is_noted_of_an_agent_that_leaves_nothing(run_agent: RunAgent) -> None:
    """A process that ends a moment after the agent is none that was left running."""
    ran = await run_agent("subprocess.Popen(['sleep', '0.02'], start_new_session=True)")
    assert trial_notes(ran.record) == []


async def test_processes_that_start_others_without_end_are_ended(run_agent: RunAgent, seconds: str) -> None:
    start = f"subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)"
    code = f"import subprocess, time\nwhile True: {start}; time.sleep(0.05)"
    await run_agent(
        f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True); time.sleep(0.3)"
    )
    assert asleep(seconds) == []


async def test_no_process_outlives_a_limit_of_time(run_agent: RunAgent, seconds: str) -> None:
    program = starting("in a session of its own", seconds) + "time.sleep(600)"
    ran = await run_agent(program, limits=TrialLimits(seconds=2))
    assert ran.record.status is Status.LIMIT
    assert asleep(seconds) == []


async def test_a_program_that_kills_its_whole_group_takes_nothing_with_it(
    run_agent: RunAgent, seconds: str
) -> None:
    program = starting("in a session of its own", seconds) + "os.killpg(0, 9)"
    ran = await run_agent(program)
    assert ran.record.reason == "the program was killed by SIGKILL"
    assert asleep(seconds) == []


@pytest.fixture
def others() -> Iterator[Callable[[], bool]]:
    """Return whether a process of somebody else's still runs."""
    import subprocess

    other = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield lambda: other.poll() is None
    other.kill()
    other.wait()


async def test_processes_of_others_are_left_alone(
    run_agent: RunAgent, others: Callable[[], bool], seconds: str
) -> None:
    await run_agent(starting("as a daemon", seconds))
    time.sleep(0.1)
    assert others()


async def test_processes_of_an_agent_that_kills_its_keeper_are_known_by_their_mark(
    run_agent: RunAgent, seconds: str
) -> None:
    program = starting("in a session of its own", seconds) + "os.kill(os.getppid(), 9)\ntime.sleep(600)"
    ran = await run_agent(program)
    assert ran.record.status is Status.EXECUTION_ERROR
    assert asleep(seconds) == []
