"""`benchwright pack runtime`: the libraries that the desktop host supplies to every pack."""

from __future__ import annotations

import click

from benchwright.cli.command_help import Command, Group, option
from benchwright.cli.options import json_option, quiet_option
from benchwright.cli.output import echo, print_json, say

EXAMPLES = """\b
Examples:
  benchwright pack runtime
  benchwright pack runtime install
"""

INSTALL_EXAMPLES = """\b
Examples:
  benchwright pack runtime install
  benchwright pack runtime install --npm /opt/node/bin/npm
"""


@click.group("runtime", cls=Group, epilog=EXAMPLES, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show and install the libraries that JavaScript packs may import without bringing them along.

    They are those that the desktop host supplies: zod and smol-toml. @benchlocal/sdk and @benchlocal/core are built in.
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json)


@command.command("install", cls=Command, epilog=INSTALL_EXAMPLES)
@option("--npm", default="npm", metavar="PROGRAM", help="npm program to use.")
@json_option
@quiet_option
def install(npm: str, as_json: bool, quiet: bool) -> None:
    """Fetch the libraries with npm, in pinned versions whose digests are checked. None of their code runs."""
    from benchwright.home import pack_libraries_directory
    from benchwright.packs.libraries import install_libraries

    fetched = install_libraries(pack_libraries_directory(), npm, _silence if quiet else say)
    if as_json:
        _show(as_json=True)
        return
    for library in fetched:
        echo(f"{library.name} {library.version} is installed.")
    if not fetched:
        echo("All libraries are installed.")


def _silence(text: str) -> None:
    """Discard a message. It is passed on if only the result is wanted."""


def _show(*, as_json: bool) -> None:
    from benchwright.home import pack_libraries_directory
    from benchwright.packs.libraries import LIBRARIES, installed_version

    directory = pack_libraries_directory()
    rows = [(one, installed_version(one, directory)) for one in LIBRARIES]
    if as_json:
        libraries = [
            {"name": one.name, "version": one.version, "installed": found, "integrity": one.integrity}
            for one, found in rows
        ]
        print_json({"directory": str(directory), "libraries": libraries})
        return
    from benchwright.reports.boxed_tables import render_box

    cells = [[one.name, one.version, found or "not installed"] for one, found in rows]
    echo(render_box("Libraries of packs", ("Name", "Version", "Installed"), cells))
    if any(found != one.version for one, found in rows):
        say("Install them with: benchwright pack runtime install")
