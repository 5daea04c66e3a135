"""What a benchmark makes of a run besides its scores (F1, macro averages, pass^k), kept with the run.

Some need the benchmark's data or a user's code, which may not be there where a run is read. They are made once, when
the run is reported, and hold as long as its journal is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.benchmark import Figure
from benchwright.errors import JournalError
from benchwright.files import write_whole
from benchwright.records import UNREADABLE, Record
from benchwright.runs.journal import TRIALS, encode_json

FILE = "benchmark.json"

Figures = dict[str, list[Figure]]
"""The figures of each target, by its slot."""


class _Kept(Record, frozen=True):
    """Figures of a journal of so many bytes."""

    journal: int
    figures: Figures


def keep_own_figures(directory: Path, figures: Figures) -> None:
    """Keeps the figures of a run as it is now.

    Raises:
        JournalError: the run's directory cannot be written.
    """
    kept = _Kept((directory / TRIALS).stat().st_size, figures)
    write_whole(directory / FILE, encode_json(kept), error=JournalError)


def own_figures(directory: Path) -> Mapping[str, list[Figure]]:
    """The figures of a run; nothing where none were kept, or where the run went on since."""
    try:
        kept = msgspec.json.decode((directory / FILE).read_bytes(), type=_Kept)
        return kept.figures if kept.journal == (directory / TRIALS).stat().st_size else {}
    except (OSError, *UNREADABLE):
        return {}
