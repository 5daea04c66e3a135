"""Journals as tests look at them: every record, whether it counts or not."""

from __future__ import annotations

from pathlib import Path

from benchwright.records import JournalLine
from benchwright.runs.table import RunTable


def read_lines(run: Path) -> list[JournalLine]:
    """The records of a run in the order of writing; a torn last line is passed over.

    Raises:
        JournalError: a line in the middle cannot be read.
    """
    return list(RunTable(run).read_records())
