"""A small Parquet file can stand for gigabytes: what is read at once is bounded by bytes, not by rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.data.rows import read_rows

MEGABYTE = 1_000_000
LARGE = "x" * MEGABYTE

PEAK = r"""
import re, sys
from pathlib import Path
from benchwright.data.rows import read_rows
rows = sum(1 for _ in read_rows(sys.argv[1], limit=int(sys.argv[2])))
print(rows, int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""
"""How many rows there were, and the most MiB that the process took."""


def repeated(values: Any, rows: int, place: int = 0) -> Any:
    """A column in which one of the values stands in each row, and in the file once."""
    return pa.DictionaryArray.from_arrays(pa.array([place] * rows, pa.int32()), values)


def in_lists(values: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), values)


def in_messages(values: Any) -> Any:
    return in_lists(
        pa.StructArray.from_arrays([repeated(["user"], len(values)), values], ["role", "content"])
    )


COLUMNS = {
    "texts": repeated([LARGE], 1000),
    "bytes": repeated([LARGE.encode()], 1000),
    "texts in lists": in_lists(repeated([LARGE], 1000)),
    "texts in messages": in_messages(repeated([LARGE], 1000)),
    "texts that come late": pa.chunked_array(
        [repeated(["short", LARGE], 500, 0), repeated(["short", LARGE], 500, 1)]
    ),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("limit", [1, 1000])
def test_a_value_that_is_there_for_many_rows_is_held_for_a_few(
    tmp_path: Path, column: Any, limit: int
) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"prompt": column}), path, compression="zstd")
    assert path.stat().st_size < 5_000
    ended = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(limit)], capture_output=True, text=True, check=True
    )
    rows, peak = map(int, ended.stdout.split())
    assert rows == limit
    assert peak < 300


def test_long_values_and_short_ones_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = [
        {
            "text": LARGE if number % 40 == 7 else f"{number}",
            "said": [{"role": "user", "parts": [LARGE[:number]]}],
        }
        for number in range(120)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    assert list(read_rows(path)) == rows
    assert list(read_rows(path, limit=10, offset=45)) == rows[45:55]
