"""`benchwright init`: files to start from."""

from __future__ import annotations

from pathlib import Path

import click

EXAMPLES = """\b
Examples:
  benchwright init agent             into the working directory
  benchwright init agent my-agent    into a directory of its own
"""


@click.group("init", epilog=EXAMPLES)
def command() -> None:
    """Write files to start from."""


@command.command("agent")
@click.argument("directory", type=click.Path(path_type=Path), default=".")
def agent(directory: Path) -> None:
    """Write an agent with a tool, rewards and ten rows into DIRECTORY."""
    from benchwright.app.scaffold import write_agent

    for path in write_agent(directory):
        click.echo(path)
    click.echo("Evaluate it, with a model of yours or `benchwright simulate --tools`:", err=True)
    click.echo(
        "  benchwright eval -m agent:UnitAgent -d data.jsonl --eval-fn rewards:right_number \\\n"
        "      --model MODEL --base-url http://localhost:8000/v1",
        err=True,
    )
