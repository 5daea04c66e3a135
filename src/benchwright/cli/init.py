"""`benchwright init`: creates starter files."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.command_help import Group
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright init agent             in the working directory
  benchwright init agent my-agent    in a new directory
"""


@click.group("init", cls=Group, epilog=EXAMPLES)
def command() -> None:
    """Create starter files."""


@command.command("agent", epilog=EXAMPLES)
@click.argument("directory", type=click.Path(path_type=Path), default=".")
def init_agent(directory: Path) -> None:
    """Create an agent with a tool, an eval function and ten rows in DIRECTORY (default: here)."""
    from benchwright.app.agent_scaffold import write_agent_scaffold

    for path in write_agent_scaffold(directory):
        echo(str(path))
    echo("Evaluate it with your model or `benchwright simulate --tools`:", err=True)
    echo(
        "  benchwright eval -m agent:UnitAgent -d data.jsonl --eval-fn rewards:right_number \\\n"
        "      --model MODEL --base-url http://localhost:8000/v1",
        err=True,
    )
