"""Reads compose files of tasks: the agent's container and its neighbours (a subset of compose-spec).

A key that would change the environment of the model is supported or refused, never ignored. Only keys that
concern the host machine are ignored: published ports, names, restarts, logs, and log folders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from benchwright.catalog.harbor.compose_values import (
    LOG_FOLDER_PLACEHOLDER,
    check_mapping,
    internal_networks,
    optional_text,
    parse_duration,
    parse_pairs,
    read_host_names,
    read_limits,
    required_services,
    sort_services,
    split_volume,
    substitute_variables,
)
from benchwright.catalog.harbor.settings import (
    Build,
    Neighbour,
    UnsupportedTask,
    parse_cpus,
    parse_megabytes,
)
from benchwright.catalog.harbor.task_folders import read_yaml
from benchwright.records import Record

IDLE_COMMAND = re.compile(r"(?:^|\s)(?:sleep\s+(?:infinity|inf|\d+[smhd]?)|tail\s+-f\s+/dev/null)$")

LOG_FOLDERS = ("/logs", "/agent-logs")

_DONE = {
    *("build", "image", "command", "entrypoint", "environment", "working_dir", "user", "depends_on"),
    *("networks", "network_mode", "volumes", "healthcheck", "hostname", "container_name"),
    *("mem_limit", "cpus", "deploy"),
}
_PASSED_OVER = {
    *("ports", "expose", "restart", "stdin_open", "tty", "init", "labels", "logging", "platform"),
    *("pull_policy", "stop_signal", "stop_grace_period", "cap_drop", "attach", "annotations"),
}


class AgentContainer(Record, frozen=True):
    """The agent's container in a compose file, and its neighbours in the order in which they start."""

    image: str | None = None
    build: Build | None = None
    command: list[str] = []
    entrypoint: list[str] | None = None
    environment: dict[str, str] = {}
    directory: str = ""
    user: str = ""
    has_network: bool = True
    cpus: float = 1.0
    memory_mb: int = 2048
    names: list[str] = []
    neighbours: list[Neighbour] = []


def read_compose(path: Path, agent: str, folder: str, variables: Mapping[str, str]) -> AgentContainer:
    """Read the containers in a compose file.

    `agent`: the name of the agent's service. `folder`: the folder of the task that contains the file.
    `variables`: values of the variables in the file.

    Raises:
        UnsupportedTask: If the file uses something unsupported. The message names the service and the key.
        DatasetError: If the file is not YAML.
    """
    try:
        return _read(check_mapping(read_yaml(path), path.name), path.name, agent, folder, variables)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise UnsupportedTask(f"{path.name} is not written as compose files are: {error}") from None


def _read(
    document: dict[str, Any], file: str, agent: str, folder: str, variables: Mapping[str, str]
) -> AgentContainer:
    document = substitute_variables(document, variables)
    reader = _Reader(file, folder, document)
    services = check_mapping(document.get("services"), f"{file}: services")
    if agent not in services:
        raise UnsupportedTask(f"{file}: there is no service {agent!r}")
    parts = {name: check_mapping(part, f"{file}: {name}") for name, part in services.items()}
    for name, part in parts.items():
        reader.refuse_unknown(name, part)
    healthy = {one for name, part in parts.items() for one in required_services(file, name, part)}
    others = [name for name in sort_services(file, parts) if name != agent]
    neighbours = [reader.neighbour(name, parts[name], name in healthy) for name in others]
    reader.check_volumes(parts)
    return reader.agent(agent, parts[agent], neighbours)


class _Reader:
    """Reads the services of one compose file."""

    def __init__(self, file: str, folder: str, document: Mapping[str, Any]) -> None:
        self._file = file
        self._folder = folder
        self._internal = internal_networks(file, document)

    def agent(self, name: str, part: Mapping[str, Any], neighbours: list[Neighbour]) -> AgentContainer:
        command = self._words(name, part, "command")
        return AgentContainer(
            image=optional_text(part.get("image")),
            build=self._build(name, part),
            command=[] if not command or IDLE_COMMAND.search(" ".join(command)) else command,
            entrypoint=self._words(name, part, "entrypoint"),
            environment=self._environment(name, part),
            directory=optional_text(part.get("working_dir")) or "",
            user=optional_text(part.get("user")) or "",
            has_network=self._network(name, part),
            cpus=self._cpus(name, part),
            memory_mb=self._memory(name, part),
            names=read_host_names(name, part),
            neighbours=neighbours,
        )

    def neighbour(self, name: str, part: Mapping[str, Any], awaited: bool) -> Neighbour:
        if optional_text(part.get("network_mode")) not in (None, "bridge"):
            raise self._problem(name, "network_mode")
        build, image = self._build(name, part), optional_text(part.get("image"))
        if build is None and image is None:
            raise UnsupportedTask(f"{self._file}: {name} has neither image nor build")
        return Neighbour(
            name=name,
            names=read_host_names(name, part),
            image=None if build else image,
            build=build,
            command=self._words(name, part, "command"),
            entrypoint=self._words(name, part, "entrypoint"),
            environment=self._environment(name, part),
            directory=optional_text(part.get("working_dir")) or "",
            user=optional_text(part.get("user")) or "",
            health=self._health(name, part),
            waits_for_health=awaited,
            memory_mb=self._memory(name, part),
            cpus=self._cpus(name, part),
        )

    def refuse_unknown(self, name: str, part: Mapping[str, Any]) -> None:
        for key, value in part.items():
            if value and key not in _DONE and key not in _PASSED_OVER and not key.startswith("x-"):
                raise self._problem(name, key)

    def check_volumes(self, parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Accept only log folders, anonymous volumes, and named volumes that a single service uses.

        All other volumes are refused. A volume that only one service uses needs no support: the container's
        own file system serves as well.
        """
        users: dict[str, str] = {}
        for name, part in parts.items():
            for volume in part.get("volumes") or ():
                source, target = split_volume(volume)
                if target.rstrip("/") in LOG_FOLDERS or source == LOG_FOLDER_PLACEHOLDER or not source:
                    continue
                if (
                    "/" in source
                    or source.startswith((".", "~", "$"))
                    or users.setdefault(source, name) != name
                ):
                    raise self._problem(name, f"volumes ({str(volume)[:80]})")

    def _problem(self, service: str, key: str) -> UnsupportedTask:
        return UnsupportedTask(f"{self._file}: {key} of the service {service!r} is not supported here")

    def _build(self, name: str, part: Mapping[str, Any]) -> Build | None:
        build = part.get("build")
        if build is None:
            return None
        if isinstance(build, str):
            build = {"context": build}
        build = check_mapping(build, f"{self._file}: build of {name}")
        for key, value in build.items():
            if value and key not in (
                "context",
                "dockerfile",
                "args",
                "target",
                "tags",
                "labels",
                "platforms",
            ):
                raise self._problem(name, f"build.{key}")
        context = PurePosixPath(self._folder, optional_text(build.get("context")) or ".")
        dockerfile = optional_text(build.get("dockerfile")) or "Dockerfile"
        if any(
            ".." in PurePosixPath(path).parts or str(path).startswith("/") for path in (context, dockerfile)
        ):
            raise self._problem(name, "build outside of the task's folder")
        target = optional_text(build.get("target")) or ""
        return Build(str(context), dockerfile, parse_pairs(build.get("args"), self._file), target)

    def _words(self, name: str, part: Mapping[str, Any], key: str) -> list[str] | None:
        value = part.get(key)
        if value is None:
            return None
        try:
            return shlex.split(value) if isinstance(value, str) else [str(word) for word in value]
        except (ValueError, TypeError):
            raise self._problem(name, key) from None

    def _environment(self, name: str, part: Mapping[str, Any]) -> dict[str, str]:
        return parse_pairs(part.get("environment"), f"{self._file}: environment of {name}")

    def _network(self, name: str, part: Mapping[str, Any]) -> bool:
        mode = optional_text(part.get("network_mode"))
        if mode not in (None, "none", "bridge"):
            raise self._problem(name, f"network_mode {mode!r}")
        joined = set(part.get("networks") or ("default",))
        return mode != "none" and not joined <= self._internal

    def _memory(self, name: str, part: Mapping[str, Any]) -> int:
        value = part.get("mem_limit", read_limits(part).get("memory"))
        return 2048 if value is None else parse_megabytes(value, f"{self._file}: memory of {name}")

    def _cpus(self, name: str, part: Mapping[str, Any]) -> float:
        value = part.get("cpus", read_limits(part).get("cpus"))
        return 1.0 if value is None else parse_cpus(value, f"{self._file}: cpus of {name}")

    def _health(self, name: str, part: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the service's health check in the engine's format, with times in nanoseconds.

        Return None if the service has no health check.
        """
        given = part.get("healthcheck")
        if given is None:
            return None
        given = check_mapping(given, f"{self._file}: healthcheck of {name}")
        test = given.get("test")
        test = ["CMD-SHELL", test] if isinstance(test, str) else test
        if given.get("disable") or not isinstance(test, list):
            return {"Test": ["NONE"]}
        times = {"Interval": "interval", "Timeout": "timeout", "StartPeriod": "start_period"}
        durations = {key: parse_duration(given.get(theirs)) for key, theirs in times.items()}
        return {"Test": [str(word) for word in test], "Retries": int(given.get("retries") or 3), **durations}
