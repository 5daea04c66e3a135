"""What is known of a task before its containers are started, whichever layout it came in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.records import Record
from benchwright.sandbox.egress.hosts import Network

LONGEST_SECONDS = 24 * 3600.0


class UnsupportedTask(Exception):
    """A task asks for what cannot be done here; the text names the file and the key."""


class Build(Record, frozen=True):
    """An image to build: `context` is a folder of the task, `dockerfile` a path in it."""

    context: str
    dockerfile: str = "Dockerfile"
    arguments: dict[str, str] = {}
    target: str = ""


class Neighbour(Record, frozen=True):
    """A container beside the agent's, reached by its names. `waits_for_health` holds the agent until it is healthy."""

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
    """A command that must end with 0 before an agent may begin. Times are in seconds.

    `retries` failures in a row are too many, but for those within the first `start_period`.
    """

    command: str
    interval: float = 5.0
    timeout: float = 30.0
    start_period: float = 0.0
    start_interval: float = 5.0
    retries: int = 3


class Artifact(Record, frozen=True):
    """A file or folder that tests in a container of their own find where it lay.

    `service` is the container that it comes from, "" for the agent's; what matches a pattern of `exclude` is left out.
    """

    source: str
    exclude: list[str] = []
    service: str = ""


class Collect(Record, frozen=True):
    """A command that is run in a container when the agent is done, before artifacts are taken; it may fail."""

    command: str
    service: str = ""
    seconds: float = 60.0
    user: str = ""


class Step(Record, frozen=True):
    """One instruction, the agent's work on it, and its tests. The only step of a task without steps has no name.

    Users are "" for the container's own; networks None for that of the environment. `tests` are the folders that are
    copied to the tests' place, in this order; with `same_shell` they run in the agent's own shell. With a `verifier`
    they run in a container of their own, to which `artifacts` are brought; without, in the agent's.

    The steps that follow are left out where a reward is less than `least` says.
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
    """A task's containers and limits; `problem` says why it cannot be run here, where that is so.

    `image` is one that exists somewhere, and is taken before one is built. `command` is what the container runs
    beside the agent, after the image's entrypoint; it only waits where that is empty.
    `names` are those by which neighbours reach the agent's container. `rewards` says what several steps are worth
    together: the `mean` of each reward, or those of the `final` step.
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
    """The settings of a task as a layout reads them; with a `problem` where it asks for what cannot be done here."""
    try:
        return read(task, folder)
    except UnsupportedTask as problem:
        return Settings(problem=str(problem))


def multiplied(settings: Settings, factor: float) -> Settings:
    """Settings with other time limits for agents and tests."""
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
    """A time limit as a file gives it.

    Raises:
        Unsupported: it is not a number of seconds up to a day.
    """
    seconds = _number(default if value is None else value, where)
    if not 0 < seconds <= LONGEST_SECONDS:
        raise UnsupportedTask(f"{where} must lie between 0 and {LONGEST_SECONDS:g} s, and is {value!r}")
    return seconds


def bounded_cpus(value: Any, where: str) -> float:
    """A number of processors.

    Raises:
        Unsupported: it is none.
    """
    cpus = _number(value, where)
    if not 0.01 <= cpus <= 1024:
        raise UnsupportedTask(f"{where} must be a number of processors, and is {value!r}")
    return cpus


def megabytes(value: Any, where: str) -> int:
    """A size in MiB, from a number of them or a text such as `2G`.

    Raises:
        Unsupported: it is neither, or below 16 MiB or above 1 TiB.
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
