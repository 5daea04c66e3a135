"""Printing: one JSON object, or tables, to stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchwright.analysis.summary import RunSummary

NARROWEST = 130
"""Columns for tables that are piped: wide enough that no table is cut."""


@contextmanager
def results_on_stdout(*, as_json: bool) -> Iterator[None]:
    """With `--json`, what the user's code prints meanwhile goes to stderr."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: Any) -> None:
    """One object, indented; keys as in the documented structs, fields without a value left out."""
    import msgspec

    from benchwright.runs.journal import encode_json

    click.echo(msgspec.json.format(encode_json(value), indent=2).decode())


def print_table(content: RenderableType) -> None:
    """Rich content, as wide as the terminal; what looks like markup in its texts is text."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else NARROWEST
    Console(width=width, soft_wrap=False, highlight=False, markup=False, emoji=False).print(content)


def print_summary(summary: RunSummary) -> None:
    """The summary of a run."""
    from benchwright.reports.summary import render_summary

    print_table(render_summary(summary))
