"""Parses values in compose files: variables, pairs, names, volumes, durations, and the order of services."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from benchwright.catalog.harbor.settings import UnsupportedTask

LOG_FOLDER_PLACEHOLDER = "${LOGS}"
"""Placeholder for a log folder on this machine. No container gets such a folder."""

_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:?-)([^{}]*))?\}|(\w+))")


def substitute_variables(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace the variables in a value by the harness's `variables`.

    Any other variable becomes its default, or an empty text if it has no default, as if it were not set.
    """
    if isinstance(value, dict):
        return {str(key): substitute_variables(one, variables) for key, one in value.items()}
    if isinstance(value, list):
        return [substitute_variables(one, variables) for one in value]
    return _VARIABLE.sub(_replacement(variables), value) if isinstance(value, str) else value


def _replacement(variables: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    def replacement(found: re.Match[str]) -> str:
        if found[1]:
            return "$"
        value = variables.get(found[2] or found[5])
        if value is None or (found[3] == ":-" and not value):
            return found[4] or ""
        return value

    return replacement


def check_mapping(value: Any, what: str) -> dict[str, Any]:
    """Check that a value is a mapping, and return it.

    Raises:
        UnsupportedTask: If the value is no mapping. The message calls it `what`.
    """
    if not isinstance(value, dict):
        raise UnsupportedTask(f"{what} must be a mapping")
    return value


def optional_text(value: Any) -> str | None:
    """Return the value as text. None stays None."""
    return None if value is None else str(value)


def parse_pairs(value: Any, what: str) -> dict[str, str]:
    """Convert the compose forms `{NAME: value}` and `[NAME=value]` to a mapping from names to values.

    A name without a value, which compose would take from the host's environment, is left out.
    """
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items() if one is not None}
    if value is None:
        return {}
    if not isinstance(value, list):
        raise UnsupportedTask(f"{what} must be a mapping or a list")
    split = (str(one).partition("=") for one in value)
    return {name: one for name, given, one in split if given}


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_limits(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the section `deploy.resources.limits` of a service."""
    for key in ("deploy", "resources", "limits"):
        following = part.get(key)
        if not isinstance(following, dict):
            return {}
        part = following
    return part


def read_host_names(name: str, part: Mapping[str, Any]) -> list[str]:
    """Return the host names by which other services reach this service."""
    networks = part.get("networks")
    aliases = [
        str(alias)
        for network in (networks.values() if isinstance(networks, dict) else ())
        for alias in (network or {}).get("aliases") or ()
    ]
    given = (name, optional_text(part.get("container_name")), optional_text(part.get("hostname")), *aliases)
    return list(dict.fromkeys(one for one in given if one))


def split_volume(volume: Any) -> tuple[str, str]:
    """Return the source and the target of a volume, given in short or long syntax.

    The source is "" if it is missing.
    """
    if isinstance(volume, dict):
        return str(volume.get("source") or ""), str(volume.get("target") or "")
    if str(volume).startswith(LOG_FOLDER_PLACEHOLDER):
        return LOG_FOLDER_PLACEHOLDER, str(volume)
    source, colon, rest = str(volume).partition(":")
    return (source, rest.partition(":")[0]) if colon else ("", source)


def internal_networks(file: str, document: Mapping[str, Any]) -> set[str]:
    """Return the names of the networks marked as internal, which have no access to the outside."""
    networks = check_mapping(document.get("networks") or {}, f"{file}: networks")
    return {name for name, part in networks.items() if isinstance(part, dict) and part.get("internal")}


def required_services(file: str, name: str, part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of services that must be healthy before this service starts.

    Raises:
        UnsupportedTask: If a dependency has another condition, such as the service's successful end.
    """
    depends = part.get("depends_on")
    for other, how in depends.items() if isinstance(depends, dict) else ():
        condition = (how or {}).get("condition", "service_started")
        if condition == "service_healthy":
            yield other
        elif condition != "service_started":
            raise UnsupportedTask(
                f"{file}: depends_on ({condition}) of the service {name!r} is not supported here"
            )


def sort_services(file: str, parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the names of the services. Each comes after the services on which it depends.

    Raises:
        UnsupportedTask: If a service depends on an undefined one, or on itself.
    """
    needed = {name: [str(one) for one in part.get("depends_on") or ()] for name, part in parts.items()}
    for name, others in needed.items():
        if missing := [one for one in others if one not in parts]:
            raise UnsupportedTask(f"{file}: {name} depends on {missing[0]!r}, which is not defined")
    try:
        return list(TopologicalSorter(needed).static_order())
    except CycleError:
        raise UnsupportedTask(f"{file}: its services depend on each other in a circle") from None


_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|h|m|s)")
_UNITS = {"h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def parse_duration(value: Any) -> int:
    """Convert a duration such as `1m30s` to nanoseconds.

    None becomes 0, which the engine takes as its default.
    """
    return int(sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(str(value or ""))))
