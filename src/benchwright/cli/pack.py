"""`benchwright pack`: installs, shows, validates, writes and runs bench packs."""

from __future__ import annotations

import click

from benchwright.cli.command_help import LazyGroup

COMMANDS = {
    "run": ("benchwright.cli.pack_run:command", "Run packs against models."),
    "list": ("benchwright.cli.pack_install:list_packs", "List the installed packs."),
    "card": ("benchwright.cli.pack_card:command", "Show the result of a run as a card to share."),
    "replay": ("benchwright.cli.replay:command", "Show a run once more, event by event."),
    "search": ("benchwright.cli.pack_search:search", "Search the registry for packs."),
    "show": ("benchwright.cli.pack_info:show", "Show a pack and its scenarios."),
    "install": ("benchwright.cli.pack_install:install", "Install a pack."),
    "open": ("benchwright.cli.pack_open:command", "Show the page of a web pack in the browser."),
    "update": ("benchwright.cli.pack_install:update", "Update packs from where they were installed."),
    "delete": ("benchwright.cli.pack_install:delete", "Delete installed packs."),
    "init": ("benchwright.cli.pack_info:init", "Write a new pack."),
    "validate": ("benchwright.cli.pack_info:validate", "Check a pack that you write."),
    "test": ("benchwright.cli.pack_author:test", "Try out a pack that you write with canned answers."),
    "dev": ("benchwright.cli.pack_dev:command", "Try a scenario again whenever a file is saved."),
    "pack": ("benchwright.cli.pack_author:pack", "Write the archive of a pack."),
    "runtime": (
        "benchwright.cli.pack_runtime:command",
        "Show and install the libraries that packs may import.",
    ),
    "verifiers": ("benchwright.cli.pack_verifiers:command", "Show, start and stop the verifiers of a pack."),
}

EXAMPLES = """\b
Examples:
  benchwright pack init ./my-pack --language python
  benchwright pack test ./my-pack
  benchwright pack pack ./my-pack
  benchwright pack install ./my-pack-0.1.0.tar.gz
  benchwright pack run my-pack --model my-model
"""


class PackGroup(LazyGroup):
    """The command group `pack`, which also accepts former command names."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command of the group. None if there is no such command.

        The former `uninstall` deletes a pack without asking.
        """
        if cmd_name == "uninstall":
            from benchwright.cli.pack_install import uninstall

            return uninstall
        return super().get_command(ctx, cmd_name)


@click.group("pack", cls=PackGroup, addresses=COMMANDS, old={"info": "show"}, epilog=EXAMPLES)
def command() -> None:
    """Install, show, validate, write and run bench packs of Bench Protocol v1."""
