"""Names of the options for agents in containers. Imports nothing heavy, because `about` modules import it."""

from __future__ import annotations


def agent_options(task: str, max_turns: int, command_seconds: int) -> dict[str, str]:
    """Return a mapping from the name of each option for a benchmark's agent to its line of help.

    `max_turns` and `command_seconds` are the benchmark's defaults, which the help states.
    """
    return {
        "containers": "How many containers run at once (default: 4).",
        "max_turns": f"How many answers the model may give for one {task} (default: {max_turns}).",
        "command_seconds": f"How long one command may run (default: {command_seconds}).",
        "commands": "How the model gives commands: auto (default), tools, fences.",
    }


NETWORK_OPTIONS = {
    "network": "task (default): the network that the protocol gives; under a seal package mirrors and hosts that the "
    "task names, by a proxy that logs. open: the same unfiltered. none: no network.",
    "allow_hosts": "Further hosts that the proxy lets through, with commas between: HOST or *.DOMAIN (default: none).",
    "mirrors": "Package mirrors to use, as pypi=URL,npm=URL,go=URL; their hosts are let through (default: none).",
}
"""Mapping from the name of a network option to its help. For benchmarks whose containers may have network access."""
