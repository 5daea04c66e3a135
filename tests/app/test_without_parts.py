"""Without what only Linux has, evaluations, load levels and resumed runs work, and `doctor` says what is lost.

Parts are taken away from real processes; see `tests/without_parts/sitecustomize.py`.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.app.app_kit import GrowingJournal, Program, finished, settings
from tests.app.eval_kit import ROWS as ROWS_OF_PROJECT
from tests.app.eval_kit import Project
from tests.app.pack_kit import write_pack
from tests.simulated import simulated_endpoint

from benchwright.app.doctor.findings import Finding
from benchwright.app.doctor.system_parts import SYSTEM_PARTS, check_system_parts

FOLDER = Path(__file__).parents[1] / "without_parts"
SOURCE = Path(__file__).parents[2] / "src"
ROWS = 40


def taking_away() -> ModuleType:
    """The module that takes parts away, loaded so that it takes none from this process."""
    found = importlib.util.spec_from_file_location("taking_away", FOLDER / "sitecustomize.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


PARTS: tuple[str, ...] = taking_away().PARTS
EACH = [
    pytest.param(",".join(PARTS), id="everything"),
    *(pytest.param(part, id=part, marks=pytest.mark.slow) for part in PARTS),
]
LOSSES = {
    "TCP_INFO": {"time of arrival"},
    "affinity": {"allowed processors"},
    "boot clock": {"suspension clock"},
    "kernel timer": {"kernel timer"},
    "mallopt": {"freed memory"},
    "pidfd": {"processes of agents", "processes of runs", "sandbox", "pack processes"},
    "prctl": {"processes of agents", "sandbox", "pack processes"},
    "proc": {"processes of agents", "processes of runs", "sandbox", "pack processes"},
    "urgency": {"real-time priority"},
    "docker program": {"docker program"},
}
"""The subjects of `doctor` that are missing without a part. Of other parts nothing is lost that a user could miss."""


def environment_without(parts: str) -> dict[str, str]:
    """The environment of a process without these parts, which are separated by commas."""
    return {"PYTHONPATH": f"{FOLDER}:{SOURCE}", "WITHOUT": parts}


@pytest.fixture
def lacking(program: Program) -> Program:
    """A program on a system that has none of the parts."""
    program.environment |= environment_without(",".join(PARTS))
    return program


def missing(program: Program) -> set[str]:
    """The subjects of the findings of `doctor` on this machine that are missing."""
    code = (
        "from benchwright.app.doctor import containers, programs, system_parts\n"
        "checks = (system_parts.check_system_parts, programs.check_sandbox, programs.check_pack_processes,\n"
        "          containers.check_docker_program)\n"
        "print(*(found.subject for check in checks for found in check() if found.state == 'missing'), sep='|')"
    )
    ended = run_python(program, code)
    assert ended.returncode == 0, ended.stderr
    return {*ended.stdout.strip().split("|")} - {""}


@pytest.mark.parametrize("parts", EACH)
def test_an_evaluation_and_a_load_level_run(program: Program, echo: str, parts: str) -> None:
    program.environment |= environment_without(parts)
    summary = program.summary(*program.evaluating(program.rows(ROWS), echo))
    assert summary.targets[0].statuses == {"scored": ROWS}
    ended = program.run(
        *("load", "--synthetic-input", "5", "--synthetic-output", "3", "--model", "m", "--base-url", echo),
        *("--rate", "50", "--requests", "10", "--json"),
    )
    assert ended.returncode == 0, ended.stderr
    (level,) = json.loads(ended.stdout)["levels"]
    assert (level["state"], level["requests"]) == ("finished", 10)


@pytest.mark.parametrize("parts", EACH)
def test_a_killed_run_is_resumed_and_loses_no_finished_trial(program: Program, parts: str) -> None:
    program.environment |= environment_without(parts)
    with simulated_endpoint(*settings(first_token="constant:100")) as base_url:
        command = program.evaluating(program.rows(ROWS), base_url, *settings(batch_size=4))
        process = program.start(*command)
        GrowingJournal(program).wait_for(8, process)
        process.kill()
        process.communicate()
        kept = {trial.key for trial in finished(program.only_run)}
        summary = program.summary(*command)
    assert summary.targets[0].statuses == {"scored": ROWS}
    assert len(finished(program.only_run)) == ROWS
    assert kept <= {trial.key for trial in finished(program.only_run)}


@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.slow) for part in PARTS])
def test_doctor_says_what_is_lost_without_a_part(program: Program, part: str) -> None:
    whole = missing(program)
    program.environment |= environment_without(part)
    assert missing(program) - whole == LOSSES.get(part, set()) - whole


def test_doctor_says_everything_that_is_lost_and_finds_nothing_broken(lacking: Program) -> None:
    ended = lacking.run("doctor", "--json")
    assert ended.returncode == 0, ended.stdout
    found = {one["subject"]: one for one in json.loads(ended.stdout)["findings"]}
    for subject in set().union(*LOSSES.values()):
        assert found[subject]["state"] == "missing"
        assert found[subject]["needed_for"]
    assert found["container engine"]["state"] == "missing"


def test_a_part_that_is_missing_is_one_line_that_says_what_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [part._replace(is_available=lambda: False) for part in SYSTEM_PARTS]
    monkeypatch.setattr("benchwright.app.doctor.system_parts.SYSTEM_PARTS", parts)
    told = list(check_system_parts())
    assert [finding.subject for finding in told] == [part.name for part in SYSTEM_PARTS]
    assert all(finding.state == "missing" and finding.needed_for for finding in told)


def test_a_system_with_every_part_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [part._replace(is_available=lambda: True) for part in SYSTEM_PARTS]
    monkeypatch.setattr("benchwright.app.doctor.system_parts.SYSTEM_PARTS", parts)
    (told,) = check_system_parts()
    assert isinstance(told, Finding)
    assert (told.subject, told.state) == ("system", "ok")
    assert all(part.name in told.said for part in SYSTEM_PARTS)


def test_model_written_code_is_refused_in_one_line(lacking: Program) -> None:
    code = "from benchwright.sandbox import choose_isolation_method; choose_isolation_method()"
    ended = run_python(lacking, code)
    error = ended.stderr.splitlines()[-1]
    assert ended.returncode == 1
    assert error.endswith(
        "UserError: model-written code only runs in a sandbox, and none works on this machine: "
        "it needs Linux, and there is no prctl, pidfd_open, /proc here"
    )


def test_without_bubblewrap_model_written_code_is_isolated_by_another_method(program: Program) -> None:
    program.environment |= environment_without("bubblewrap")
    code = (
        "import asyncio; from benchwright.sandbox import LocalSandbox, choose_isolation_method\n"
        "ended = asyncio.run(LocalSandbox().run(['python3', '-c', 'print(6 * 7)']))\n"
        "print(choose_isolation_method().name, ended.stdout.decode())"
    )
    ended = run_python(program, code)
    assert ended.stdout.split() in (["namespaces", "42"], ["limits", "42"]), ended.stderr


def run_python(program: Program, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in the program's environment."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=program.environment,
        cwd=program.directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_agent_s_program_runs_unsupervised(project: Project, echo: str) -> None:
    program = project.program
    program.environment |= environment_without(",".join(PARTS))
    agent = program.write("agent.py", "import json, sys; print(json.load(sys.stdin)['user_prompt'])")
    ended = program.run(
        *("eval", "-d", "data.jsonl", "--eval-fn", "rewards:right", "--model", "m", "--base-url", echo),
        *("--agent-command", f"{sys.executable} {agent}", "--json"),
    )
    assert ended.returncode == 0, ended.stderr
    (target,) = json.loads(ended.stdout)["targets"]
    assert target["statuses"] == {"scored": ROWS_OF_PROJECT}


def test_a_pack_is_refused_in_one_line(lacking: Program) -> None:
    pack = write_pack(lacking.directory / "pack")
    ended = lacking.run("pack", "run", str(pack), "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "Error: packs cannot run on this machine: it needs Linux, and there is no prctl, pidfd_open, /proc here"
    ]
