"""`benchwright agents`: lists and installs command-line agents."""

from __future__ import annotations

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Group
from benchwright.cli.options import json_option
from benchwright.cli.output import echo, print_json, print_table, say

EXAMPLES = """\b
Examples:
  benchwright agents
  benchwright agents list --latest
  benchwright agents install codex
"""

LIST_EXAMPLES = """\b
Examples:
  benchwright agents list --json
  benchwright agents list --latest
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


@command.command("list", epilog=LIST_EXAMPLES)
@click.option("--latest", is_flag=True, help="Ask npm and pip for the newest versions.")
@json_option
def list_agents(latest: bool, as_json: bool) -> None:
    """List the agents, as `benchwright agents` does.

    "Tried" shows with which version the tests of the real agent last passed, and when; --json names what these tests
    verified. Only with --latest, npm and pip are asked for newer versions. A recipe keeps its version until you write
    another recipe.
    """
    _list(as_json=as_json, latest=latest)


def _list(*, as_json: bool, latest: bool = False) -> None:
    from benchwright.app.agents import known_agents
    from benchwright.reports.agents import AgentLine, render_agents

    found = known_agents(latest=latest)
    untold = [one.name for one in found if one.packages and one.newest is None] if latest else []
    if untold:
        say(f"npm or pip told no newest version of {', '.join(untold)}: is this machine offline?")
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
            is_installable=bool(one.packages),
            last_verified=f"{one.seen.version}, {one.seen.date}"
            if one.seen is not None and one.seen.points
            else "",
            newest_version="same" if one.newest == one.version else one.newest or "",
        )
        for one in found
    ]
    print_table(render_agents(lines))


@command.command("install", epilog=INSTALL_EXAMPLES)
@click.argument(
    "names", nargs=-1, required=True, metavar="NAME ...", shell_complete=completions.complete_agents
)
def install(names: tuple[str, ...]) -> None:
    """Install agents under BENCHWRIGHT_HOME, in the versions that their recipes say.

    Packages of npm are installed without their scripts, packages of PyPI into an environment of their own.
    """
    from benchwright.app.agents import install_agents

    for one in install_agents(names, say):
        echo(f"{one.name} {one.version} is installed in {one.installed}.")
