"""Confirmation before something is deleted."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from benchwright.cli.output import echo
from benchwright.formats import count_with_noun
from benchwright.text import make_safe


def confirm_deletion(names: Sequence[str], kind: str, *, yes: bool) -> bool:
    """Show the names and ask the user whether to delete them. Return True if the user agrees.

    If `yes` is True, return True without asking.

    Raises:
        UserError: If there is no terminal to ask on.
    """
    from benchwright.errors import UserError

    if yes:
        return True
    if not sys.stdin.isatty():
        raise UserError("Cannot ask for confirmation without a terminal; use --yes to delete.")
    for name in names:
        echo(make_safe(name))
    if click.confirm(f"Delete {count_with_noun(len(names), kind)}?", default=False):
        return True
    echo("Nothing was deleted.")
    return False
