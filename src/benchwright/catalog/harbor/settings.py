"""Settings of a task, for all formats of task folders. They are known before the task's containers start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.records import Record
from benchwright.sandbox.egress.hosts import NetworkAccess

MAX_TIME_LIMIT_SECONDS = 24 * 3600.0


class UnsupportedTask(Exception):
    """Raised for a task that needs something unsupported. The message names the file and the key."""


class Build(Record, frozen=True):
    """An image to build. `context`: a folder of the task. `dockerfile`: a path in that folder."""

    context: str
    dockerfile: str = "Dockerfile"
    arguments: dict[str, str] = {}
    target: str = ""


class Neighbour(Record, frozen=True):
    """A further container (service) of a task, which the agent's container reaches by its names.

    `waits_for_health`: True if the agent waits until this container is healthy.
    """

    name: str
    names: list[str]
    image: str | None = None
    build: Build | None = None
    command: list[str] | None = None
    entrypoint: list[str] | None = None
    environment: dict[str, str] = {}
    directory: str = ""
    user: str = ""
    health: dict[str, Any] | None = None
    waits_for_health: bool = False
    memory_mb: int = 2048
    cpus: float = 1.0


class HealthCheck(Record, frozen=True):
    """A health check: a command that must exit with 0 before the agent may begin. Times are in seconds.

    The check has failed after `retries` failures in a row. Failures within the first `start_period` do not
    count.
    """

    command: str
    interval: float = 5.0
    timeout: float = 30.0
    start_period: float = 0.0
    start_interval: float = 5.0
    retries: int = 3


class Artifact(Record, frozen=True):
    """A file or folder that is copied to the separate container of the tests, to the same path.

    `service`: the service from whose container it is copied; "" for the agent's container. `exclude`:
    patterns of entries to leave out.
    """

    source: str
    exclude: list[str] = []
    service: str = ""


class CollectCommand(Record, frozen=True):
    """A command to run in a container after the agent's work, before artifacts are read. Its failure is ignored."""

    command: str
    service: str = ""
    seconds: float = 60.0
    user: str = ""


class Step(Record, frozen=True):
    """One step of a task: an instruction, the agent's work on it, and the step's tests.

    A task without steps is one step with an empty name.

    - `agent_user`, `test_user`: names of users; "" means the container's own user.
    - `agent_network`, `test_network`: networks; None means the network of the environment table.
    - `tests`: folders copied to the tests' path, in this order.
    - `same_shell`: True if the tests run in the agent's own shell.
    - `verifier`: a separate container for the tests, to which `artifacts` are copied; None means the agent's
      container.
    - `least`: minimum rewards. If a reward is below its minimum, the following steps are skipped.
    """

    name: str = ""
    agent_seconds: float | None = 600.0
    agent_user: str = ""
    agent_network: NetworkAccess | None = None
    health: HealthCheck | None = None
    tests: tuple[str, ...] = ("tests",)
    test_seconds: float = 600.0
    test_environment: dict[str, str] = {}
    test_user: str = ""
    same_shell: bool = False
    test_network: NetworkAccess | None = None
    verifier: TaskSettings | None = None
    collect: list[CollectCommand] = []
    artifacts: list[Artifact] = []
    least: dict[str, float] = {}


class TaskSettings(Record, frozen=True):
    """A task's containers and limits.

    - `problem`: the reason why the task cannot be run here; None if it can.
    - `image`: an existing image, which is preferred to a build.
    - `command`: the command that runs in addition to the agent, after the image's entrypoint. If it is empty,
      the container only waits.
    - `names`: host names by which neighbours reach the agent's container.
    - `rewards`: how several steps are combined: the `mean` of each reward, or the rewards of the `final`
      step.
    """

    image: str | None = None
    build: Build | None = None
    build_seconds: float = 600.0
    cpus: float = 1.0
    memory_mb: int = 2048
    storage_mb: int = 10240
    network: NetworkAccess = True
    environment: dict[str, str] = {}
    solution_environment: dict[str, str] = {}
    directory: str = ""
    command: list[str] = []
    entrypoint: list[str] | None = None
    user: str = ""
    parser: str = "reward"
    names: list[str] = []
    neighbours: list[Neighbour] = []
    health: HealthCheck | None = None
    steps: tuple[Step, ...] = (Step(),)
    rewards: Literal["mean", "final"] = "mean"
    problem: str | None = None


def settings_or_problem(
    read: Callable[[dict[str, Any], Path], TaskSettings], task: dict[str, Any], folder: Path
) -> TaskSettings:
    """Return the settings of a task. If the task uses something unsupported, return settings with only `problem` set.

    `read`: the function that reads the settings in the task's format.
    """
    try:
        return read(task, folder)
    except UnsupportedTask as problem:
        return TaskSettings(problem=str(problem))


def scale_time_limits(settings: TaskSettings, factor: float) -> TaskSettings:
    """Return the settings with all time limits of agents and tests multiplied by a factor."""
    steps = tuple(
        msgspec.structs.replace(
            step,
            agent_seconds=None if step.agent_seconds is None else step.agent_seconds * factor,
            test_seconds=step.test_seconds * factor,
        )
        for step in settings.steps
    )
    return msgspec.structs.replace(settings, steps=steps)


def parse_seconds(value: Any, default: float, where: str) -> float:
    """Return a time limit from a file in seconds. Return the default if the value is None.

    Raises:
        UnsupportedTask: If the value is not a number of seconds up to one day.
    """
    seconds = _number(default if value is None else value, where)
    if not 0 < seconds <= MAX_TIME_LIMIT_SECONDS:
        raise UnsupportedTask(
            f"{where} must lie between 0 and {MAX_TIME_LIMIT_SECONDS:g} s, and is {value!r}"
        )
    return seconds


def parse_cpus(value: Any, where: str) -> float:
    """Return a number of processors.

    Raises:
        UnsupportedTask: If the value is not a number from 0.01 to 1024.
    """
    cpus = _number(value, where)
    if not 0.01 <= cpus <= 1024:
        raise UnsupportedTask(f"{where} must be a number of processors, and is {value!r}")
    return cpus


def parse_megabytes(value: Any, where: str) -> int:
    """Return a size in MiB. The value is a number of MiB, or a text such as `2G`.

    Raises:
        UnsupportedTask: If the value has another form, or the size is below 16 MiB or above 1 TiB.
    """
    size = _from_text(value, where) if isinstance(value, str) else _number(value, where)
    if not 16 <= size <= 2**20:
        raise UnsupportedTask(f"{where} must lie between 16 MiB and 1 TiB, and is {value!r}")
    return int(size)


def _from_text(text: str, where: str) -> float:
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    factor = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}.get(number[-1:])
    try:
        return float(number[:-1]) * factor if factor else float(number) / 1024**2
    except ValueError:
        raise UnsupportedTask(f"{where} is not a size: {text!r}") from None


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise UnsupportedTask(f"{where} is not a number: {value!r}")
    try:
        return float(value)
    except ValueError:
        raise UnsupportedTask(f"{where} is not a number: {value!r}") from None
