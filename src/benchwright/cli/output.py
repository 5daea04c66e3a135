"""Printing of lines, one JSON object, or tables. All output of commands passes through this module.

Foreign text (from datasets, models, servers, packs, file names) cannot control the terminal: all output is
cleaned, except for the colours that this module adds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from benchwright.errors import UserError
from benchwright.text import plain_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchwright.analysis.summary_records import RunSummary

NARROWEST = 130
"""Columns for tables that are piped: enough that no table is truncated."""


class Clean(str):
    """Text that is printed unchanged: already cleaned, with terminal sequences added by Benchwright."""


CLEARED_LINE = Clean("\r\x1b[2K")
"""Sequence that clears the current line of a terminal."""


def clean(*parts: str) -> Clean:
    """Return the parts as one text.

    Secrets are replaced, and only `Clean` parts may contain terminal sequences.
    """
    from benchwright.secrets import SECRETS

    return Clean(
        "".join(part if isinstance(part, Clean) else plain_lines(SECRETS.redact(part)) for part in parts)
    )


def coloured(text: str, colour: str) -> Clean:
    """Return the text, cleaned, in one of the terminal's colours."""
    return Clean(click.style(clean(text), fg=colour))


def joined(between: str, parts: Iterable[str]) -> Clean:
    """Return the parts, each cleaned, with a trusted text between them."""
    return Clean(between.join(map(clean, parts)))


def echo(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print lines on stdout, or with `err` on stderr."""
    with _writing():
        click.echo(clean(text) + end, err=err, nl=False)


def say(text: str) -> None:
    """Print a note for the user on stderr."""
    echo(text, err=True)


def say_nothing(_: str) -> None:
    """Discard a note: used instead of `say` if only the result is wanted."""


@contextmanager
def _writing() -> Iterator[None]:
    """Turn a failed write, such as on a full disk, into a UserError. A broken pipe is left to `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"Cannot write the output: {error.strerror}.") from None


@contextmanager
def results_on_stdout(*, as_json: bool) -> Iterator[None]:
    """Redirect what the user's code prints to stderr, if `as_json`."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: Any) -> None:
    r"""Print one indented JSON object.

    Keys are those of the documented structs; fields without a value are omitted. Invisible characters are
    written as \uXXXX, which keeps the value but cannot control a terminal.
    """
    import msgspec

    from benchwright.analysis.documents import encode_document

    lines = msgspec.json.format(encode_document(value), indent=2).decode().split("\n")
    with _writing():
        click.echo("\n".join(map(_seen, lines)))


def _seen(line: str) -> str:
    """Return a line of JSON with invisible characters escaped. They occur inside strings only."""
    if line.isprintable():
        return line
    import json

    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)


def width() -> int:
    """Return the number of columns for tables."""
    from benchwright.cli.console import PlainConsole

    return PlainConsole().width if sys.stdout.isatty() else NARROWEST


def print_table(content: RenderableType) -> None:
    """Print rich content, as wide as the terminal. Markup in its texts is printed literally."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=width())
    with _writing():
        console.print(content)


def table_text(content: RenderableType, columns: int) -> str:
    """Return rich content as text of this many columns, without colours."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=columns)
    with console.capture() as captured:
        console.print(content)
    return click.unstyle(captured.get())


def print_summary(summary: RunSummary, said: str = "") -> None:
    """Print the summary of a run. `said`: an error printed beside it, whose reason is not repeated."""
    from benchwright.reports.summary import render_summary

    print_table(render_summary(summary, said))
