"""`--env-file`, an option of every command: the file is read before the options that its variables can give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

TYPED = "benchwright.cli.env_file.typed"
"""Where a call, which may be of several commands one in the other, keeps the values of its options as typed."""
READ = "benchwright.cli.env_file.read"


class EnvFileOption(click.Option):
    """Reads the file that is named, else the `.env` of the working directory, into the environment."""

    def __init__(self) -> None:
        super().__init__(
            ["--env-file"],
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            envvar="BENCHWRIGHT_ENV_FILE",
            is_eager=True,
            expose_value=False,
            callback=_read,
            help="Read keys and settings from FILE (default: .env here).",
        )

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Takes note of what is typed, then does as every option does."""
        ctx.meta.setdefault(TYPED, []).extend(_texts(opts))
        return super().handle_parse_result(ctx, opts, args)


def _read(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Reads the file once a call: where it is named, else when the first command is reached that does something."""
    if path is None and (READ in context.meta or not _does_something(context.command)):
        return
    from benchwright.cli.output import say, say_nothing
    from benchwright.environment_file import ENVIRONMENT_FILE

    context.meta[READ] = True
    completing = context.resilient_parsing  # a shell is in the middle of a line
    ENVIRONMENT_FILE.read(path, context.meta[TYPED], say_nothing if completing else say)


def _does_something(command: click.Command) -> bool:
    return not isinstance(command, click.Group) or command.invoke_without_command


def _texts(typed: Mapping[str, Any]) -> Iterator[str]:
    for value in typed.values():
        yield from (str(item) for item in (value if isinstance(value, list | tuple) else (value,)))
