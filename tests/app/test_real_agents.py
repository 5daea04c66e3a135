"""Real agents, installed from npm and PyPI: each does one task on the host and one in a container without a network.

The model is simulated and plays a script in the agent's own dialect. What the journal says of requests and tokens must
be what the server's own log says. Agents are installed once, into `.venv-agents`; some 1.5 GB, three minutes.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.app.app_kit import Program, scores, trials
from tests.catalog.containers.workshop import WORKSHOP, workshop
from tests.catalog.terminal_bench.terminal_kit import HELLO, SOLVE_HELLO, write_harbor
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import docker
from tests.simulated import simulated_endpoint

from benchwright.records import TrialRecord
from benchwright.runs.journal import read_body

__all__ = ["running_engine", "workshop"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

INSTALLED = Path(__file__).parents[2] / ".venv-agents"
TASK = "Write the word benchwright into the file made.txt."
SOLVE = "echo benchwright > made.txt"
SECONDS = 600
"""How long a command may take: these programs need seconds to start, and minutes on a busy machine."""


class Agent(NamedTuple):
    """How a model that knows an agent's tools does a task: by `tool` with the command as `argument`.

    `opening` is what the first message of the user holds, where that is not the task; `before` are answers of the model
    that the agent's own history begins with.
    """

    name: str
    dialect: str
    tool: str = ""
    argument: str = "command"
    opening: str | None = None
    before: int = 0

    def script(self, task: str, command: str, file: str) -> dict[str, Any]:
        """The script of a model that runs the command, or writes the file, and is done."""
        done = {"role": "assistant", "content": "The file is written."}
        text = command.removeprefix("echo ").partition(" > ")[0].strip('"')
        calls = {
            "aider": [{"role": "assistant", "content": f"{file}\n```\n{text}\n```\n"}],
            "mini-swe-agent": [self.call(command), self.call("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")],
        }.get(self.name, [self.call(command), done])
        return {"prompt": self.opening or task.rpartition('"')[2], "replies": [*[done] * self.before, *calls]}

    def call(self, command: str) -> dict[str, Any]:
        """An answer that gives a command."""
        function = {
            "name": self.tool,
            "arguments": json.dumps({self.argument: command, "description": "Write"}),
        }
        if self.name in ("codex", "mini-swe-agent"):
            function["arguments"] = json.dumps({self.argument: command})
        call = {"id": f"call_{len(command)}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


AGENTS = (
    Agent("claude-code", "messages", "Bash"),
    Agent("codex", "responses", "exec_command", "cmd", opening="<environment_context>"),
    Agent("opencode", "chat", "bash"),
    Agent("mini-swe-agent", "chat", "bash"),
    Agent("aider", "chat", opening="Act as an expert software developer"),
)
ON_HOST = (
    *AGENTS,
    Agent("qwen-code", "chat", "run_shell_command", opening="This is the Qwen Code", before=1),
    Agent("gemini-cli", "gemini", "run_shell_command", opening="<session_context>"),
)


@pytest.fixture
def installed(program: Program) -> Program:
    """The program, in whose home agents are installed as in all of these tests."""
    INSTALLED.mkdir(exist_ok=True)
    program.home.mkdir(exist_ok=True)
    (program.home / "agents").symlink_to(INSTALLED)
    program.forked = False
    return program


def install(program: Program, name: str) -> None:
    """Installs an agent as its user does; without the network the test is skipped, but under CI it fails."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed (Debian and Ubuntu: apt-get install npm)")
    ended = finish(program.start("agents", "install", name))
    if ended.returncode and not os.environ.get("CI"):
        pytest.skip(f"{name} cannot be installed: {ended.stderr.strip().splitlines()[-1]}")
    assert ended.returncode == 0, ended.stderr


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = process.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(program: Program, script: dict[str, Any], *options: str) -> tuple[TrialRecord, list[dict[str, Any]]]:
    """Runs a command with one trial; returns the trial, and the answers to generate in the server's log."""
    log = program.directory / "server.jsonl"
    with simulated_endpoint("--policy=refusal", "--log", str(log), scripts=[script]) as base_url:
        ended = finish(program.start(*options, "--model", "sim", "--base-url", base_url, "-q"))
    assert ended.returncode == 0, ended.stderr
    (trial,) = trials(program.only_run)
    answers = [json.loads(line) for line in log.read_text().splitlines()]
    return trial, [one for one in answers if one["complete"] and one["tokens"]]


def check_counted(trial: TrialRecord, answers: Sequence[dict[str, Any]], dialect: str) -> None:
    """Requests and tokens are those of the server's log, exactly, and all are in the agent's own dialect."""
    counted = sorted((one.usage.prompt_tokens, one.usage.completion_tokens) for one in trial.requests)
    assert counted == sorted((one["prompt_tokens"], one["tokens"]) for one in answers)
    assert {one.dialect for one in trial.requests} == {dialect}


def artifacts(program: Program, trial: TrialRecord) -> dict[str, Any]:
    return read_body(program.only_run, trial).artifacts


@pytest.mark.parametrize("agent", ON_HOST, ids=lambda agent: agent.name)
def test_an_agent_does_a_task_on_the_host(installed: Program, agent: Agent) -> None:
    install(installed, agent.name)
    installed.write("rows.jsonl", json.dumps({"question": TASK, "answer": "The file is written."}) + "\n")
    script = agent.script(TASK, SOLVE, "made.txt")
    trial, answers = run(
        installed, script, "eval", "--agent", agent.name, "-d", "rows.jsonl", "--scorer", "exact"
    )
    check_counted(trial, answers, agent.dialect)
    kept = artifacts(installed, trial)
    assert kept["files"]["made.txt"].strip() == "benchwright", kept
    assert kept["agent"].startswith(f"{agent.name} ")


@pytest.mark.usefixtures("running_engine", "workshop")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_does_a_task_in_a_container(installed: Program, agent: Agent) -> None:
    install(installed, agent.name)
    image = with_libraries(installed, agent)
    environment = (
        f'docker_image = "{image}"\nworkdir = "/app"\nmemory = "2G"\nstorage = "512M"\nallow_internet = false'
    )
    sections = {"environment": environment, "agent": f"timeout_sec = {SECONDS}.0"}
    root = write_harbor(installed.directory / "tasks", sections=sections).parent
    script = agent.script(HELLO, SOLVE_HELLO, "hello.txt")
    trial, answers = run(
        installed, script, "run", "terminal_bench", "--option", f"path={root}", "--agent", agent.name
    )
    (score,) = scores(installed.only_run)
    assert score.value == 1.0, artifacts(installed, trial)
    check_counted(trial, answers, agent.dialect)


def with_libraries(program: Program, agent: Agent) -> str:
    """The workshop with the C libraries of a usual image, which a program of npm needs."""
    programs = sorted(program.home.glob(f"agents/{agent.name}-*/node_modules/*/bin/opencode"))
    programs += sorted(program.home.glob(f"agents/{agent.name}-*/node_modules/@anthropic-ai/*/claude"))
    if not programs:
        return WORKSHOP
    listed = subprocess.run(["ldd", str(programs[0])], capture_output=True, text=True, check=True).stdout
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        lines = [f"FROM {WORKSHOP}"]
        libraries = re.findall(r"(/\S+) \(0x", listed)
        beside = Path(next(one for one in libraries if "libc.so" in one)).with_name("libgcc_s.so.1")
        for found in dict.fromkeys([*libraries, str(beside)]):  # glibc loads the last when a thread ends
            name = Path(found).name
            archive.add(os.path.realpath(found), name)
            lines.append(f"COPY {name} {found}")
        text = "\n".join(lines).encode()
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    image = f"benchwright-stand-in/workshop-with-libraries:{agent.name}"
    docker("build", "--tag", image, "-", stdin=packed.getvalue())
    return image
