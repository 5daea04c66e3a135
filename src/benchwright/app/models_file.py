"""Reads TOML files that users write, and the models that such files list."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.config import ModelEntry, error_message
from benchwright.errors import UserError
from benchwright.suggestions import did_you_mean
from benchwright.text import make_safe

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError


def read_models(path: Path) -> tuple[ModelEntry, ...]:
    """Return the models of a TOML file, one table `[[models]]` for each; see docs/eval.md.

    Raises:
        UserError: If the file cannot be read, or an entry is invalid. The message names the entry.
    """
    return models_in_toml(read_toml(path), path)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        UserError: If the file cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} is not a TOML file: {error}") from None


def models_in_toml(content: Mapping[str, Any], path: Path) -> tuple[ModelEntry, ...]:
    """Return the models listed in the content of a TOML file. `path`: the file, for messages.

    Raises:
        UserError: If no models are listed, or an entry is invalid.
    """
    from pydantic import ValidationError

    entries = content.get("models")
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path} names no models: write a table [[models]] with `model = ...` for each.")
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(ModelEntry.model_validate({"model": entry} if isinstance(entry, str) else entry))
        except ValidationError as error:
            raise UserError(f"{path}, model {number}: {first_validation_error(error, ModelEntry)}") from None
    return tuple(found)


def first_validation_error(error: ValidationError, kind: type[BaseModel]) -> str:
    """Return the first validation error of an entry in a TOML file, as a sentence.

    `kind`: the Pydantic class of the entry, whose fields are suggested for unknown keys.
    """
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "the entry"
    if first["type"] == "extra_forbidden":
        return f"unknown key {make_safe(place)!r}.{did_you_mean(place, kind.model_fields)}"
    return f"{make_safe(place)}: {error_message(first)}."
