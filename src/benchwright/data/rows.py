"""Reads the rows of a dataset file: .json, .jsonl, .csv or .parquet, distinguished by the suffix.

Rows are returned one at a time, unchanged and in the file's order; `columns` checks whether they fit an
evaluation. JSON Lines, CSV and Parquet are streamed. A JSON array is one value: the bytes of the array are in
memory as a whole, and each row is decoded on demand.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchwright.data.errors import (
    BadRow,
    DatasetError,
    DatasetNotFound,
    DatasetParseError,
    DatasetValidationError,
)
from benchwright.data.parquet import count_parquet_rows, parquet_rows
from benchwright.records import DECODE_ERRORS

Row = dict[str, Any]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_CSV_FIELD = 2**31 - 1
READ_CHUNK_BYTES = 2**18
"""Number of bytes of a JSON Lines file that are read at once.

It is large, so that even a long line takes few reads.
"""
_NOT_JSON = DECODE_ERRORS

_decode = msgspec.json.Decoder().decode
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_rows(
    path: str | PathLike[str], limit: int | None = None, offset: int = 0, *, suffix: str | None = None
) -> Iterator[Row]:
    """Return an iterator over the rows from `offset` on, at most `limit` rows.

    This call checks the path. The contents are checked while they are read. Rows before `offset` are skipped
    without being checked, and rows after the last requested one are never read. `suffix` states the format of a
    file whose own suffix does not state it (".jsonl" for JSON Lines in a file named .json).

    Raises:
        DatasetNotFound: If the file does not exist.
        DatasetParseError: If the suffix is unknown, or the content does not match the suffix.
        BadRow: If a row is not an object.
        ValueError: If `limit` or `offset` is negative.
    """
    if offset < 0:
        raise ValueError(f"offset must be 0 or more, got {offset}")
    file = check_dataset_file(path)
    values = _FORMATS[suffix or file.suffix.lower()].read(file, offset)
    return _objects(islice(values, limit), offset)


def count_rows(path: str | PathLike[str]) -> int:
    """Return the number of rows in a file.

    Rows of JSON, JSON Lines and Parquet are counted without decoding them.

    Raises:
        DatasetNotFound: If the file does not exist.
        DatasetParseError: If the suffix is unknown, or counting reveals that the content does not match the
            suffix.
    """
    file = check_dataset_file(path)
    with _readable():
        return _FORMATS[file.suffix.lower()].count(file)


def check_dataset_file(path: str | PathLike[str]) -> Path:
    """Return the path of an existing file in a readable format.

    Raises:
        DatasetNotFound: If the file does not exist.
        DatasetParseError: If the suffix is unknown.
    """
    file = Path(path)
    if not file.exists():
        raise DatasetNotFound(f"Dataset file not found: {path}")
    suffix = file.suffix.lower()
    if suffix not in _FORMATS:
        raise DatasetParseError(
            f"Unsupported file format: {suffix}. Supported formats: {', '.join(_FORMATS)}"
        )
    return file


@contextmanager
def name_file_in_errors(file: Path) -> Iterator[None]:
    """Add the file's name to dataset errors raised inside the context.

    In JSON Lines, also add the line number of the row.

    Raises:
        DatasetError: If one was raised inside the context. Its message then names the file.
    """
    try:
        yield
    except BadRow as error:
        line = _line_of_row(file, error.index) if file.suffix.lower() == ".jsonl" else None
        where = f"{file}, line {line}" if line is not None else str(file)
        raise DatasetValidationError(f"{where}: {error}") from error
    except DatasetNotFound:
        raise  # its message names the file already
    except DatasetError as error:
        raise type(error)(f"{file}: {error}") from error


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatasetParseError(f"Error reading file: {error}") from error


def _objects(values: Iterator[Any], offset: int) -> Iterator[Row]:
    with _readable():
        for index, value in enumerate(values, offset):
            if not isinstance(value, dict):
                raise BadRow(index, f"Expected object, got {type(value).__name__}")
            yield value


def _json_rows(file: Path, offset: int) -> Iterator[Any]:
    for index, row in islice(enumerate(_json_array(file)), offset, None):
        try:
            value = _decode(row)
        except _NOT_JSON as error:
            raise DatasetParseError(f"Invalid JSON file: row {index}: {error}") from error
        yield value


def _json_array(file: Path) -> list[msgspec.Raw]:
    data = file.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    try:
        try:
            return _decode_array(data)
        except msgspec.ValidationError:
            found = type(_decode(data)).__name__
    except _NOT_JSON as error:
        lines = "trailing characters" in str(error)
        hint = " (with one object per line it would have to be named .jsonl)" if lines else ""
        raise DatasetParseError(f"Invalid JSON file: {error}{hint}") from error
    raise DatasetParseError(f"JSON file must contain an array of objects, got {found}")


def _count_json_rows(file: Path) -> int:
    return len(_json_array(file))


def _jsonl_rows(file: Path, offset: int) -> Iterator[Any]:
    with open(file, "rb", buffering=READ_CHUNK_BYTES) as lines:
        if lines.read(len(_BYTE_ORDER_MARK)) != _BYTE_ORDER_MARK:
            lines.seek(0)
        for number, line in islice(_lines_of_rows(lines), offset, None):
            try:
                value = _decode(line)
            except _NOT_JSON as error:
                raise DatasetParseError(f"Invalid JSON at line {number}: {error}") from error
            yield value


def _lines_of_rows(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) for each line that is not blank."""
    return ((number, line) for number, line in enumerate(lines, 1) if not line.isspace())


def _line_of_row(file: Path, index: int) -> int | None:
    """Return the line number of a row in a JSON Lines file. None if it can no longer be determined."""
    with suppress(OSError), open(file, "rb") as lines:
        for number, _ in islice(_lines_of_rows(lines), index, None):
            return number
    return None


def _count_jsonl_rows(file: Path) -> int:
    with open(file, "rb") as lines:
        return sum(1 for _ in _lines_of_rows(lines))


def _csv_rows(file: Path, offset: int) -> Iterator[Any]:
    csv.field_size_limit(_LONGEST_CSV_FIELD)
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            _check_header(reader.fieldnames or ())
            for number, row in islice(enumerate(reader, 1), offset, None):
                if None in row:
                    raise DatasetParseError(f"CSV row {number} has more columns than the header")
                yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise DatasetParseError(f"Invalid CSV file: {error}") from error


def _check_header(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DatasetParseError(f"Invalid CSV file: the header names these columns twice: {twice}")


def _count_csv_rows(file: Path) -> int:
    return sum(1 for _ in _csv_rows(file, 0))


class _Format(NamedTuple):
    read: Callable[[Path, int], Iterator[Any]]
    count: Callable[[Path], int]


_FORMATS = {
    ".json": _Format(_json_rows, _count_json_rows),
    ".jsonl": _Format(_jsonl_rows, _count_jsonl_rows),
    ".csv": _Format(_csv_rows, _count_csv_rows),
    ".parquet": _Format(parquet_rows, count_parquet_rows),
}

DATASET_SUFFIXES = tuple(_FORMATS)
"""The suffixes of the readable formats, in lower case."""
