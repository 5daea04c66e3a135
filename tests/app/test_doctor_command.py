"""`doctor`: what it says of this machine, and of one where something is missing, broken or silent."""

from __future__ import annotations

import json
import re
import socket
import time
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.app.doctor import programs
from benchwright.app.doctor.findings import Finding, MachineCheck, run_checks
from benchwright.sandbox.docker.ownership import PROCESS_LABEL, unique_process_id

__all__ = ["running_engine"]


def examined(program: Program, **environment: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by their subjects."""
    ended = program.run("doctor", "--json", **environment)
    told = json.loads(ended.stdout)
    assert told["broken"] == any(one["state"] == "problem" for one in told["findings"])
    assert ended.returncode == int(told["broken"]), ended.stderr
    return ended.returncode, {one["subject"]: one for one in told["findings"]}


@pytest.fixture
def silent_engine(tmp_path: Path) -> Iterator[str]:
    """The address of an engine that accepts connections and never answers."""
    path = tmp_path / "silent.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield f"unix://{path}"


def test_a_machine_where_all_is_well_has_no_problem(program: Program, running_engine: None) -> None:
    code, found = examined(program)
    assert code == 0
    assert found["container engine"]["state"] == "ok"
    assert found["home directory"]["said"].startswith(f"{program.home}: 0 runs, ")
    assert {
        "Python",
        "extra docker",
        "memory",
        "open files",
        "clock",
        "loopback",
        "sandbox",
        "pack processes",
        "images",
    } < set(found)


def test_it_is_said_in_lines_with_what_to_do(program: Program) -> None:
    ended = program.run("doctor", PATH=str(program.directory), DOCKER_HOST="unix:///nowhere/docker.sock")
    assert "missing  Node.js" in ended.stdout
    assert "only needed for bench packs written in JavaScript" in map(str.strip, ended.stdout.splitlines())
    assert "→ Install Node.js 18 or newer" in ended.stdout


def test_no_engine_is_missing_and_not_broken(program: Program) -> None:
    nothing = {"DOCKER_HOST": "unix:///nowhere/docker.sock", "PATH": str(program.directory)}
    code, found = examined(program, **nothing)
    assert code == 0
    for subject in ("container engine", "docker program", "Node.js"):
        assert found[subject]["state"] == "missing"
        assert found[subject]["needed_for"]
        assert found[subject]["what_to_do"]
    assert "unix:///nowhere/docker.sock" in found["container engine"]["said"]


def test_an_engine_that_was_stopped_is_a_problem(program: Program, tmp_path: Path) -> None:
    left = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(left))
    code, found = examined(program, DOCKER_HOST=f"unix://{left}")
    assert code == 1
    assert found["container engine"]["state"] == "problem"
    assert "Start it" in found["container engine"]["what_to_do"]


def test_an_engine_that_never_answers_is_waited_for_a_few_seconds(
    program: Program, silent_engine: str
) -> None:
    began = time.monotonic()
    code, found = examined(program, DOCKER_HOST=silent_engine)
    assert time.monotonic() - began < 20
    assert code == 1
    assert found["container engine"]["said"] == f"nothing answers at {silent_engine} within 6 s"
    assert found["loopback"]["state"] == "ok"


def test_an_address_that_is_none_is_told_as_that(program: Program) -> None:
    code, found = examined(program, DOCKER_HOST="nonsense")
    assert code == 1
    assert "No engine can be reached at" in found["container engine"]["said"]


def test_a_home_that_cannot_be_written_to_is_a_problem(program: Program) -> None:
    file = program.write("file", "no directory")
    code, found = examined(program, BENCHWRIGHT_HOME=str(program.directory / file / "home"))
    assert code == 1
    assert found["home directory"]["state"] == "problem"
    assert "BENCHWRIGHT_HOME" in found["home directory"]["what_to_do"]


def test_looking_changes_nothing(program: Program) -> None:
    examined(program)
    assert not program.home.exists()


def test_no_password_of_a_proxy_or_engine_is_shown(program: Program) -> None:
    ended = program.run(
        "doctor",
        https_proxy="http://somebody:hunter2hunter2@proxy:3128",
        http_proxy="somebody:hunter2hunter2@proxy:3129",
        DOCKER_HOST="tcp://somebody:hunter2hunter2@127.0.0.1:9",
    )
    assert "https:// through proxy:3128, http:// through proxy:3129" in ended.stdout
    assert "tcp://***@127.0.0.1:9" in ended.stdout
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_proxy_that_cannot_be_used_is_a_problem(program: Program) -> None:
    code, found = examined(program, https_proxy="socks5://proxy:1080")
    assert code == 1
    assert "is not an http:// address" in found["proxies"]["said"]


def test_what_a_killed_run_left_is_counted(program: Program, running_engine: None) -> None:
    place, boot, pid, started = unique_process_id().split(" ")
    dead = f"{PROCESS_LABEL}={place} {boot} {pid} {int(started) + 1}"
    for _ in range(5):  # a run of another test may remove it before it is looked at
        container = docker("create", "--label", dead, IMAGE, "true")
        _, found = examined(program)
        if docker("ps", "--all", "--quiet", "--no-trunc", "--filter", f"id={container}"):
            docker("rm", container)
            break
    assert found["left behind"]["state"] == "ok"
    assert re.match(r"\d+ containers? of runs that were killed", found["left behind"]["said"])


def test_every_extra_is_looked_for() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())
    assert set(programs.USES_BY_EXTRA) == set(project["project"]["optional-dependencies"]) - {"all", "dev"}


def test_an_extra_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(programs, "version", absent)
    found = {finding.subject: finding for finding in programs.check_extras()}
    assert found["extra hub"].state == "missing"
    assert found["extra hub"].what_to_do == "pip install 'benchwright[hub]'"


def test_checks_run_beside_one_another_and_cannot_hang() -> None:
    def slow() -> list[Finding]:
        time.sleep(0.5)
        return [Finding("slow", "done")]

    def broken() -> list[Finding]:
        raise RuntimeError("out of order")

    def hanging() -> list[Finding]:
        time.sleep(3600)
        return []

    checks = [
        MachineCheck("slow", slow),
        MachineCheck("slow", slow),
        MachineCheck("broken", broken),
        MachineCheck("hanging", hanging, 1.0),
    ]
    began = time.monotonic()
    found = run_checks(checks)
    assert time.monotonic() - began < 3
    assert [(finding.subject, finding.state) for finding in found] == [
        ("slow", "ok"),
        ("slow", "ok"),
        ("broken", "problem"),
        ("hanging", "problem"),
    ]
    assert found[2].said == "this check failed: RuntimeError: out of order"
    assert found[3].said == "this check did not finish within 1 s"
