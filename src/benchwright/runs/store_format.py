"""The number of the store's format, which tells the runs of a newer version from damaged ones.

The number is raised when an older version would read a run wrongly. New fields do not raise it, because unknown fields
are ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright import __version__
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, JournalLine, Record, RunEvent, ScoreRecord, TrialRecord

THIS_VERSION = f"Benchwright {__version__}"
"""This program with its version."""

STORE_FORMAT = 1
"""Format of the runs that this version writes. Runs without a number (0) are read like those of format 1."""

LINE_TYPES = tuple(str(kind.__struct_config__.tag) for kind in (TrialRecord, ScoreRecord, RunEvent))
"""The types of records that a journal may have."""


class _TypedLine(Record, frozen=True):
    """The field that all lines of a journal have in common."""

    type: str = ""


class _Header(Record, frozen=True):
    """The fields of run.json that all formats have in common. Their types are checked by `check_format`."""

    format: Any = 0
    versions: Any = {}


def check_format(path: Path, content: bytes) -> None:
    """Check that this version knows the format of a run. Content that is no JSON object passes.

    `path`, `content`: the path of run.json, and its bytes.

    Raises:
        UserError: If a newer version wrote the run.
    """
    try:
        header = msgspec.json.decode(content, type=_Header)
    except DECODE_ERRORS:
        return
    if type(header.format) is int and header.format <= STORE_FORMAT:
        return
    version = header.versions.get("benchwright") if isinstance(header.versions, dict) else None
    writer = f"Benchwright {version}" if version else "a newer Benchwright"
    raise UserError(
        f"{path} has format {str(header.format)[:20]!r}, written by {writer}; this is {THIS_VERSION}, "
        f"which reads formats up to {STORE_FORMAT}: upgrade Benchwright to read it."
    )


_decode_line = msgspec.json.Decoder(JournalLine).decode


def decode_known_line(encoded: bytes) -> JournalLine:
    """Parse one line of a journal. Raises one of `DECODE_ERRORS`, which says if only newer versions know its type."""
    try:
        line: JournalLine = _decode_line(encoded)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_unknown_line_type(encoded) or str(error)) from None
    return line


def _unknown_line_type(encoded: bytes) -> str | None:
    """Return the message on a line of a journal whose type only newer versions know. None for other lines."""
    try:
        kind = msgspec.json.decode(encoded, type=_TypedLine).type
    except DECODE_ERRORS:
        return None
    if kind in ("", *LINE_TYPES):
        return None
    return (
        f"its type {kind[:20]!r} is of a newer Benchwright; this is {THIS_VERSION}: "
        "upgrade Benchwright to read it"
    )
