"""`run harbor:PATH` and `validate harbor:PATH`: tasks of a folder as a benchmark, with all rewards that they write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.catalog.containers.workshop import workshop
from tests.catalog.harbor.harbor_kit import script, write_task
from tests.sandbox.docker.conftest import running_engine
from tests.simulated import simulated_endpoint

from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.harbor.sealed_testing import SEALED_DEPARTURE

__all__ = ["running_engine", "workshop"]

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("workshop")]

SEVERAL = """\
#!/bin/bash
echo '{"right": '$(grep -c hello /app/hello.txt)', "short": 0.5}' > /logs/verifier/reward.json
"""


@pytest.fixture
def tasks(program: Program) -> Path:
    folder = program.directory / "my tasks"
    write_task(folder, "several", files={"tests/test.sh": SEVERAL})
    write_task(folder, "plain")
    write_task(folder, "gpus", "gpus = 1\n")
    return folder


@pytest.fixture
def model() -> Iterator[str]:
    scripts = [script("Task several", "echo hello > hello.txt"), script("Task plain", "echo bye > hello.txt")]
    with simulated_endpoint("--policy=refusal", "--model=m", scripts=scripts) as url:
        yield url


def test_a_folder_of_tasks_is_run_and_every_reward_is_in_the_result(
    program: Program, tasks: Path, model: str
) -> None:
    command = ("run", "harbor:my tasks", "--model", "m", "--base-url", model, "--output-dir", "out")
    ended = program.run(*command, "--json")
    (file,) = (program.directory / "out").glob("harbor-my tasks_m_*.json")
    result = json.loads(file.read_text())
    by_id = {sample["id"]: sample for sample in result["sample_results"]}
    assert by_id["several"]["details"]["rewards"] == {"right": 1.0, "short": 0.5}
    assert by_id["several"]["details"]["reward"] == 0.75
    assert by_id["plain"]["details"]["reward"] == 0.0
    assert {figure["name"]: figure["value"] for figure in result["figures"]} == {
        "reward right": 0.5,
        "reward short": 0.25,
    }, "over the two that were tested"
    assert result["protocol"]["departures"] == [
        SEALED_DEPARTURE,
        SEALED_NETWORK_DEPARTURE,
        f"the data in {tasks.name} is of no known revision",
    ]
    assert (ended.returncode, "1 of 3 trials failed" in ended.stderr) == (0, True)


def test_what_is_shown_of_a_task_names_its_rewards_or_why_it_could_not_be_run(
    program: Program, tasks: Path, model: str
) -> None:
    program.run("run", "harbor:my tasks", "--model", "m", "--base-url", model)
    run = program.only_run.name
    shown = " ".join(program.run("show", run, "--sample", "several").stdout.split())
    assert "The tests gave the reward 0.75 (the mean of right 1, short 0.5)." in shown
    assert "containers get no GPU here" in program.run("show", run, "--sample", "gpus").stdout


def test_solutions_and_doing_nothing_are_validated(program: Program, tasks: Path) -> None:
    process = program.start("validate", "harbor:my tasks", "--where", "id=plain", "--json")
    printed, errors = process.communicate(timeout=200)
    (entry,) = json.loads(printed)["validated"]
    assert (errors, entry["name"], entry["checks"], entry["failures"]) == ("", "harbor:my tasks", 2, [])


def test_a_folder_that_is_not_there_is_told_in_one_line(program: Program) -> None:
    ended = program.run("run", "harbor:nowhere", "--model", "m")
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "Error: There is no folder 'nowhere' with tasks. Name a task's folder, or one of many: harbor:PATH; or a "
        "dataset of Harbor's registry: harbor:NAME@VERSION."
    ]
