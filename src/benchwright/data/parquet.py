"""Rows of a Parquet file, by record batches. pyarrow is imported when the first file is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchwright.data.errors import DatasetParseError

BATCH_ROWS = 1024
BUFFER_BYTES = 64 * 1024


def parquet_rows(file: Path, offset: int) -> Iterator[Any]:
    """The rows from `offset` on; row groups that end before it are not read.

    Column chunks are read through a buffer, so that a large row group is never held whole.

    Raises:
        DatasetParseError: the file is no Parquet file, or pyarrow is not installed.
    """
    with _opened(file) as parquet:
        groups, offset = _groups_from(parquet.metadata, offset)
        for batch in parquet.iter_batches(BATCH_ROWS, row_groups=groups, use_threads=False):
            yield from batch.slice(min(offset, batch.num_rows)).to_pylist()
            offset = max(0, offset - batch.num_rows)


def count_parquet_rows(file: Path) -> int:
    """The number of rows, from the file's metadata.

    Raises:
        DatasetParseError: the file is no Parquet file, or pyarrow is not installed.
    """
    with _opened(file) as parquet:
        count: int = parquet.metadata.num_rows
    return count


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DatasetParseError(
            "Reading Parquet needs pyarrow: pip install 'benchwright[parquet]'"
        ) from error
    try:
        with pyarrow.parquet.ParquetFile(file, buffer_size=BUFFER_BYTES, pre_buffer=False) as parquet:
            yield parquet
    except pyarrow.ArrowException as error:
        raise DatasetParseError(f"Invalid Parquet file: {error}") from error


def _groups_from(metadata: Any, offset: int) -> tuple[list[int], int]:
    """The row groups that hold rows from `offset` on, and what remains of the offset in the first of them."""
    group = 0
    while group < metadata.num_row_groups and offset >= metadata.row_group(group).num_rows:
        offset -= metadata.row_group(group).num_rows
        group += 1
    return list(range(group, metadata.num_row_groups)), offset
