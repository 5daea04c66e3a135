"""What metrics said during a level, kept beside the level's journal: the server's own, and the power of its devices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.endpoint.power import PowerReading
from benchwright.endpoint.watching import Look
from benchwright.files import write_whole
from benchwright.records import UNREADABLE
from benchwright.runs.journal import encode_json

LOOKS = "server.json"
POWER = "power.json"


def keep_looks(directory: Path, looks: Sequence[Look]) -> None:
    """Writes them, if there are any.

    Raises:
        UserError: it cannot be written.
    """
    if looks:
        write_whole(directory / LOOKS, encode_json(list(looks)))


def read_looks(directory: Path) -> list[Look]:
    """Those of a run; none where there are none, or they cannot be read."""
    try:
        return msgspec.json.decode((directory / LOOKS).read_bytes(), type=list[Look])
    except (OSError, *UNREADABLE):
        return []


def keep_power(directory: Path, readings: Sequence[PowerReading]) -> None:
    """Writes them, if there are any.

    Raises:
        UserError: it cannot be written.
    """
    if readings:
        write_whole(directory / POWER, encode_json(list(readings)))


def read_kept_power(directory: Path) -> list[PowerReading]:
    """Those of a run; none where there are none, or they cannot be read."""
    try:
        return msgspec.json.decode((directory / POWER).read_bytes(), type=list[PowerReading])
    except (OSError, *UNREADABLE):
        return []
