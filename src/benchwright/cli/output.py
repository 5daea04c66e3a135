"""Prints lines, tables and JSON objects. All output of commands passes through this module.

Foreign text (from datasets, models, servers, packs, file names) cannot control the terminal: all output is cleaned,
except for the colours that this module adds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from benchwright.errors import UserError
from benchwright.text import make_lines_safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchwright.analysis.summary_records import RunSummary

MIN_TABLE_WIDTH = 130
"""Width of tables in columns if the output is not a terminal. It is so large that no table is truncated."""


class CleanText(str):
    """Text that is printed unchanged.

    It is already cleaned, and may contain terminal sequences that Benchwright added.
    """


CLEAR_LINE = CleanText("\r\x1b[2K")
"""Terminal sequence that clears the current line."""


def clean_text(*parts: str) -> CleanText:
    """Return the parts, joined to one text that is safe to print.

    Secrets are replaced. Terminal sequences are kept only in parts that are `CleanText`.
    """
    from benchwright.secrets import SECRETS

    return CleanText(
        "".join(
            part if isinstance(part, CleanText) else make_lines_safe(SECRETS.redact(part)) for part in parts
        )
    )


def colour_text(text: str, colour: str) -> CleanText:
    """Return the text in a terminal colour. The text is made safe to print."""
    return CleanText(click.style(clean_text(text), fg=colour))


def join_cleaned(between: str, parts: Iterable[str]) -> CleanText:
    """Return the parts, each made safe to print, with the text `between` them. That text is trusted."""
    return CleanText(between.join(map(clean_text, parts)))


def echo(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a text, made safe for the terminal. `err`: print on stderr instead of stdout."""
    with _writing():
        click.echo(clean_text(text) + end, err=err, nl=False)


def say(text: str) -> None:
    """Print a message for the user on stderr."""
    echo(text, err=True)


def discard_message(_: str) -> None:
    """Discard a message. Commands pass it in place of `say` if only the result is wanted."""


@contextmanager
def _writing() -> Iterator[None]:
    """Turn a write error, such as that of a full disk, into a UserError.

    A broken pipe is raised unchanged, for `main`.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"Cannot write the output: {error.strerror}.") from None


@contextmanager
def results_on_stdout(*, as_json: bool) -> Iterator[None]:
    """Redirect the output of the user's code to stderr if `as_json`, so that stdout holds only the JSON object.

    Otherwise, redirect nothing.
    """
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: Any) -> None:
    r"""Print a value as one indented JSON object.

    Keys are the documented field names. Fields without a value are omitted. Invisible characters are written as \uXXXX.
    That keeps the value, but cannot control a terminal.
    """
    import msgspec

    from benchwright.analysis.json_documents import encode_document

    lines = msgspec.json.format(encode_document(value), indent=2).decode().split("\n")
    with _writing():
        click.echo("\n".join(map(_seen, lines)))


def _seen(line: str) -> str:
    """Return a line of JSON with invisible characters escaped. Such characters can occur only inside strings."""
    if line.isprintable():
        return line
    import json

    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)


def table_width() -> int:
    """Return the width of tables in columns. It is the terminal's width, or `MIN_TABLE_WIDTH` without a terminal."""
    from benchwright.cli.console import PlainConsole

    return PlainConsole().width if sys.stdout.isatty() else MIN_TABLE_WIDTH


def print_table(content: RenderableType) -> None:
    """Print a rich object (such as a table) in the width of the terminal.

    Markup in its strings is printed literally.
    """
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=table_width())
    with _writing():
        console.print(content)


def table_text(content: RenderableType, columns: int) -> str:
    """Return a rich object (such as a table) as text without colours. `columns`: the width of the text."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=columns)
    with console.capture() as captured:
        console.print(content)
    return click.unstyle(captured.get())


def print_summary(summary: RunSummary, said: str = "") -> None:
    """Print the summary of a run.

    `said`: an error that was printed elsewhere. The summary does not repeat its reason.
    """
    from benchwright.reports.summary import render_summary

    print_table(render_summary(summary, said))
