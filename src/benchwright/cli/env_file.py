"""The option `--env-file` of every command. It is processed before all options that variables in the file can set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

TYPED_VALUES_KEY = "benchwright.cli.env_file.typed"
"""Key in click's context. Its value is the list of all option values as typed, also those of outer commands."""
ENV_FILE_READ_KEY = "benchwright.cli.env_file.read"


class EnvFileOption(click.Option):
    """The option `--env-file`: reads the named file into the environment. Without the option, `.env` here is read."""

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
        """Record the values of all options as typed. Then process this option, and return the result of click."""
        ctx.meta.setdefault(TYPED_VALUES_KEY, []).extend(_texts(opts))
        return super().handle_parse_result(ctx, opts, args)


def _read(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Read the environment file, once per call of the program.

    If the option is given, the file is read at once. Otherwise, it is read as soon as a command is reached that does
    something itself. A command that only groups other commands does nothing itself.
    """
    if path is None and (ENV_FILE_READ_KEY in context.meta or not _does_something(context.command)):
        return
    from benchwright.cli.output import discard_message, say
    from benchwright.environment_file import ENVIRONMENT_FILE

    context.meta[ENV_FILE_READ_KEY] = True
    completing = context.resilient_parsing  # a shell is completing a line
    ENVIRONMENT_FILE.read(path, context.meta[TYPED_VALUES_KEY], discard_message if completing else say)


def _does_something(command: click.Command) -> bool:
    return not isinstance(command, click.Group) or command.invoke_without_command


def _texts(typed: Mapping[str, Any]) -> Iterator[str]:
    for value in typed.values():
        yield from (str(item) for item in (value if isinstance(value, list | tuple) else (value,)))
