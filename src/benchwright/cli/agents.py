"""`benchwright agents`: command-line agents, and how they are installed."""

from __future__ import annotations

import click

from benchwright.cli import completing
from benchwright.cli.grammar import Group
from benchwright.cli.options import json_option
from benchwright.cli.output import echo, print_json, print_table, say

EXAMPLES = """\b
Examples:
  benchwright agents
  benchwright agents install codex
"""

INSTALL_EXAMPLES = """\b
Examples:
  benchwright agents install codex mini-swe-agent
"""


@click.group("agents", cls=Group, epilog=EXAMPLES, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List and install the command-line agents that --agent can name.

    Your own recipes in BENCHWRIGHT_HOME/recipes are listed, too; docs/agents.md says how one is written.
    """
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list", epilog="\b\nExamples:\n  benchwright agents list --json\n")
@json_option
def listing(as_json: bool) -> None:
    """List the agents, as `benchwright agents` does."""
    _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    from benchwright.app.agents import known_agents
    from benchwright.reports.agents import AgentLine, render_agents

    found = known_agents()
    if as_json:
        print_json({"agents": found})
        return
    lines = [
        AgentLine(
            one.name,
            one.title,
            one.version,
            one.dialect,
            one.note,
            installed=one.installed is not None,
            installs=bool(one.packages),
        )
        for one in found
    ]
    print_table(render_agents(lines))


@command.command("install", epilog=INSTALL_EXAMPLES)
@click.argument("names", nargs=-1, required=True, metavar="NAME ...", shell_complete=completing.agents)
def installation(names: tuple[str, ...]) -> None:
    """Install agents under BENCHWRIGHT_HOME, in the versions that their recipes say.

    Packages of npm are installed without their scripts, packages of PyPI into an environment of their own.
    """
    from benchwright.app.agents import install_agents

    for one in install_agents(names, say):
        echo(f"{one.name} {one.version} is installed in {one.installed}.")
