"""`benchwright pack`: install, look at, validate, write and run bench packs."""

from __future__ import annotations

import importlib
from typing import Any

import click

COMMANDS = {
    "run": "benchwright.cli.pack_run:command",
    "install": "benchwright.cli.pack_install:install",
    "update": "benchwright.cli.pack_install:update",
    "uninstall": "benchwright.cli.pack_install:uninstall",
    "list": "benchwright.cli.pack_install:listing",
    "info": "benchwright.cli.pack_info:info",
    "validate": "benchwright.cli.pack_info:validate",
    "init": "benchwright.cli.pack_info:init",
    "verifiers": "benchwright.cli.pack_verifiers:command",
}

EXAMPLES = """\b
Examples:
  benchwright pack init ./my-pack --language python
  benchwright pack validate ./my-pack
  benchwright pack install ./my-pack.tar.gz
  benchwright pack run my-pack --model my-model --base-url http://localhost:8000/v1
"""


class PackGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group("pack", cls=PackGroup, epilog=EXAMPLES)
def command(**_: Any) -> None:
    """Install, inspect, validate, write and run bench packs of Bench Protocol v1."""
