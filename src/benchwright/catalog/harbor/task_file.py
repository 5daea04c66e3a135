"""task.toml as plain data: all fields of Harbor's format up to schema version 1.4 (harbor 0.25.0).

`settings_reader` gives the fields their meaning. A field that is not in the format is refused, because a
later version of the format may give it a meaning.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.harbor.settings import UnsupportedTask
from benchwright.data.errors import DatasetParseError

TASK_FILE_NAME = "task.toml"


class TomlTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of the file's tables."""


class HealthTable(TomlTable, frozen=True):
    """A health check: the table `[environment.healthcheck]`, or that table of a step."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class EnvironmentTable(TomlTable, frozen=True):
    """A container: the table `[environment]` or `[verifier.environment]`.

    `memory`, `storage` and `allow_internet` are older names of fields.
    """

    build_timeout_sec: float = 600.0
    docker_image: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: float | None = None
    memory: str | float | None = None
    storage_mb: float | None = None
    storage: str | float | None = None
    gpus: int | None = None
    gpu_types: list[str] | None = None
    tpu: dict[str, Any] | None = None
    mcp_servers: list[dict[str, Any]] = []
    env: dict[str, str] = {}
    skills_dir: str | None = None
    healthcheck: HealthTable | None = None
    workdir: str | None = None
    allow_internet: bool | None = None
    network_mode: str | None = None
    allowed_hosts: list[str] | None = None


class AgentTable(TomlTable, frozen=True):
    """The agent's limits and user: the table `[agent]`."""

    timeout_sec: float | None = None
    user: str | int | None = None
    network_mode: str | None = None
    allowed_hosts: list[str] | None = None


class CollectTable(TomlTable, frozen=True):
    """A command to run before artifacts are read: an entry of `[[verifier.collect]]`."""

    command: str
    service: str = "main"
    timeout_sec: float = 60.0
    user: str | int | None = None


class VerifierTable(TomlTable, frozen=True):
    """The tests: the table `[verifier]`."""

    timeout_sec: float = 600.0
    env: dict[str, str] = {}
    user: str | int | None = None
    environment_mode: str | None = None
    environment: EnvironmentTable | None = None
    collect: list[CollectTable] = []
    network_mode: str | None = None
    allowed_hosts: list[str] | None = None


class SolutionTable(TomlTable, frozen=True):
    """The task's own solution: the table `[solution]`."""

    env: dict[str, str] = {}


class ArtifactTable(TomlTable, frozen=True):
    """One entry of `artifacts` in a task file.

    `destination`, Harbor's path for saving the artifact on the host, is ignored, because Benchwright saves no
    artifacts.
    """

    source: str
    destination: str | None = None
    exclude: list[str] = []
    service: str | None = None


class StepTable(TomlTable, frozen=True):
    """One entry of `[[steps]]`."""

    name: str
    agent: AgentTable = AgentTable()
    verifier: VerifierTable = VerifierTable()
    min_reward: float | dict[str, float] | None = None
    healthcheck: HealthTable | None = None
    artifacts: list[str | ArtifactTable] = []


class TaskTable(TomlTable, frozen=True):
    """The whole file. `task`, `metadata`, `source` and the versions only describe a task."""

    version: Any = None
    schema_version: Any = None
    task: dict[str, Any] | None = None
    metadata: dict[str, Any] = {}
    source: Any = None
    agent: AgentTable = AgentTable()
    verifier: VerifierTable = VerifierTable()
    environment: EnvironmentTable = EnvironmentTable()
    solution: SolutionTable = SolutionTable()
    artifacts: list[str | ArtifactTable] = []
    multi_step_reward_strategy: str | None = None
    steps: list[StepTable] | None = None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a task.toml.

    Raises:
        DatasetParseError: If the file is not TOML.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetParseError(f"{path}: {error}") from error


def read_labels(task: dict[str, Any]) -> dict[str, str]:
    """Return a task's labels: difficulty and category."""
    metadata = task.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return {name: str(known.get(name) or "unknown") for name in ("difficulty", "category")}


def task_table(task: dict[str, Any]) -> TaskTable:
    """Convert a parsed task.toml to its tables.

    Raises:
        UnsupportedTask: If a field is unknown, or has the wrong type. The message names the field.
    """
    try:
        return msgspec.convert(task, TaskTable, strict=False)
    except msgspec.ValidationError as error:
        raise UnsupportedTask(f"{TASK_FILE_NAME}: {_placed(str(error))}") from None


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*?)`(?: - at `(?P<path>.*?)`)?$")


def _placed(said: str) -> str:
    """Return msgspec's message with the field's position as written in the file: `[verifier] timeout_sec`."""
    if found := _UNKNOWN.match(said):
        path = f"{found['path'] or '$'}.{found['field']}"
        return f"{_place(path)} is not known here"
    what, _, path = said.partition(" - at ")
    what = what.replace(" | null", "")
    return f"{_place(path.strip('`'))}: {what[:1].lower()}{what[1:]}"


def _place(path: str) -> str:
    *tables, field = path.removeprefix("$").strip(".").split(".")
    return f"[{'.'.join(tables)}] {field}" if tables else field
