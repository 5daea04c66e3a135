"""Converts the values of options to settings."""

from __future__ import annotations

from typing import Any, TypeVar

import click

SettingsType = TypeVar("SettingsType")


def merge_model_options(options: dict[str, Any]) -> None:
    """Replace the typed model options by `model`. If there are several models, or a file of models, also set `models`.

    Raises:
        UserError: If the `--models` file cannot be read.
    """
    names, file = tuple(dict.fromkeys(options.pop("model"))), options.pop("models_file")
    if file is None:
        options["model"] = names[0] if names else None
        options["models"] = names if len(names) > 1 else ()
        return
    from benchwright.app.models_file import read_models

    options["models"] = (*names, *read_models(file))


def parse_pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """Return KEY=VALUE arguments as a dictionary."""
    result = {}
    for value in values:
        key, separator, rest = value.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} takes KEY=VALUE, got {value!r}.")
        result[key] = rest
    return result


def parse_repeated_pairs(values: tuple[str, ...], option: str) -> dict[str, str | tuple[str, ...]]:
    """Return KEY=VALUE arguments as a dictionary.

    If a key is given several times, its value is a tuple of all values.
    """
    result: dict[str, list[str]] = {}
    for value in values:
        for key, rest in parse_pairs((value,), option).items():
            result.setdefault(key, []).append(rest)
    return {key: some[0] if len(some) == 1 else tuple(sorted(some)) for key, some in result.items()}


def parse_json_pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """Return KEY=JSON arguments as a dictionary. Values that are not JSON are taken as text."""
    import json

    result: dict[str, Any] = {}
    for key, text in parse_pairs(values, option).items():
        try:
            result[key] = json.loads(text)
        except ValueError:
            result[key] = text
    return result


def make_settings(kind: type[SettingsType], options: dict[str, Any]) -> SettingsType:
    """Return an instance of the settings class `kind`, made from options by name.

    Raises:
        click.UsageError: If a value is invalid. The message names the option.
    """
    from pydantic import ValidationError

    from benchwright.config import error_message

    try:
        return kind(**options)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"--{name}: ".replace("_", "-") for name in map(str, first["loc"][:1]))
        raise click.UsageError(f"{place}{error_message(first)}.") from None
