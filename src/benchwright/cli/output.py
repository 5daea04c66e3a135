"""Printing: lines, one JSON object, or tables. All that a command prints goes through here.

Foreign text (of a dataset, a model, a server, a pack, a file's name) cannot steer the terminal: what is printed is
cleaned as a whole, except for the colours that are put on here.
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

    from benchwright.analysis.summary import RunSummary

NARROWEST = 130
"""Columns for tables that are piped: wide enough that no table is cut."""


class Clean(str):
    """Text that is printed as it is: cleaned already, and with sequences of ours in it."""


CLEARED_LINE = Clean("\r\x1b[2K")
"""Takes the last line of a terminal away, if it has not ended."""


def clean(*parts: str) -> Clean:
    """The parts as one text: secrets are replaced, and only `Clean` parts have sequences in them."""
    from benchwright.secrets import SECRETS

    return Clean(
        "".join(part if isinstance(part, Clean) else plain_lines(SECRETS.redact(part)) for part in parts)
    )


def coloured(text: str, colour: str) -> Clean:
    """The text, cleaned, in one of the terminal's colours."""
    return Clean(click.style(clean(text), fg=colour))


def joined(between: str, parts: Iterable[str]) -> Clean:
    """The parts, each cleaned, with a text of ours between them."""
    return Clean(between.join(map(clean, parts)))


def echo(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Lines on stdout, or with `err` on stderr."""
    with _writing():
        click.echo(clean(text) + end, err=err, nl=False)


def say(text: str) -> None:
    """A note for the person, on stderr."""
    echo(text, err=True)


def say_nothing(_: str) -> None:
    """In place of `say`, where only the result is wanted."""


@contextmanager
def _writing() -> Iterator[None]:
    """A full disk is told in one line; that nobody reads any more is for `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"Cannot write the output: {error.strerror}.") from None


@contextmanager
def results_on_stdout(*, as_json: bool) -> Iterator[None]:
    """With `--json`, what the user's code prints meanwhile goes to stderr."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: Any) -> None:
    """One object, indented; keys as in the documented structs, fields without a value left out.

    What cannot be seen is written as \\uXXXX, so that the object says the same and steers no terminal.
    """
    import msgspec

    from benchwright.analysis.documents import encode_document

    lines = msgspec.json.format(encode_document(value), indent=2).decode().split("\n")
    with _writing():
        click.echo("\n".join(map(_seen, lines)))


def _seen(line: str) -> str:
    """A line of JSON; characters that cannot be seen, which are inside of strings only, are escaped."""
    if line.isprintable():
        return line
    import json

    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)


def width() -> int:
    """How many columns a table may have."""
    from benchwright.cli.console import PlainConsole

    return PlainConsole().width if sys.stdout.isatty() else NARROWEST


def print_table(content: RenderableType) -> None:
    """Rich content, as wide as the terminal; what looks like markup in its texts is text."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=width())
    with _writing():
        console.print(content)


def table_text(content: RenderableType, columns: int) -> str:
    """Rich content as text of so many columns, without colours."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=columns)
    with console.capture() as captured:
        console.print(content)
    return click.unstyle(captured.get())


def print_summary(summary: RunSummary, said: str = "") -> None:
    """Print the summary of a run, without the reason that is `said` beside it."""
    from benchwright.reports.summary import render_summary

    print_table(render_summary(summary, said))
