"""Tasks of Terminal-Bench 2: Harbor's layout (task.toml, instruction.md, environment/, solution/, tests/test.sh).

The defaults are Harbor's own: 600 s, 1 processor, 2 GiB, 10 GiB of disk, and a network unless the file closes it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from benchwright.catalog.harbor.compose import AgentContainer, read_compose
from benchwright.catalog.harbor.settings import (
    Build,
    Settings,
    UnsupportedTask,
    bounded_cpus,
    bounded_seconds,
    megabytes,
)
from benchwright.data.errors import DatasetParseError

FILE = "task.toml"
SERVICE = "main"
"""The agent's container in a compose file."""

_IGNORED = {
    "": {"version", "schema_version", "metadata", "task", "source", "artifacts"},
    "agent": {"timeout_sec"},
    "verifier": {"timeout_sec", "env"},
    "solution": {"env"},
    "environment": {
        *("build_timeout_sec", "docker_image", "cpus", "memory_mb", "memory", "storage_mb", "storage"),
        *("allow_internet", "network_mode", "env", "workdir", "gpu_types"),
    },
}
"""Keys that are read, or that change nothing here; any other one matters unless it is empty."""

_HARMLESS = {("environment", "os"): "linux", ("verifier", "environment_mode"): "shared"}
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def read_toml(path: Path) -> dict[str, Any]:
    """A task.toml as it stands.

    Raises:
        DatasetParseError: it is no TOML.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetParseError(f"{path}: {error}") from error


def labels(task: dict[str, Any]) -> dict[str, str]:
    """Difficulty and category."""
    metadata = task.get("metadata") or {}
    return {name: str(metadata.get(name) or "unknown") for name in ("difficulty", "category")}


def settings(task: dict[str, Any], folder: Path) -> Settings:
    """The settings of a task.

    Raises:
        Unsupported: it asks for what cannot be done here.
    """
    _refuse_unknown("", task, set(_IGNORED) - {""})
    parts = {name: _table(task, name) for name in _IGNORED if name}
    for name, part in parts.items():
        _refuse_unknown(name, part, set())
    environment = parts["environment"]
    compose = folder / "environment" / "docker-compose.yaml"
    agent = read_compose(compose, SERVICE, "environment", {}) if compose.is_file() else AgentContainer()
    return Settings(
        image=_text(environment, "docker_image") or agent.image,
        build=agent.build or _build(folder),
        build_seconds=_seconds(environment, "environment", "build_timeout_sec"),
        agent_seconds=_seconds(parts["agent"], "agent", "timeout_sec"),
        test_seconds=_seconds(parts["verifier"], "verifier", "timeout_sec"),
        cpus=bounded_cpus(environment.get("cpus", 1), f"{FILE}: [environment] cpus"),
        memory_mb=_size(environment, "memory", 2048),
        storage_mb=_size(environment, "storage", 10240),
        network=_network(environment) and agent.network,
        environment={**agent.environment, **_variables(environment, "environment")},
        test_environment=_variables(parts["verifier"], "verifier"),
        solution_environment=_variables(parts["solution"], "solution"),
        directory=_text(environment, "workdir") or agent.directory,
        command=agent.command,
        entrypoint=agent.entrypoint,
        user=agent.user,
        names=agent.names,
        neighbours=agent.neighbours,
    )


def _table(task: dict[str, Any], name: str) -> dict[str, Any]:
    table = task.get(name) or {}
    if not isinstance(table, dict):
        raise UnsupportedTask(f"{FILE}: {name} must be a table")
    return table


def _refuse_unknown(section: str, table: dict[str, Any], besides: set[str]) -> None:
    for key, value in table.items():
        if key in _IGNORED[section] or key in besides or not value:
            continue
        if _HARMLESS.get((section, key)) != value:
            where = f"[{section}] {key}" if section else key
            raise UnsupportedTask(f"{FILE}: {where} = {str(value)[:60]!r} is not supported here")


def _build(folder: Path) -> Build | None:
    return Build("environment") if (folder / "environment" / "Dockerfile").is_file() else None


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise UnsupportedTask(f"{FILE}: {key} must be a text, and is {value!r}")
    return value


def _seconds(table: dict[str, Any], section: str, key: str) -> float:
    return bounded_seconds(table.get(key), 600.0, f"{FILE}: [{section}] {key}")


def _size(environment: dict[str, Any], name: str, default: int) -> int:
    key = name if environment.get(name) is not None else f"{name}_mb"
    return megabytes(environment.get(key, default), f"{FILE}: [environment] {key}")


def _network(environment: dict[str, Any]) -> bool:
    mode = environment.get("network_mode")
    if mode is None:
        return environment.get("allow_internet", True) is not False
    if mode not in ("public", "no-network"):
        raise UnsupportedTask(f"{FILE}: [environment] network_mode = {mode!r} is not supported here")
    return bool(mode == "public")


def _variables(table: dict[str, Any], section: str) -> dict[str, str]:
    """Environment variables; `${NAME:-default}` is its default, as nothing of this machine's environment gets in."""
    variables = table.get("env") or {}
    if not isinstance(variables, dict):
        raise UnsupportedTask(f"{FILE}: [{section}.env] must be a table")
    return {str(name): _without_host(str(value), section, name) for name, value in variables.items()}


def _without_host(value: str, section: str, name: str) -> str:
    def default(found: re.Match[str]) -> str:
        if found[2] is None:
            raise UnsupportedTask(
                f"{FILE}: [{section}.env] {name} refers to {found[0]} of this machine, which tasks cannot read"
            )
        return found[2]

    return _VARIABLE.sub(default, value)
