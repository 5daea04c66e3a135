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
from benchwright.text import make_lines_safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchwright.analysis.summary_records import RunSummary

MIN_TABLE_WIDTH = 130
"""Width in columns of tables that are not printed on a terminal: enough that no table is truncated."""


class CleanText(str):
    """Text that is printed unchanged: already cleaned, with terminal sequences added by Benchwright."""


CLEAR_LINE = CleanText("\r\x1b[2K")
"""Sequence that clears the current line of a terminal."""


def clean(*parts: str) -> CleanText:
    """Return the parts joined to one text that is safe to print.

    Secrets are replaced. Only parts that are `CleanText` keep their terminal sequences.
    """
    from benchwright.secrets import SECRETS

    return CleanText(
        "".join(
            part if isinstance(part, CleanText) else make_lines_safe(SECRETS.redact(part)) for part in parts
        )
    )


def coloured(text: str, colour: str) -> CleanText:
    """Return the text in one of the terminal's colours, safe to print."""
    return CleanText(click.style(clean(text), fg=colour))


def join_clean(between: str, parts: Iterable[str]) -> CleanText:
    """Return the parts, each made safe to print, joined by the text `between`, which is trusted."""
    return CleanText(between.join(map(clean, parts)))


def echo(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a text on stdout, or on stderr if `err`, made safe for the terminal."""
    with _writing():
        click.echo(clean(text) + end, err=err, nl=False)


def say(text: str) -> None:
    """Print a message for the user on stderr."""
    echo(text, err=True)


def discard_message(_: str) -> None:
    """Discard a message: used in place of `say` if only the result is wanted."""


@contextmanager
def _writing() -> Iterator[None]:
    """Turn an error in writing, such as on a full disk, into a UserError. Let a broken pipe pass to `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"Cannot write the output: {error.strerror}.") from None


@contextmanager
def results_on_stdout(*, as_json: bool) -> Iterator[None]:
    """Redirect to stderr what the user's code prints, if `as_json`, so that stdout holds only the JSON object."""
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield


def print_json(value: Any) -> None:
    r"""Print a value as one indented JSON object.

    Keys are the documented field names; fields without a value are omitted. Invisible characters are written
    as \uXXXX, which keeps the value but cannot control a terminal.
    """
    import msgspec

    from benchwright.analysis.documents import encode_document

    lines = msgspec.json.format(encode_document(value), indent=2).decode().split("\n")
    with _writing():
        click.echo("\n".join(map(_seen, lines)))


def _seen(line: str) -> str:
    """Return a line of JSON with invisible characters escaped. They can occur only inside its strings."""
    if line.isprintable():
        return line
    import json

    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)


def table_width() -> int:
    """Return the width of tables in columns: that of the terminal, else `MIN_TABLE_WIDTH`."""
    from benchwright.cli.console import PlainConsole

    return PlainConsole().width if sys.stdout.isatty() else MIN_TABLE_WIDTH


def print_table(content: RenderableType) -> None:
    """Print a rich object, such as a table, as wide as the terminal. Markup in its texts is printed literally."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=table_width())
    with _writing():
        console.print(content)


def table_text(content: RenderableType, columns: int) -> str:
    """Return a rich object, such as a table, as text of this many columns, without colours."""
    from benchwright.cli.console import PlainConsole

    console = PlainConsole(width=columns)
    with console.capture() as captured:
        console.print(content)
    return click.unstyle(captured.get())


def print_summary(summary: RunSummary, said: str = "") -> None:
    """Print the summary of a run. `said`: an error printed elsewhere, whose reason is not repeated."""
    from benchwright.reports.summary import render_summary

    print_table(render_summary(summary, said))
