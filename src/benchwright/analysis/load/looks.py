"""What a server said of itself during a level, kept beside the level's journal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.endpoint.watching import Look
from benchwright.files import write_whole
from benchwright.records import UNREADABLE
from benchwright.runs.journal import encode_json

LOOKS = "server.json"


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
