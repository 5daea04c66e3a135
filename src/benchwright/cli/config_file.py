"""`--config FILE.toml`: defaults for the options of a command."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.cli.command_help import Option, option
from benchwright.suggestions import did_you_mean

DecoratedFunction = TypeVar("DecoratedFunction", bound=Callable[..., Any])


def config_option(section: str) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the option `--config FILE.toml`.

    It sets defaults from the file's top level, and from the section `section`.
    """

    def read(context: click.Context, _: click.Parameter, path: Path | None) -> None:
        if path is not None:
            context.default_map = {**(context.default_map or {}), **_read_config(path, section, context)}

    return option(
        "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE", is_eager=True,
        expose_value=False, callback=read, heading="Running",
        help=f"TOML file of options, also in a section [{section}].",
    )  # fmt: skip


def _read_config(path: Path, section: str, context: click.Context) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} is not a TOML file: {error}") from None
    shared = {name: value for name, value in content.items() if not isinstance(value, dict)}
    return option_values(context.command, {**shared, **content.get(section, {})}, str(path))


def option_values(command: click.Command, written: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the options in a TOML file as the command's parameters, {parameter name: value}.

    `written`: the file's content.

    Raises:
        click.UsageError: If the command has no such option. The message names the `place` in the file.
    """
    by_name = option_names(command)
    repeatable = {option.name for option in command.params if getattr(option, "multiple", False)}
    values: dict[str, Any] = {}
    for name, value in written.items():
        parameter = by_name.get(name.replace("-", "_"))
        if parameter is None:
            hint = did_you_mean(name, by_name) or " See --help."
            raise click.UsageError(f"{place}: unknown option {name!r}.{hint}")
        if isinstance(value, dict):
            value = tuple(f"{key}={_as_text(item)}" for key, item in value.items())
        elif isinstance(value, str) and parameter in repeatable:
            value = (value,)
        values[parameter] = value
    return values


def option_names(command: click.Command) -> dict[str, str]:
    """Return {spelling: parameter name} for all spellings of a command's options, with underscores."""
    names: dict[str, str] = {}
    for parameter in command.params:
        if parameter.name is not None:
            spellings = parameter.spellings if isinstance(parameter, Option) else parameter.opts
            for spelling in (parameter.name, *spellings):
                names[spelling.lstrip("-").replace("-", "_")] = parameter.name
    return names


def _as_text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
