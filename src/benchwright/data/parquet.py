"""Reads the rows of a Parquet file, in record batches. pyarrow is imported when the first file is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchwright.data.errors import DatasetParseError
from benchwright.optional_libraries import importing

BATCH_ROWS = 1024
BATCH_BYTES = 16 * 1024 * 1024
BUFFER_BYTES = 64 * 1024


def parquet_rows(file: Path, offset: int) -> Iterator[Any]:
    """Yield the rows from `offset` on. Row groups that end before row `offset` are not read.

    Column chunks are read through a buffer, so that a large row group is never in memory as a whole. The number
    of rows read at once is limited so that they take at most `BATCH_BYTES`, because a small file can expand to
    gigabytes.

    Raises:
        DatasetParseError: If the file is not a Parquet file, or pyarrow is not installed.
    """
    with _opened(file) as parquet:
        texts = _texts(parquet)
        groups, offset = _groups_from(parquet.metadata, offset)
        with _opened(file, read_dictionary=texts) as looked_at:
            for group in groups:
                rows = _rows_at_once(looked_at, group, texts)
                for batch in parquet.iter_batches(rows, row_groups=[group], use_threads=False):
                    yield from batch.slice(min(offset, batch.num_rows)).to_pylist()
                    offset = max(0, offset - batch.num_rows)


def count_parquet_rows(file: Path) -> int:
    """Return the number of rows, from the file's metadata.

    Raises:
        DatasetParseError: If the file is not a Parquet file, or pyarrow is not installed.
    """
    with _opened(file) as parquet:
        count: int = parquet.metadata.num_rows
    return count


@contextmanager
def _opened(file: Path, **more: Any) -> Iterator[Any]:
    with importing("pyarrow", "Reading Parquet needs", "parquet", DatasetParseError):
        import pyarrow
        import pyarrow.parquet
    try:
        with pyarrow.parquet.ParquetFile(file, buffer_size=BUFFER_BYTES, pre_buffer=False, **more) as parquet:
            yield parquet
    except pyarrow.ArrowException as error:
        raise DatasetParseError(f"Invalid Parquet file: {error}") from error


def _groups_from(metadata: Any, offset: int) -> tuple[list[int], int]:
    """Return the row groups that hold rows from `offset` on, and the offset within the first of these row groups."""
    group = 0
    while group < metadata.num_row_groups and offset >= metadata.row_group(group).num_rows:
        offset -= metadata.row_group(group).num_rows
        group += 1
    return list(range(group, metadata.num_row_groups)), offset


def _texts(parquet: Any) -> list[str]:
    """Return the paths of the columns that hold texts or bytes, including texts within lists and objects."""
    columns = (parquet.schema.column(number) for number in range(len(parquet.schema)))
    return [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type in ("STRING", "JSON", "NONE")
    ]


def _rows_at_once(parquet: Any, group: int, texts: Sequence[str]) -> int:
    """Return how many rows of a row group fit into `BATCH_BYTES`, at most `BATCH_ROWS`.

    A text shared by many rows is stored once, in its column's dictionary. Therefore each value is assumed to be
    as long as the longest text in the dictionary. The column is assumed to take at least its size in the file.
    """
    metadata = parquet.metadata.row_group(group)
    longest = {}
    if texts:
        first = next(parquet.iter_batches(1, row_groups=[group], columns=texts, use_threads=False), None)
        longest = dict(zip(texts, _longest_texts(first), strict=True)) if first is not None else {}
    size = 0
    for number in range(metadata.num_columns):
        column = metadata.column(number)
        shared = longest.get(column.path_in_schema, 8)
        size += max(column.total_uncompressed_size, column.num_values * shared)
    rows: int = BATCH_BYTES * metadata.num_rows // max(1, size)
    return max(1, min(BATCH_ROWS, rows))


def _longest_texts(batch: Any) -> Iterator[int]:
    """Yield, for each column of texts, the length in bytes of its longest value."""
    import pyarrow.compute

    for array in _leaves(batch.columns):
        lengths = pyarrow.compute.binary_length(array.dictionary)
        yield pyarrow.compute.max(lengths).as_py() or 0


def _leaves(arrays: Iterable[Any]) -> Iterator[Any]:
    """Yield the arrays of plain values (not lists or objects), in the order of the file's columns.

    The arrays of plain values within lists and objects are included.
    """
    import pyarrow

    for array in arrays:
        if isinstance(array, pyarrow.StructArray):
            yield from _leaves(array.flatten())
        elif isinstance(array, pyarrow.MapArray):
            yield from _leaves([array.keys, array.items])
        elif isinstance(array, pyarrow.ListArray | pyarrow.LargeListArray | pyarrow.FixedSizeListArray):
            yield from _leaves([array.values])
        else:
            yield array
