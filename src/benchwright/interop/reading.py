"""Files of other programs, read with care: their size is limited, nothing in them is executed, and what is not there or
of another kind is a message with the name of the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchwright.interop.foreign import UnreadableResults

LARGEST_FILE = 2 << 30
"""Bytes of a JSON file that is read whole."""

LARGEST_LINE = 64 << 20
"""Bytes of a line of a JSON Lines file."""

NOT_JSON = (ValueError, RecursionError)
"""What `json.loads` raises: no JSON, not in UTF-8, a number of too many digits, or nested too deep."""


def read_json(path: Path) -> Any:
    """A JSON file, which may hold NaN and Infinity.

    Raises:
        UnreadableResults: it cannot be read, is too large, or no JSON.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UnreadableResults(f"{path} has {size:,} bytes; at most {LARGEST_FILE:,} are read.")
        return decoded(path.read_bytes(), path)
    except OSError as error:
        raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None


def read_lines(path: Path, torn: list[str] | None = None) -> Iterator[Any]:
    """Yield the objects of a JSON Lines file, one after the other; empty lines are skipped.

    With `torn`, a last line that has no end and is no JSON is left out, as a program that was stopped while it wrote
    leaves one behind; its place is added to `torn`.

    Raises:
        UnreadableResults: If the file cannot be read, or a line is too long, or no JSON.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LARGEST_LINE + 1):
                number += 1
                where = f"{path}, line {number}"
                if len(line) > LARGEST_LINE:
                    raise UnreadableResults(f"{where}, has more than {LARGEST_LINE:,} bytes.")
                if not line.strip():
                    continue
                try:
                    found = decoded(line, where)
                except UnreadableResults:
                    if torn is None or line.endswith(b"\n"):
                        raise
                    torn.append(where)
                    return
                yield found
    except OSError as error:
        raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None


def decoded(content: bytes, where: object) -> Any:
    """The JSON value of some bytes; `where` they are from is said if they are none.

    Raises:
        UnreadableResults: they are no JSON.
    """
    try:
        return json.loads(content)
    except NOT_JSON as error:
        raise UnreadableResults(f"{where}: this is no JSON ({error}).") from None


def an_object(value: Any, where: object) -> dict[str, Any]:
    """The value, which must be an object.

    Raises:
        UnreadableResults: it is something else.
    """
    if not isinstance(value, dict):
        raise UnreadableResults(f"{where}: an object was expected, this is {kind_of(value)}.")
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing where it is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """The value where it is text, else nothing."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """The value where it is a finite number or a boolean, else None."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def count(value: Any) -> int | None:
    """The value where it is a whole number, 0 or more, that a journal holds; else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53 else None


def nanoseconds(seconds: Any) -> int:
    """A duration; 0 where it is none."""
    found = number(seconds)
    return round(found * 1e9) if found is not None and 0 <= found < 1e6 else 0


def moment(value: Any) -> int:
    """ns since the epoch of an ISO 8601 text or of seconds; 0 where it is neither. Without a zone it is local time."""
    seconds = number(value) if not isinstance(value, bool) else None
    if isinstance(value, str):
        try:
            seconds = datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0
    return round(seconds * 1e9) if seconds is not None and 0 <= seconds < 4e9 else 0


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in a word or two."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
