"""Figures that a benchmark defines besides its scores (F1, macro averages, pass^k), in a file beside the run.

Some figures need the benchmark's data or a user's code, which may be missing when a run is read later. So the
figures are computed once, when the run is reported. They are valid as long as the run's journal is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchwright.catalog.benchmark import Figure
from benchwright.errors import JournalError
from benchwright.files import write_atomically
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.journal import TRIALS_FILE, encode_json

FIGURES_FILE = "benchmark.json"

FiguresBySlot = dict[str, list[Figure]]
"""Mapping from the slot of each target to its figures."""


class _Kept(Record, frozen=True):
    """Stored figures.

    `journal`: the size in bytes that the run's journal had when the figures were computed.
    """

    journal: int
    figures: FiguresBySlot


def write_figures(directory: Path, figures: FiguresBySlot) -> None:
    """Store the figures of a run, with the present size of its journal.

    Raises:
        JournalError: If the run's directory cannot be written.
    """
    kept = _Kept((directory / TRIALS_FILE).stat().st_size, figures)
    write_atomically(directory / FIGURES_FILE, encode_json(kept), error=JournalError)


def read_figures(directory: Path) -> Mapping[str, list[Figure]]:
    """Return the stored figures of a run.

    Empty if there are none, or if the run was resumed since they were stored.
    """
    try:
        kept = msgspec.json.decode((directory / FIGURES_FILE).read_bytes(), type=_Kept)
        return kept.figures if kept.journal == (directory / TRIALS_FILE).stat().st_size else {}
    except (OSError, *DECODE_ERRORS):
        return {}
