"""The options that every benchmark with an agent in containers takes."""

from __future__ import annotations

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.agent import Commands
from benchwright.records import Record

CONTAINERS = 4
_COMMANDS: tuple[Commands, ...] = ("auto", "tools", "fences")


class AgentOptions(Record, frozen=True):
    """The values of the options that `agent_options` names."""

    containers: int
    max_turns: int
    command_seconds: int
    commands: Commands


def read_agent_options(options: Options, max_turns: int, command_seconds: int) -> AgentOptions:
    """The options as given; the numbers are the defaults.

    Raises:
        UserError: a value cannot be used.
    """
    chosen = options.choice("commands", _COMMANDS)
    return AgentOptions(
        containers=options.integer("containers", CONTAINERS, 1),
        max_turns=options.integer("max_turns", max_turns, 1),
        command_seconds=options.integer("command_seconds", command_seconds, 1),
        commands=next(one for one in _COMMANDS if one == chosen),
    )
