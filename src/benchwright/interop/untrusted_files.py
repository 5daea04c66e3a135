"""Reads files of other programs safely: their size is limited, and nothing in them is executed.

Missing or unexpected content raises an error that names the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchwright.interop.foreign_results import UnreadableResults

MAX_FILE_BYTES = 2 << 30
"""Maximum number of bytes of a JSON file. Larger files are refused."""

MAX_LINE_BYTES = 64 << 20
"""Maximum number of bytes of a line in a JSON Lines file. A longer line is an error."""

JSON_ERRORS = (ValueError, RecursionError)
"""Exceptions that `json.loads` raises for bytes that are not JSON or not UTF-8.

It also raises them for values that are nested too deep, and for numbers with too many digits.
"""


def read_json(path: Path) -> Any:
    """Read a JSON file, which may contain NaN and Infinity.

    Raises:
        UnreadableResults: If the file cannot be read, is too large, or is not JSON.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UnreadableResults(f"{path} has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read.")
        return decode_json(path.read_bytes(), path)
    except OSError as error:
        raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None


def read_lines(path: Path, torn: list[str] | None = None) -> Iterator[Any]:
    """Yield the values in a JSON Lines file, one after the other. Empty lines are skipped.

    A program that is stopped while it writes leaves a last line that has no newline and is not JSON. If `torn`
    is given, such a line is skipped, and the file and line number are added to `torn`.

    Raises:
        UnreadableResults: If the file cannot be read, or a line is too long or not JSON.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                where = f"{path}, line {number}"
                if len(line) > MAX_LINE_BYTES:
                    raise UnreadableResults(f"{where}, has more than {MAX_LINE_BYTES:,} bytes.")
                if not line.strip():
                    continue
                try:
                    found = decode_json(line, where)
                except UnreadableResults:
                    if torn is None or line.endswith(b"\n"):
                        raise
                    torn.append(where)
                    return
                yield found
    except OSError as error:
        raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None


def decode_json(content: bytes, where: object) -> Any:
    """Decode JSON. `where`: the location of the bytes, for the error message.

    Raises:
        UnreadableResults: If the bytes are not JSON.
    """
    try:
        return json.loads(content)
    except JSON_ERRORS as error:
        raise UnreadableResults(f"{where}: this is no JSON ({error}).") from None


def require_object(value: Any, where: object) -> dict[str, Any]:
    """Return the value after checking that it is a JSON object.

    Raises:
        UnreadableResults: If the value is not an object.
    """
    if not isinstance(value, dict):
        raise UnreadableResults(f"{where}: an object was expected, this is {json_type_name(value)}.")
    return value


def objects_in_list(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list. Empty if the value is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def object_or_empty(value: Any) -> dict[str, Any]:
    """Return the value if it is a JSON object. Return an empty object otherwise."""
    return value if isinstance(value, dict) else {}


def text_or_empty(value: Any) -> str:
    """Return the value if it is text. Return an empty text otherwise."""
    return value if isinstance(value, str) else ""


def number_or_none(value: Any) -> float | None:
    """Return the value as a float if it is a finite number or a boolean. Return None otherwise."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def count_or_none(value: Any) -> int | None:
    """Return the value if it is a whole number from 0 to 2^53, which a journal can hold. Return None otherwise."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53 else None


def to_nanoseconds(seconds: Any) -> int:
    """Convert seconds to nanoseconds. Return 0 if the value is not a duration."""
    found = number_or_none(seconds)
    return round(found * 1e9) if found is not None and 0 <= found < 1e6 else 0


def parse_time(value: Any) -> int:
    """Convert a time to ns since the epoch. Return 0 if the value is not a time.

    The value is an ISO 8601 text, or a number of seconds since the epoch. A text without a time zone is in
    local time.
    """
    seconds = number_or_none(value) if not isinstance(value, bool) else None
    if isinstance(value, str):
        try:
            seconds = datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0
    return round(seconds * 1e9) if seconds is not None and 0 <= seconds < 4e9 else 0


def json_type_name(value: Any) -> str:
    """Return the name of a JSON value's type in one or two words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
