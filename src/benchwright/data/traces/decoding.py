"""Reads and decodes the lines of a trace. An error names the file and line of the invalid line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.data.traces.records import TraceLine
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS

LineType = TypeVar("LineType")


def read_lines(path: Path) -> Iterator[TraceLine]:
    """Yield the non-empty lines of a trace.

    A file that is one JSON document over several lines yields one item. For a folder, all its JSON files are
    read.

    Raises:
        UserError: If a file cannot be read.
    """
    try:
        if path.is_dir():
            for file in sorted(one for one in path.iterdir() if one.suffix in (".json", ".jsonl")):
                yield from read_lines(file)
            return
        with path.open("rb") as opened:
            first = next((line for line in opened if line.strip()), b"")
            if first.lstrip()[:1] in (b"{", b"[") and not _is_json(first):
                opened.seek(0)
                yield TraceLine(str(path), opened.read())
                return
            opened.seek(0)
            for number, line in enumerate(opened, 1):
                text = line.strip()
                if text:
                    yield TraceLine(f"{path}, line {number}", text)
    except OSError as error:
        raise UserError(f"Cannot read the trace {path}: {error.strerror}.") from None


def decode_line(decoder: msgspec.json.Decoder[LineType], line: TraceLine) -> LineType:
    """Decode a line of a trace.

    Raises:
        UserError: If the line is not JSON, or not of the expected type. The message names the file and line.
    """
    try:
        return decoder.decode(line.text)
    except DECODE_ERRORS as error:
        raise UserError(f"{line.location}: {error}.") from None


def check_not_negative_numbers(place: str, **values: float | None) -> None:
    """Check that numbers, passed by name, are not negative. A value may be None.

    Raises:
        UserError: If a number is below 0.
    """
    for name, value in values.items():
        if value is not None and not value >= 0:
            raise UserError(f"{place}: {name} is {value:g}.")


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except DECODE_ERRORS:
        return False
    return True
