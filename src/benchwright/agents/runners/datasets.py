"""`DatasetReader`: the reader of datasets that osmosis_ai documents. It checks every row that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path

from benchwright.agents.rollout_requests import dataset_row_to_request
from benchwright.data.columns import DOCUMENTED_COLUMNS, documented_row
from benchwright.data.rows import Row, count_rows, name_file_in_errors, read_rows

__all__ = ["REQUIRED_COLUMNS", "DatasetReader", "DatasetRow", "dataset_row_to_request"]

REQUIRED_COLUMNS = list(DOCUMENTED_COLUMNS)

DatasetRow = Row
"""A row: the required columns, whose values are text, and any other columns of the dataset."""


class DatasetReader:
    """Reads the rows of a .json, .jsonl, .csv or .parquet file. `len` of the reader is the number of rows in the file.

    Raises:
        FileNotFoundError: If the file does not exist.
        DatasetParseError: If the file's name has another suffix. Also raised when reading or counting, if the
            content does not match the suffix.
    """

    def __init__(self, file_path: str | PathLike[str]) -> None:
        self.file_path = Path(file_path)
        read_rows(file_path, limit=0)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        with name_file_in_errors(self.file_path):
            return count_rows(self.file_path)

    def read(self, limit: int | None = None, offset: int = 0) -> list[DatasetRow]:
        """Return at most `limit` rows, starting at the row `offset`, as `iter_rows` does."""
        return list(self.iter_rows(limit, offset))

    def iter_rows(self, limit: int | None = None, offset: int = 0) -> Iterator[DatasetRow]:
        """Yield at most `limit` rows, starting at the row `offset`. Each row is read when needed.

        Other rows are not checked.

        Raises:
            DatasetParseError: If the content does not match the file's suffix.
            DatasetValidationError: If a row lacks a required column, or if the value there is null, blank or
                not text.
        """
        with name_file_in_errors(self.file_path):
            for index, row in enumerate(read_rows(self.file_path, limit, offset), offset):
                yield documented_row(row, index)
