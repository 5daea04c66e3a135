"""Converts task.toml to settings. If a step omits a value, the task's value applies (harbor 0.25.0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from benchwright.catalog.harbor.environment_table import (
    AGENT_SERVICE,
    parse_variables,
    read_container_settings,
    read_health_check,
    read_network_setting,
)
from benchwright.catalog.harbor.settings import (
    Artifact,
    CollectCommand,
    Step,
    TaskSettings,
    UnsupportedTask,
    parse_seconds,
)
from benchwright.catalog.harbor.task_file import (
    TASK_FILE_NAME,
    AgentTable,
    ArtifactTable,
    CollectTable,
    StepTable,
    TaskTable,
    VerifierTable,
    task_table,
)
from benchwright.sandbox.egress.hosts import NetworkAccess

ARTIFACTS_FOLDER = "/logs/artifacts"
"""Folder that is always an artifact, even if the task does not list it."""

_REFUSED_FILES = {
    ".harborignore": "its rules are not known here",
    "trajectory.json": "the agent here cannot go on with a conversation of another",
}


def read_settings(task: dict[str, Any], folder: Path) -> TaskSettings:
    """Return the settings of a task, from its parsed task.toml.

    Raises:
        UnsupportedTask: If the task uses something unsupported. The message names the field.
        DatasetError: If a compose file is not YAML.
    """
    table = task_table(task)
    reader = _Reader(
        table, folder, read_container_settings(table.environment, "environment", folder, "environment")
    )
    steps = tuple(reader.steps())
    rewards = table.multi_step_reward_strategy or "mean"
    if rewards not in ("mean", "final"):
        raise UnsupportedTask(f"{TASK_FILE_NAME}: multi_step_reward_strategy = {rewards!r} is not known here")
    return msgspec.structs.replace(
        reader.main,
        solution_environment=parse_variables(table.solution.env, "solution"),
        steps=steps,
        rewards=rewards,
    )


class _Reader:
    """Reads the steps of one task."""

    def __init__(self, table: TaskTable, folder: Path, main: TaskSettings) -> None:
        self._table = table
        self._folder = folder
        self.main = main
        self._services = {"", *(one.name for one in main.neighbours)}

    def steps(self) -> Iterator[Step]:
        self._refuse_files("")
        if not self._table.steps:
            yield self._step(StepTable(""))
            return
        seen: set[str] = set()
        for one in self._table.steps:
            _check_name(one.name, seen)
            self._refuse_files(f"steps/{one.name}")
            yield self._step(one)

    def _step(self, step: StepTable) -> Step:
        agents, verifiers = (step.agent, self._table.agent), (step.verifier, self._table.verifier)
        where = f"steps/{step.name} " if step.name else ""
        separate = self._separate(step)
        return Step(
            name=step.name,
            agent_seconds=_agent_seconds(agents, where),
            agent_user=_user(agents),
            agent_network=self._network(agents, "agent"),
            health=read_health_check(step.healthcheck, f"{where}healthcheck"),
            tests=() if separate and separate[1] else self._tests(step.name),
            test_seconds=_test_seconds(step, self._table, where),
            test_environment={
                **parse_variables(self._table.verifier.env, "verifier"),
                **parse_variables(step.verifier.env, f"{where}verifier"),
            },
            test_user=_user(verifiers),
            test_network=None if separate else self._network(verifiers, "verifier"),
            verifier=separate[0] if separate else None,
            collect=[self._collect(one) for verifier in reversed(verifiers) for one in verifier.collect],
            artifacts=self._artifacts([*self._table.artifacts, *step.artifacts]),
            least=_least(step.min_reward),
        )

    def _separate(self, step: StepTable) -> tuple[TaskSettings, bool] | None:
        """Return the settings of the tests' separate container, and True if its image contains the tests.

        Return None if the tests run in the agent's container.
        """
        own, tasks = step.verifier, self._table.verifier
        modes = [_mode(own), _mode(tasks)]
        if "separate" not in modes or modes[0] == "shared":
            return None
        resources = own.environment or tasks.environment or self._table.environment
        opened = _network((own, tasks), "verifier")

        def of(image: str | None, place: str) -> TaskSettings:
            table = msgspec.structs.replace(resources, docker_image=image)
            found = read_container_settings(table, "verifier.environment", self._folder, place)
            return found if opened is None else msgspec.structs.replace(found, network=opened)

        places = [(tasks.environment, "tests")]
        if step.name:
            places.insert(0, (own.environment, f"steps/{step.name}/tests"))
        for given, place in places:
            if given is not None and given.docker_image:
                return of(given.docker_image, place), True
            if any((self._folder / place / name).is_file() for name in ("Dockerfile", "docker-compose.yaml")):
                return of(None, place), True
        return of(self._table.environment.docker_image, "environment"), False

    def _tests(self, step: str) -> tuple[str, ...]:
        places = ("tests", f"steps/{step}/tests") if step else ("tests",)
        if not any((self._folder / place / "test.sh").is_file() for place in places):
            raise UnsupportedTask(
                f"there is no {places[-1]}/test.sh beside {TASK_FILE_NAME}, and no image that brings it"
            )
        return tuple(place for place in places if (self._folder / place).is_dir())

    def _network(self, tables: Sequence[AgentTable | VerifierTable], section: str) -> NetworkAccess | None:
        chosen = _network(tables, section)
        if chosen not in (None, self.main.network) and self.main.neighbours:
            raise UnsupportedTask(
                f"{TASK_FILE_NAME}: [{section}] network_mode changes the network of a task with several containers, "
                "which is not supported here"
            )
        return chosen

    def _collect(self, table: CollectTable) -> CollectCommand:
        seconds = parse_seconds(
            table.timeout_sec, 60.0, f"{TASK_FILE_NAME}: [[verifier.collect]] timeout_sec"
        )
        service = self._service(table.service, "[[verifier.collect]]")
        return CollectCommand(table.command, service, seconds, _name(table.user))

    def _artifacts(self, entries: Sequence[str | ArtifactTable]) -> list[Artifact]:
        tables = [ArtifactTable(one) if isinstance(one, str) else one for one in entries]
        artifacts = [self._artifact(one) for one in tables]
        if not any(one.source.rstrip("/") == ARTIFACTS_FOLDER and not one.service for one in artifacts):
            artifacts.insert(0, Artifact(ARTIFACTS_FOLDER))
        return artifacts

    def _artifact(self, table: ArtifactTable) -> Artifact:
        path = PurePosixPath(table.source)
        if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
            raise UnsupportedTask(
                f"{TASK_FILE_NAME}: artifacts: {table.source!r} must be an absolute path below /"
            )
        return Artifact(str(path), table.exclude, self._service(table.service or AGENT_SERVICE, "artifacts"))

    def _service(self, name: str, where: str) -> str:
        service = "" if name == AGENT_SERVICE else name
        if service not in self._services:
            raise UnsupportedTask(f"{TASK_FILE_NAME}: {where}: there is no service {name!r}")
        return service

    def _refuse_files(self, place: str) -> None:
        for name, reason in _REFUSED_FILES.items():
            if (self._folder / place / name).exists():
                raise UnsupportedTask(
                    f"{PurePosixPath(place, name)} beside {TASK_FILE_NAME} is not supported: {reason}"
                )


def _network(tables: Sequence[AgentTable | VerifierTable], section: str) -> NetworkAccess | None:
    modes = [read_network_setting(one.network_mode, one.allowed_hosts, section) for one in tables]
    return next((mode for mode in modes if mode is not None), None)


def _mode(table: VerifierTable) -> str | None:
    mode = table.environment_mode
    if mode not in (None, "shared", "separate"):
        raise UnsupportedTask(f"{TASK_FILE_NAME}: [verifier] environment_mode = {mode!r} is not known here")
    if mode == "shared" and table.environment is not None:
        raise UnsupportedTask(
            f"{TASK_FILE_NAME}: [verifier] environment_mode = 'shared' contradicts [verifier.environment]"
        )
    return mode or (None if table.environment is None else "separate")


def _agent_seconds(tables: Sequence[AgentTable], where: str) -> float | None:
    """Return the agent's time limit in seconds. None means no limit."""
    given = next((one.timeout_sec for one in tables if one.timeout_sec is not None), None)
    return (
        None
        if given is None
        else parse_seconds(given, 600.0, f"{TASK_FILE_NAME}: {where}[agent] timeout_sec")
    )


def _test_seconds(step: StepTable, task: TaskTable, where: str) -> float:
    """Return the time limit of tests in seconds. A step without a limit gets 600 s, whatever the task's limit."""
    table = step.verifier if step.name else task.verifier
    return parse_seconds(table.timeout_sec, 600.0, f"{TASK_FILE_NAME}: {where}[verifier] timeout_sec")


def _user(tables: Sequence[AgentTable | VerifierTable]) -> str:
    return _name(next((one.user for one in tables if one.user is not None), None))


def _name(user: str | int | None) -> str:
    return "" if user is None else str(user)


def _least(reward: float | dict[str, float] | None) -> dict[str, float]:
    if reward is None:
        return {}
    return reward if isinstance(reward, dict) else {"reward": reward}


def _check_name(name: str, seen: set[str]) -> None:
    """Check that a step's name is a valid folder name, and unique."""
    plain = (
        name.strip() and name.isprintable() and name not in (".", "..") and not set('/\\<>:"|?*') & set(name)
    )
    if not plain or name.casefold() in seen:
        raise UnsupportedTask(
            f"{TASK_FILE_NAME}: steps: {name!r} is not a name of a folder, or that of two steps"
        )
    seen.add(name.casefold())
