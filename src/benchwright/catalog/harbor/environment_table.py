"""Reads an environment table of task.toml: image, resources, network and variables of one container.

A field that is not supported is refused by its name. If the file sets no resources, Harbor sets no limits.
Benchwright then limits the container to 1 processor, 2 GiB of memory and 10 GiB of disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchwright.catalog.harbor.compose import AgentContainer, read_compose
from benchwright.catalog.harbor.settings import (
    Build,
    HealthCheck,
    TaskSettings,
    UnsupportedTask,
    parse_cpus,
    parse_megabytes,
    parse_seconds,
)
from benchwright.catalog.harbor.task_file import TASK_FILE_NAME, EnvironmentTable, HealthTable
from benchwright.sandbox.egress.hosts import NetworkAccess, host_problem

AGENT_SERVICE = "main"
"""The service name of the agent's container in a compose file."""

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_LOGS = ("VERIFIER_LOGS", "AGENT_LOGS", "ARTIFACTS")
_LOG_VARIABLES = {
    name: value
    for log, path in zip(_LOGS, ("/logs/verifier", "/logs/agent", "/logs/artifacts"), strict=True)
    for name, value in ((f"ENV_{log}_PATH", path), (f"HOST_{log}_PATH", "${LOGS}"))
}


def read_container_settings(table: EnvironmentTable, section: str, folder: Path, place: str) -> TaskSettings:
    """Return the settings of the container that a table describes. They do not contain the task's steps.

    `place`: the folder with the container's Dockerfile, relative to the task's `folder`.

    Raises:
        UnsupportedTask: If the table uses something unsupported. The message names the field.
        DatasetError: If a compose file is not YAML.
    """
    _refuse(table, section)
    cpus, memory_mb = table.cpus, _size(section, "memory", table.memory, table.memory_mb)
    agent = _of_compose(folder / place / "docker-compose.yaml", place, cpus, memory_mb)
    return TaskSettings(
        image=table.docker_image or agent.image,
        build=agent.build or _build(folder, place),
        build_seconds=parse_seconds(
            table.build_timeout_sec, 600.0, f"{TASK_FILE_NAME}: [{section}] build_timeout_sec"
        ),
        cpus=agent.cpus if cpus is None else parse_cpus(cpus, f"{TASK_FILE_NAME}: [{section}] cpus"),
        memory_mb=memory_mb or agent.memory_mb,
        storage_mb=_size(section, "storage", table.storage, table.storage_mb) or 10240,
        network=_network(table, section, agent),
        environment={**agent.environment, **parse_variables(table.env, section)},
        directory=table.workdir or agent.directory,
        command=agent.command,
        entrypoint=agent.entrypoint,
        user=agent.user,
        names=agent.names,
        neighbours=agent.neighbours,
        health=read_health_check(table.healthcheck, f"[{section}.healthcheck]"),
    )


def read_network_setting(mode: str | None, hosts: list[str] | None, section: str) -> NetworkAccess | None:
    """Return the network that a table states by a network mode or a list of hosts.

    Return None if the table has neither.

    Raises:
        UnsupportedTask: If the mode is unknown or contradicts the list, or an entry in the list is not a
            host.
    """
    if mode is None and not hosts:
        return None
    if mode == "allowlist" or (mode is None and hosts):
        return _hosts(hosts or [], section)
    if mode not in ("public", "no-network"):
        raise UnsupportedTask(f"{TASK_FILE_NAME}: [{section}] network_mode = {mode!r} is not known here")
    if hosts:
        raise UnsupportedTask(
            f"{TASK_FILE_NAME}: [{section}] network_mode = {mode!r} contradicts allowed_hosts"
        )
    return mode == "public"


def parse_variables(table: Mapping[str, str], section: str) -> dict[str, str]:
    """Return the table's environment variables.

    A value `${NAME:-default}` becomes the default, since the host's environment is not used.

    Raises:
        UnsupportedTask: If a reference has no default.
    """
    return {name: _without_host(value, section, name) for name, value in table.items()}


def read_health_check(table: HealthTable | None, where: str) -> HealthCheck | None:
    """Convert a health check to settings. Return None if the table has no health check.

    Raises:
        UnsupportedTask: If a time is out of range, or there are no retries.
    """
    if table is None:
        return None
    where = f"{TASK_FILE_NAME}: {where}"
    if table.retries < 1 or not 0 <= table.start_period_sec <= 24 * 3600:
        raise UnsupportedTask(f"{where} must have retries and a start_period_sec of up to a day")
    return HealthCheck(
        table.command,
        interval=parse_seconds(table.interval_sec, 5.0, f"{where} interval_sec"),
        timeout=parse_seconds(table.timeout_sec, 30.0, f"{where} timeout_sec"),
        start_period=table.start_period_sec,
        start_interval=parse_seconds(table.start_interval_sec, 5.0, f"{where} start_interval_sec"),
        retries=table.retries,
    )


def _refuse(table: EnvironmentTable, section: str) -> None:
    reasons = {
        f"os = {table.os!r}": table.os.lower() != "linux" and "containers are Linux here",
        f"gpus = {table.gpus}": table.gpus and "containers get no GPU here",
        "tpu": table.tpu and "containers get no TPU here",
        "mcp_servers": table.mcp_servers and "the agent here works in a terminal and speaks no MCP",
        "skills_dir": table.skills_dir and "the agent here has no skills",
    }
    for field, reason in reasons.items():
        if reason:
            raise UnsupportedTask(f"{TASK_FILE_NAME}: [{section}] {field} is not supported: {reason}")


def _of_compose(path: Path, place: str, cpus: float | None, memory_mb: int | None) -> AgentContainer:
    if not path.is_file():
        return AgentContainer()
    given = {"CPUS": f"{cpus or 1:g}", "MEMORY": f"{memory_mb or 2048}M", "CONTEXT_DIR": "."}
    return read_compose(path, AGENT_SERVICE, place, {**_LOG_VARIABLES, **given})


def _build(folder: Path, place: str) -> Build | None:
    return Build(place) if (folder / place / "Dockerfile").is_file() else None


def _size(section: str, name: str, older: str | float | None, newer: float | None) -> int | None:
    sizes = [
        parse_megabytes(value, f"{TASK_FILE_NAME}: [{section}] {key}")
        for key, value in ((name, older), (f"{name}_mb", newer))
        if value is not None
    ]
    if len(set(sizes)) > 1:
        raise UnsupportedTask(f"{TASK_FILE_NAME}: [{section}] {name} and {name}_mb contradict each other")
    return sizes[0] if sizes else None


def _network(table: EnvironmentTable, section: str, agent: AgentContainer) -> NetworkAccess:
    given = read_network_setting(table.network_mode, table.allowed_hosts, section)
    if given is None:
        given = table.allow_internet is not False
    if isinstance(given, tuple) and agent.neighbours:
        raise UnsupportedTask(
            f"{TASK_FILE_NAME}: [{section}] network_mode = 'allowlist' is not supported for a task "
            "with several containers"
        )
    return given if agent.has_network else False


def _hosts(hosts: list[str], section: str) -> tuple[str, ...]:
    """Return the hosts in lower case, without duplicates. Each host must be a host name or `*.domain`."""
    named = tuple(dict.fromkeys(host.strip().lower() for host in hosts))
    for host in named:
        if problem := host_problem(host.removeprefix("*.")):
            raise UnsupportedTask(f"{TASK_FILE_NAME}: [{section}] allowed_hosts: {host!r} is {problem}")
    return named


def _without_host(value: str, section: str, name: str) -> str:
    def default(found: re.Match[str]) -> str:
        if found[2] is None:
            raise UnsupportedTask(
                f"{TASK_FILE_NAME}: [{section}.env] {name} refers to {found[0]} of this machine, which "
                "tasks cannot read"
            )
        return found[2]

    return _VARIABLE.sub(default, value)
