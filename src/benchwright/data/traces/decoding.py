"""Lines of traces: read from files, decoded, and refused with the place at which they are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.data.traces.records import Line
from benchwright.errors import UserError
from benchwright.records import UNREADABLE

T = TypeVar("T")


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a trace that are not empty; a JSON document of several lines is one. Of a folder, all JSON files.

    Raises:
        UserError: it cannot be read.
    """
    try:
        if path.is_dir():
            for file in sorted(one for one in path.iterdir() if one.suffix in (".json", ".jsonl")):
                yield from lines_of(file)
            return
        with path.open("rb") as opened:
            first = next((line for line in opened if line.strip()), b"")
            if first.lstrip()[:1] in (b"{", b"[") and not _is_json(first):
                opened.seek(0)
                yield Line(str(path), opened.read())
                return
            opened.seek(0)
            for number, line in enumerate(opened, 1):
                text = line.strip()
                if text:
                    yield Line(f"{path}, line {number}", text)
    except OSError as error:
        raise UserError(f"Cannot read the trace {path}: {error.strerror}.") from None


def decoded(decoder: msgspec.json.Decoder[T], line: Line) -> T:
    """What a line says.

    Raises:
        UserError: it is no JSON, or says something else; names the place.
    """
    try:
        return decoder.decode(line.text)
    except UNREADABLE as error:
        raise UserError(f"{line.place}: {error}.") from None


def not_negative(place: str, **values: float | None) -> None:
    """Checks numbers by their names.

    Raises:
        UserError: one is below 0.
    """
    for name, value in values.items():
        if value is not None and not value >= 0:
            raise UserError(f"{place}: {name} is {value:g}.")


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except UNREADABLE:
        return False
    return True
