"""Ctrl-C is heard whatever the user's code does: agents that block, tools that never return, scenarios that hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.app.app_kit import NOWHERE, Program, finished, trials
from tests.app.eval_kit import Project
from tests.app.pack_kit import Packs, faulty_pack
from tests.simulated import simulated_endpoint

from benchwright.records import Status

BLOCKS_FROM_ROW_2 = """
import time
from pathlib import Path


async def agent(row):
    if int(row["user_prompt"].removeprefix("word")) >= 2:
        Path("blocked").touch()
        time.sleep(1000)
    return row["user_prompt"]
"""

TOOLS = """
import time
from pathlib import Path

from fastmcp import FastMCP

mcp = FastMCP("slow")


@mcp.tool()
def think() -> str:
    Path("blocked").touch()
    time.sleep(1000)
    return "never"
"""

CALL = {"id": "1", "type": "function", "function": {"name": "think", "arguments": "{}"}}
CALLS_THE_TOOL = [{"prompt": "word", "replies": [{"role": "assistant", "tool_calls": [CALL]}]}]

HANGS = f"""#!{sys.executable}
import time
from pathlib import Path
Path("blocked").touch()
time.sleep(1000)
"""


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def ended(process: subprocess.Popen[str], within: float) -> str:
    """What was written to stderr by a program that was interrupted, and ends in so many seconds."""
    start = monotonic()
    _, stderr = process.communicate(timeout=60)
    assert monotonic() - start < within
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    return stderr


@pytest.fixture
def blocked(program: Program) -> Path:
    """A file that is there once the user's code does not return."""
    return program.directory / "blocked"


def eval_of(project: Project, *agent: str) -> list[str]:
    return [
        "eval",
        *agent,
        "-d",
        project.rows(4),
        "--eval-fn",
        "rewards:right",
        "--model",
        "m",
        "--base-url",
        NOWHERE,
    ]


def test_an_agent_that_holds_the_event_loop_up_is_told_and_ended(project: Project, blocked: Path) -> None:
    program = project.program
    program.write("blocks.py", BLOCKS_FROM_ROW_2)
    process = program.start(*eval_of(project, "-m", "blocks:agent"), "--no-probe", "--batch-size=1")
    wait_for(blocked, process)
    process.send_signal(signal.SIGINT)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    stderr = ended(process, within=8)
    assert "Stopping, but an agent, tool or grader holds the event loop up." in stderr
    assert "Stopped while the event loop was held up; finished trials are saved." in stderr
    assert [trial.sample for trial in finished(program.only_run)] == ["0", "1"], "the journal is whole"


def test_an_agent_in_a_process_is_told_to_end_by_the_first_signal(project: Project, blocked: Path) -> None:
    agent = project.program.directory / "hangs"
    agent.write_text(HANGS)
    os.chmod(agent, 0o755)
    process = project.program.start(*eval_of(project, "--agent-command", str(agent)), "--no-probe")
    wait_for(blocked, process)
    process.send_signal(signal.SIGINT)
    ended(process, within=15)


def test_a_scenario_is_given_its_abort_signal_by_the_first_signal(program: Program, blocked: Path) -> None:
    aborted = program.directory / "aborted"
    hangs = f"""
        require("fs").writeFileSync({str(blocked)!r}, "");
        input.abortSignal.addEventListener("abort", () =>
            require("fs").writeFileSync({str(aborted)!r}, String(input.abortSignal.reason.message)));
        return new Promise(() => {{}});
    """
    pack = Packs(program).directory / "pack"
    faulty_pack(pack, hangs=hangs)
    process = program.start(
        "pack",
        "run",
        str(pack),
        "--model",
        "m",
        "--base-url",
        NOWHERE,
        "--no-probe",
        "--mode",
        "full_parallel",
    )
    wait_for(blocked, process)
    process.send_signal(signal.SIGINT)
    ended(process, within=25)
    assert aborted.read_text() == "the run was stopped"


@pytest.fixture
def calling() -> Iterator[str]:
    with simulated_endpoint(scripts=CALLS_THE_TOOL) as url:
        yield url


def test_a_tool_that_never_returns_ends_its_trial_and_no_more(project: Project, calling: str) -> None:
    pytest.importorskip("fastmcp")
    program = project.program
    (program.directory / "tools").mkdir()
    program.write("tools/main.py", TOOLS)
    command = eval_of(project, "--mcp", "tools", "--trial-seconds", "1", "--limit", "2")
    command[command.index(NOWHERE)] = calling
    start = monotonic()
    done = program.run(*command)
    assert monotonic() - start < 20
    assert done.returncode == 0, done.stderr
    assert [trial.status for trial in trials(program.only_run)] == [Status.LIMIT] * 2
