"""Confirmation before something is deleted."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from benchwright.cli.output import echo
from benchwright.formats import counted
from benchwright.text import plain


def confirmed(names: Sequence[str], kind: str, *, yes: bool) -> bool:
    """Show the names and ask whether to delete them, unless `yes`. Return True if confirmed.

    Raises:
        UserError: If there is no terminal to ask on.
    """
    from benchwright.errors import UserError

    if yes:
        return True
    if not sys.stdin.isatty():
        raise UserError("Cannot ask for confirmation without a terminal; use --yes to delete.")
    for name in names:
        echo(plain(name))
    if click.confirm(f"Delete {counted(len(names), kind)}?", default=False):
        return True
    echo("Nothing was deleted.")
    return False
