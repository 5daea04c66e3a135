"""Reading rows: the same from every format, the documented errors, and no more read than asked for."""

from __future__ import annotations

import csv
import json
import sys
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.data.errors import BadRow, DatasetNotFound, DatasetParseError, DatasetValidationError
from benchwright.data.rows import count_rows, name_file_in_errors, read_rows
from benchwright.errors import UserError

Row = dict[str, Any]

ROWS: list[Row] = [
    {"ground_truth": "4", "user_prompt": "2 + 2?", "system_prompt": "Be brief."},
    {"ground_truth": "Zürich", "user_prompt": 'a "quoted", comma\nand a second line', "system_prompt": "s"},
    {"ground_truth": "7", "user_prompt": "line separator\u2028inside", "system_prompt": "s"},
]


def write_json(path: Path, rows: list[Row]) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def write_jsonl(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_csv(path: Path, rows: list[Row]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(path: Path, rows: list[Row]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)


WRITERS: dict[str, Callable[[Path, list[Row]], None]] = {
    ".json": write_json,
    ".jsonl": write_jsonl,
    ".csv": write_csv,
    ".parquet": write_parquet,
}


@pytest.fixture(params=WRITERS)
def rows_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"rows{request.param}"
    WRITERS[request.param](path, ROWS)
    return path


def text_file(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path, offset: int = 0) -> str:
    with pytest.raises(DatasetParseError) as caught:
        list(read_rows(path, offset=offset))
    return str(caught.value)


def test_every_format_gives_the_same_rows(rows_file: Path) -> None:
    assert list(read_rows(rows_file)) == ROWS
    assert count_rows(rows_file) == len(ROWS)


def test_the_suffix_may_be_in_capitals(rows_file: Path) -> None:
    shouting = rows_file.rename(rows_file.with_suffix(rows_file.suffix.upper()))
    assert list(read_rows(str(shouting))) == ROWS


@pytest.mark.parametrize("suffix", WRITERS)
def test_limit_and_offset_slice_the_rows(suffix: str, tmp_path: Path) -> None:
    rows: list[Row] = [{"n": str(number)} for number in range(10)]
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, rows)

    @settings(deadline=None)
    @given(limit=st.none() | st.integers(0, 12), offset=st.integers(0, 12))
    def slices(limit: int | None, offset: int) -> None:
        assert list(read_rows(path, limit, offset)) == list(islice(rows, offset, None))[:limit]

    slices()


def test_nested_values_are_the_same_from_json_and_parquet(tmp_path: Path) -> None:
    rows = [{"options": ["a", "b"], "answer": 1, "meta": {"score": 0.5, "tags": None}}]
    for suffix in (".json", ".jsonl", ".parquet"):
        path = tmp_path / f"nested{suffix}"
        WRITERS[suffix](path, rows)
        assert list(read_rows(path)) == rows


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv"])
def test_a_byte_order_mark_is_no_part_of_the_first_row(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, ROWS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert list(read_rows(path)) == ROWS


def test_a_missing_file_is_noticed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.jsonl"
    with pytest.raises(FileNotFoundError) as caught:
        read_rows(path)
    assert str(caught.value) == f"Dataset file not found: {path}"
    assert isinstance(caught.value, UserError)


def test_an_unknown_suffix_is_noticed_at_once(tmp_path: Path) -> None:
    path = text_file(tmp_path, "rows.TXT", "")
    with pytest.raises(DatasetParseError) as caught:
        read_rows(path)
    assert str(caught.value) == (
        "Unsupported file format: .txt. Supported formats: .json, .jsonl, .csv, .parquet"
    )


def test_a_directory_cannot_be_read(tmp_path: Path) -> None:
    directory = tmp_path / "rows.jsonl"
    directory.mkdir()
    assert refusal(directory).startswith("Error reading file: ")
    with pytest.raises(DatasetParseError, match=r"^Error reading file: "):
        count_rows(directory)


def test_a_negative_offset_is_a_programming_error(rows_file: Path) -> None:
    with pytest.raises(ValueError, match="offset must be 0 or more"):
        read_rows(rows_file, offset=-1)


class TestJsonLines:
    def test_blank_lines_are_no_rows(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '\n{"n": 1}\n  \n\r\n{"n": 2}')
        assert list(read_rows(path)) == [{"n": 1}, {"n": 2}]
        assert count_rows(path) == 2

    def test_an_error_names_the_physical_line(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '{"n": 1}\n\n{"n": \n')
        assert refusal(path, offset=1).startswith("Invalid JSON at line 3: ")

    def test_rows_before_an_error_are_read(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '{"n": 1}\nbroken\n')
        rows = read_rows(path)
        assert next(rows) == {"n": 1}
        with pytest.raises(DatasetParseError, match="line 2"):
            next(rows)

    def test_rows_outside_limit_and_offset_are_not_looked_at(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", 'broken\n{"n": 1}\nbroken\n')
        assert list(read_rows(path, limit=1, offset=1)) == [{"n": 1}]

    @pytest.mark.parametrize("line", [b'{"n": "\xff"}', b'{"n": NaN}', b"[" * 100_000, b'{"n": 1} {"n": 2}'])
    def test_what_is_no_json_is_refused(self, line: bytes, tmp_path: Path) -> None:
        assert refusal(text_file(tmp_path, "rows.jsonl", line)).startswith("Invalid JSON at line 1: ")

    def test_a_row_that_is_no_object_is_named_by_its_absolute_index(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '{"n": 1}\n{"n": 2}\n[3]\n')
        with pytest.raises(DatasetValidationError) as caught:
            list(read_rows(path, offset=1))
        assert str(caught.value) == "Row 2: Expected object, got list"

    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        with open(path, "w") as file:
            file.writelines(f'{{"n": {number}, "text": "{"x" * 100}"}}\n' for number in range(100_000))
        tracemalloc.start()
        try:
            assert sum(1 for _ in read_rows(path)) == 100_000
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1_000_000 < path.stat().st_size


class TestJson:
    def test_an_object_is_not_an_array(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.json", '{"rows": []}')
        assert refusal(path) == "JSON file must contain an array of objects, got dict"

    def test_what_is_no_json_is_refused(self, tmp_path: Path) -> None:
        assert refusal(text_file(tmp_path, "rows.json", '[{"n": }]')).startswith("Invalid JSON file: ")

    def test_json_lines_under_the_wrong_name_are_recognised(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.json", '{"n": 1}\n{"n": 2}\n')
        assert refusal(path).endswith("(with one object per line it would have to be named .jsonl)")

    def test_a_string_that_is_not_utf8_is_refused_where_it_stands(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.json", b'[{"n": "ok"}, {"n": "\xff"}]')
        assert list(read_rows(path, limit=1)) == [{"n": "ok"}]
        assert refusal(path).startswith("Invalid JSON file: row 1: ")

    def test_a_row_that_is_no_object_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetValidationError, match=r"^Row 1: Expected object, got NoneType$"):
            list(read_rows(text_file(tmp_path, "rows.json", "[{}, null]")))


class TestCsv:
    def test_a_long_row_is_refused_with_its_number(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.csv", "a,b\n1,2\n1,2,3\n")
        assert refusal(path, offset=1) == "CSV row 2 has more columns than the header"

    def test_a_short_row_has_null_in_the_columns_it_lacks(self, tmp_path: Path) -> None:
        assert list(read_rows(text_file(tmp_path, "rows.csv", "a,b\n1\n"))) == [{"a": "1", "b": None}]

    def test_a_field_may_be_longer_than_the_csv_module_allows_by_default(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.csv", "a\n" + "x" * 200_000 + "\n")
        assert [len(row["a"]) for row in read_rows(path)] == [200_000]

    def test_a_column_named_twice_is_refused(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.csv", "a,b,a\n1,2,3\n")
        assert refusal(path) == "Invalid CSV file: the header names these columns twice: ['a']"

    def test_what_is_not_utf8_is_refused(self, tmp_path: Path) -> None:
        assert refusal(text_file(tmp_path, "rows.csv", b"a\n\xff\n")).startswith("Invalid CSV file: ")

    def test_an_empty_file_has_no_rows(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.csv", "")
        assert list(read_rows(path)) == []
        assert count_rows(path) == 0


class TestParquet:
    def test_what_is_no_parquet_is_refused(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.parquet", "this is no Parquet file")
        assert refusal(path).startswith("Invalid Parquet file: ")

    def test_without_pyarrow_the_message_says_what_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "rows.parquet"
        write_parquet(path, ROWS)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert refusal(path) == "Reading Parquet needs pyarrow: pip install 'benchwright[parquet]'"


class TestNaming:
    """Errors of rows name their file."""

    def test_a_row_of_json_lines_by_its_line_blank_ones_counted(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '{"n": 1}\n\n\n[2]\n')
        with pytest.raises(DatasetValidationError) as caught, name_file_in_errors(path):
            list(read_rows(path))
        assert str(caught.value) == f"{path}, line 4: Row 1: Expected object, got list"

    @pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
    def test_a_row_of_another_format_by_its_number(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / f"rows{suffix}"
        WRITERS[suffix](path, ROWS)
        with pytest.raises(DatasetValidationError) as caught, name_file_in_errors(path):
            raise BadRow(2, "'answer' cannot be null")
        assert str(caught.value) == f"{path}: Row 2: 'answer' cannot be null"

    def test_a_file_that_cannot_be_parsed(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "rows.jsonl", '{"n": 1}\n{"n": \n')
        with (
            pytest.raises(DatasetParseError, match=r"/rows\.jsonl: Invalid JSON at line 2: "),
            name_file_in_errors(path),
        ):
            list(read_rows(path))

    def test_a_file_that_is_not_there_once(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        with pytest.raises(DatasetNotFound) as caught, name_file_in_errors(path):
            list(read_rows(path))
        assert str(caught.value) == f"Dataset file not found: {path}"
