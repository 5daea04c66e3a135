"""The settings of a task, known before its containers start, for all layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.records import Record
from benchwright.sandbox.egress.hosts import Network

LONGEST_SECONDS = 24 * 3600.0


class UnsupportedTask(Exception):
    """A task needs something that is not supported here. The message names the file and the key."""


class Build(Record, frozen=True):
    """An image to build: `context` is a folder of the task, `dockerfile` a path in it."""

    context: str
    dockerfile: str = "Dockerfile"
    arguments: dict[str, str] = {}
    target: str = ""


class Neighbour(Record, frozen=True):
    """A container beside the agent's, reached by its names.

    With `waits_for_health`, the agent waits until it is healthy.
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


class Health(Record, frozen=True):
    """A command that must exit with 0 before an agent may begin. Times are in seconds.

    After `retries` failures in a row the check has failed. Failures within the first `start_period` do not
    count.
    """

    command: str
    interval: float = 5.0
    timeout: float = 30.0
    start_period: float = 0.0
    start_interval: float = 5.0
    retries: int = 3


class Artifact(Record, frozen=True):
    """A file or folder that tests in a separate container find at its original path.

    `service` is its container, "" for the agent's. Entries that match a pattern of `exclude` are left out.
    """

    source: str
    exclude: list[str] = []
    service: str = ""


class Collect(Record, frozen=True):
    """A command to run in a container when the agent is done, before artifacts are taken. It may fail."""

    command: str
    service: str = ""
    seconds: float = 60.0
    user: str = ""


class Step(Record, frozen=True):
    """One instruction, the agent's work on it, and its tests.

    The only step of a task without steps has no name.

    The user "" is the container's own. The network None means the network of the environment's table. `tests`
    are the folders copied to the tests' path, in this order. With `same_shell`, they run in the agent's own
    shell. With a `verifier`, they run in a separate container, to which `artifacts` are copied. Without one,
    they run in the agent's. If a reward is below its minimum in `least`, the following steps are skipped.
    """

    name: str = ""
    agent_seconds: float | None = 600.0
    agent_user: str = ""
    agent_network: Network | None = None
    health: Health | None = None
    tests: tuple[str, ...] = ("tests",)
    test_seconds: float = 600.0
    test_environment: dict[str, str] = {}
    test_user: str = ""
    same_shell: bool = False
    test_network: Network | None = None
    verifier: Settings | None = None
    collect: list[Collect] = []
    artifacts: list[Artifact] = []
    least: dict[str, float] = {}


class Settings(Record, frozen=True):
    """A task's containers and limits. `problem` states why it cannot be run here; None if it can.

    `image` is an existing image, preferred to a build. `command` runs in the container beside the agent,
    after the image's entrypoint. If it is empty, the container only waits. Neighbours reach the agent's
    container by its `names`. `rewards` decides the result of several steps: the `mean` of each reward, or the
    rewards of the `final` step.
    """

    image: str | None = None
    build: Build | None = None
    build_seconds: float = 600.0
    cpus: float = 1.0
    memory_mb: int = 2048
    storage_mb: int = 10240
    network: Network = True
    environment: dict[str, str] = {}
    solution_environment: dict[str, str] = {}
    directory: str = ""
    command: list[str] = []
    entrypoint: list[str] | None = None
    user: str = ""
    parser: str = "reward"
    names: list[str] = []
    neighbours: list[Neighbour] = []
    health: Health | None = None
    steps: tuple[Step, ...] = (Step(),)
    rewards: Literal["mean", "final"] = "mean"
    problem: str | None = None


def settings_or_problem(
    read: Callable[[dict[str, Any], Path], Settings], task: dict[str, Any], folder: Path
) -> Settings:
    """Return the settings of a task, read by its layout.

    If the task needs something unsupported, set `problem`.
    """
    try:
        return read(task, folder)
    except UnsupportedTask as problem:
        return Settings(problem=str(problem))


def multiplied(settings: Settings, factor: float) -> Settings:
    """Return the settings with time limits of agents and tests multiplied by a factor."""
    steps = tuple(
        msgspec.structs.replace(
            step,
            agent_seconds=None if step.agent_seconds is None else step.agent_seconds * factor,
            test_seconds=step.test_seconds * factor,
        )
        for step in settings.steps
    )
    return msgspec.structs.replace(settings, steps=steps)


def bounded_seconds(value: Any, default: float, where: str) -> float:
    """Return a file's time limit in seconds, or the default if it is None.

    Raises:
        UnsupportedTask: If it is not a number of seconds up to a day.
    """
    seconds = _number(default if value is None else value, where)
    if not 0 < seconds <= LONGEST_SECONDS:
        raise UnsupportedTask(f"{where} must lie between 0 and {LONGEST_SECONDS:g} s, and is {value!r}")
    return seconds


def bounded_cpus(value: Any, where: str) -> float:
    """Return a number of processors.

    Raises:
        UnsupportedTask: If it is not a number from 0.01 to 1024.
    """
    cpus = _number(value, where)
    if not 0.01 <= cpus <= 1024:
        raise UnsupportedTask(f"{where} must be a number of processors, and is {value!r}")
    return cpus


def megabytes(value: Any, where: str) -> int:
    """Return a size in MiB, given as a number of MiB or a text such as `2G`.

    Raises:
        UnsupportedTask: If it is neither, or below 16 MiB or above 1 TiB.
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
