"""Reads tasks of Terminal-Bench 1: task.yaml, Dockerfile or docker-compose.yaml, and scripts.

The solution is solution.sh or solution.yaml; the tests are run-tests.sh and tests/. Defaults are those of the
official harness: 360 s for the agent, 60 s for the tests, and an open network, as in compose files. The
harness limits neither memory nor processors nor disk. Benchwright sets limits of 2 GiB, 1 processor and 10
GiB, unless the compose file sets others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.catalog.harbor.compose import AgentContainer, read_compose
from benchwright.catalog.harbor.settings import Build, Step, TaskSettings, UnsupportedTask, parse_seconds
from benchwright.catalog.harbor.task_folders import read_yaml
from benchwright.catalog.terminal_bench.parsers import LOG_PARSERS
from benchwright.data.errors import DatasetValidationError

TASK_FILE_NAME = "task.yaml"
AGENT_SERVICE = "client"
"""The service name of the agent's container in a compose file."""
TESTS_FOLDER = "/tests"

COMPOSE_VARIABLES = {
    "T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME": "client",
    "T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME": "client",
    "T_BENCH_TASK_DOCKER_NAME_PREFIX": "task",
    "T_BENCH_TEST_DIR": TESTS_FOLDER,
    "T_BENCH_TASK_LOGS_PATH": "${LOGS}",
    "T_BENCH_CONTAINER_LOGS_PATH": "/logs",
    "T_BENCH_TASK_AGENT_LOGS_PATH": "${LOGS}",
    "T_BENCH_CONTAINER_AGENT_LOGS_PATH": "/agent-logs",
}
"""Mapping from variables that the harness substitutes in compose files to their values.

Log folders on the host do not exist here.
"""


def read_task(path: Path) -> dict[str, Any]:
    """Read a task.yaml.

    Raises:
        DatasetError: If the file is not YAML, or has no instruction.
    """
    task = read_yaml(path)
    if not isinstance(task, dict) or not isinstance(task.get("instruction"), str):
        raise DatasetValidationError(f"{path}: there is no instruction")
    return task


def read_labels(task: dict[str, Any]) -> dict[str, str]:
    """Return a task's labels: difficulty and category."""
    return {
        "difficulty": str(task.get("difficulty") or "unknown"),
        "category": str(task.get("category") or "software_engineering"),
    }


def read_settings(task: dict[str, Any], folder: Path) -> TaskSettings:
    """Return the settings of a task, from its parsed task.yaml.

    Raises:
        UnsupportedTask: If the task uses something unsupported.
    """
    parser = str(task.get("parser_name") or "pytest")
    if parser not in LOG_PARSERS:
        raise UnsupportedTask(
            f"{TASK_FILE_NAME}: parser_name {parser!r} is not supported here; known: {', '.join(LOG_PARSERS)}"
        )
    compose = folder / "docker-compose.yaml"
    if compose.is_file():
        agent = read_compose(compose, AGENT_SERVICE, ".", COMPOSE_VARIABLES)
    elif (folder / "Dockerfile").is_file():
        agent = AgentContainer(build=Build("."), environment={"TEST_DIR": TESTS_FOLDER})
    else:
        raise UnsupportedTask("there is neither docker-compose.yaml nor Dockerfile")
    same_shell = bool(task.get("run_tests_in_same_shell"))
    return TaskSettings(
        image=None if agent.build else agent.image,
        build=agent.build,
        cpus=agent.cpus,
        memory_mb=agent.memory_mb,
        network=agent.has_network,
        environment=agent.environment,
        directory=agent.directory,
        command=agent.command,
        entrypoint=agent.entrypoint,
        user=agent.user,
        parser=parser,
        names=agent.names,
        neighbours=agent.neighbours,
        build_seconds=1800.0,
        steps=(
            Step(
                agent_seconds=_seconds(task, "max_agent_timeout_sec", 360.0),
                test_seconds=_seconds(task, "max_test_timeout_sec", 60.0),
                test_user="" if same_shell else "0",
                same_shell=same_shell,
            ),
        ),
    )


def _seconds(task: dict[str, Any], key: str, default: float) -> float:
    return parse_seconds(task.get(key), default, f"{TASK_FILE_NAME}: {key}")
