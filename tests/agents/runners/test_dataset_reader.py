"""`DatasetReader`: rows with the documented columns, checked when they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.runners.datasets import REQUIRED_COLUMNS, DatasetReader
from benchwright.data.errors import DatasetParseError, DatasetValidationError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(rows: list[Any], name: str = "data.jsonl") -> Path:
        path = tmp_path / name
        lines = [json.dumps(row) for row in rows]
        path.write_text("[" + ",".join(lines) + "]" if name.endswith(".json") else "\n".join(lines) + "\n")
        return path

    return write


def test_there_are_three_required_columns() -> None:
    assert REQUIRED_COLUMNS == ["ground_truth", "user_prompt", "system_prompt"]


@pytest.mark.parametrize("name", ["data.jsonl", "data.json"])
def test_all_rows_are_read_and_counted(write: Write, make_rows: Any, name: str) -> None:
    reader = DatasetReader(str(write(make_rows(5), name)))
    assert reader.read() == make_rows(5)
    assert len(reader) == 5


def test_a_part_is_read_by_limit_and_offset(write: Write, make_rows: Any) -> None:
    reader = DatasetReader(write(make_rows(5)))
    assert reader.read(limit=2, offset=1) == make_rows(5)[1:3]
    assert list(reader.iter_rows(offset=4)) == make_rows(5)[4:]


def test_required_columns_are_found_in_any_case_and_others_keep_theirs(write: Write) -> None:
    row = {"Ground_Truth": "4", "USER_PROMPT": "2 + 2?", "System_Prompt": "Be brief.", "Topic": "sums"}
    (read,) = DatasetReader(write([row])).read()
    assert read == {
        "ground_truth": "4",
        "user_prompt": "2 + 2?",
        "system_prompt": "Be brief.",
        "Topic": "sums",
    }


def test_rows_outside_of_the_part_are_not_checked(write: Write, make_rows: Any) -> None:
    rows = make_rows(4)
    rows[0]["ground_truth"] = rows[3]["ground_truth"] = None
    assert len(DatasetReader(write(rows)).read(limit=2, offset=1)) == 2


def test_a_bad_row_is_named_by_its_place_in_the_file(write: Write, make_rows: Any) -> None:
    rows = make_rows(4)
    rows[3]["ground_truth"] = 3
    path = write(rows)
    with pytest.raises(DatasetValidationError) as caught:
        DatasetReader(path).read(offset=2)
    assert str(caught.value) == f"{path}, line 4: Row 3: 'ground_truth' must be a string, got int"


def test_rows_are_read_only_as_they_are_asked_for(write: Write, make_rows: Any) -> None:
    path = write(make_rows(1))
    path.write_text(path.read_text() + "no json\n")
    rows = DatasetReader(path).iter_rows()
    assert next(rows) == make_rows(1)[0]
    with pytest.raises(DatasetParseError, match="Invalid JSON at line 2"):
        next(rows)


def test_a_missing_file_is_noticed_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Dataset file not found: "):
        DatasetReader(str(tmp_path / "none.jsonl"))


def test_so_is_a_format_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "data.xml").write_text("<rows/>")
    with pytest.raises(DatasetParseError, match=r"Unsupported file format: \.xml\. Supported formats: "):
        DatasetReader(tmp_path / "data.xml")
