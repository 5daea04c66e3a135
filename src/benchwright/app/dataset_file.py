"""Stores rows given in memory as a dataset file.

Equal rows give the same file, so that a later call with equal rows finds the run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import xxhash

from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.home import given_rows_directory


def write_rows_file(rows: Sequence[Mapping[str, Any]]) -> Path:
    """Return the path of the dataset file with these rows. Write the file if it does not exist.

    The file's name is a digest of its content (xxh3, 64 bits).

    Raises:
        UserError: If there are no rows, a row is not a mapping or not JSON, or the file cannot be written.
    """
    if not rows:
        raise UserError("There are no rows.")
    lines = b"".join(_line(number, row) for number, row in enumerate(rows))
    path = given_rows_directory() / f"rows-{xxhash.xxh3_64_hexdigest(lines)}.jsonl"
    if not path.exists():
        write_atomically(path, lines)
    return path


def _line(number: int, row: Mapping[str, Any]) -> bytes:
    if not isinstance(row, Mapping):
        raise UserError(f"Row {number} is a {type(row).__name__}: rows are dictionaries.")
    try:
        return msgspec.json.encode(dict(row)) + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"Row {number} cannot be written as JSON: {error}") from None
