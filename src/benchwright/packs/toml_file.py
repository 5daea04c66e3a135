"""Reads users' TOML files. Error messages name the place of a fault in the file, and never show a value."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import UserError


class TomlFile:
    """The content of a user's TOML file, read table by table. Errors name the file and the place of the fault."""

    def __init__(self, path: Path, content: Mapping[str, Any]) -> None:
        self._path = path
        self._content = content

    def read_table(
        self, name: str, within: Mapping[str, Any] | None = None, place: str = ""
    ) -> dict[str, Any]:
        """Return a table. Return {} if it is missing."""
        value = (self._content if within is None else within).get(name, {})
        if not isinstance(value, dict):
            raise self.error_at(f"{place}{name}", "expected a table")
        return value

    def read_tables(self, name: str) -> list[Any]:
        """Return a list of tables. Return [] if it is missing."""
        value = self._content.get(name, [])
        if not isinstance(value, list):
            raise self.error_at(name, f"expected a list, [[{name}]]")
        return value

    def read_string(self, table: Mapping[str, Any], name: str, place: str) -> str | None:
        """Return a string. Return None if it is missing or empty."""
        value = table.get(name)
        if value is not None and not isinstance(value, str):
            raise self.error_at(f"{place}.{name}", "expected a string")
        return value or None

    def convert_table(self, value: Any, kind: type[Any], place: str) -> Any:
        """Convert a table to a struct of type `kind`."""
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise self.error_at(place, str(error)) from None

    def error_at(self, place: str, why: str) -> UserError:
        """Return the error to raise for a fault. `place`: the place of the fault in the file."""
        return UserError(f"{self._path}: {place}: {why.rstrip('.')}.")


def read_toml(path: Path) -> dict[str, Any] | None:
    """Read a TOML file. Return None if it does not exist.

    Raises:
        UserError: If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not valid UTF-8"
        raise UserError(f"{path} is not a TOML file: {reason}.") from None
