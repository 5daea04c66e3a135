"""The rows of a dataset as samples: which column tells them apart, and which of them belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.rows import MAX_NAME_LENGTH, SampleRows
from benchwright.data.rows import Row
from benchwright.records import Sample

PROMPT: Row = {"user_prompt": "?", "ground_truth": "!"}


def samples(tmp_path: Path, rows: Sequence[dict[str, Any]], **options: Any) -> list[Sample]:
    return list(rows_of(tmp_path, rows, **options).samples(lambda row, index: PROMPT | row))


def rows_of(tmp_path: Path, rows: Sequence[dict[str, Any]], **options: Any) -> SampleRows:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return SampleRows(path, **options)


@pytest.mark.parametrize("ids", [["b", "a", "c"], [7, 3, 12], ["7", 8, "x"]])
def test_the_column_id_names_the_samples(tmp_path: Path, ids: list[Any]) -> None:
    found = samples(tmp_path, [{"id": one} for one in ids])
    assert [one.id for one in found] == [str(one) for one in ids]
    assert [one.row_index for one in found] == [0, 1, 2]


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "b", "a"],
        ["a", None, "b"],
        ["a", " ", "b"],
        [1, "1", 2],
        [True, False, 3],
        [["a"], ["b"], ["c"]],
        ["a", "b", "c" * (MAX_NAME_LENGTH + 1)],
    ],
)
def test_ids_that_do_not_name_every_row_are_left_alone(tmp_path: Path, ids: list[Any]) -> None:
    found = samples(tmp_path, [{"id": one} for one in ids])
    assert [(one.id, one.row) for one in found] == [("0", None), ("1", None), ("2", None)]


def test_without_the_column_a_sample_is_named_by_its_row(tmp_path: Path) -> None:
    found = samples(tmp_path, [{"x": 1}] * 4, limit=2, offset=1)
    assert [(one.id, one.row_index) for one in found] == [("1", 1), ("2", 2)]


def test_the_column_group_is_that_of_the_clusters(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"group": "a", "kind": "x"}, {"group": 2, "kind": "y"}, {"kind": "x"}]
    assert [one.group for one in samples(tmp_path, rows)] == ["a", "2", None]
    assert [one.group for one in samples(tmp_path, rows, group_by="kind")] == ["x", "y", "x"]


def test_what_was_taken_is_known(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, [{"id": "a", "group": "x"}, {"id": "b"}])
    assert rows.check_and_count(lambda row, index: row) == 2
    assert rows.inferred_columns == {"id": "id", "group": "group"}
