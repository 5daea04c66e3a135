"""Which samples of a benchmark are tried: by id and by label, exactly or by a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, source, write_rows

from benchwright.catalog.selection import Selection, read_ids
from benchwright.catalog.task import BenchmarkTask
from benchwright.errors import UserError

SUBJECTS = ("anatomy", "astronomy", "virology", "marketing")
COUNT = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Twelve questions, `mmlu_0` to `mmlu_11`, of four subjects in turn."""
    rows = [
        {
            "question": f"Number {number}?",
            "subject": SUBJECTS[number % 4],
            "choices": list("abcd"),
            "answer": 0,
        }
        for number in range(COUNT)
    ]
    return write_rows(tmp_path / "mmlu" / "test.jsonl", rows)


def chosen(path: Path, selection: Selection) -> list[str]:
    """The ids of the selected samples, counted before as a run does."""
    task = BenchmarkTask(benchmark("mmlu"), source("mmlu", path), selection)
    ids = [sample.id for sample in task.samples()]
    assert task.size() == len(ids)
    return ids


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"id": "mmlu_3"}, ["mmlu_3"]),
        ({"id": "mmlu_1*"}, ["mmlu_1", "mmlu_10", "mmlu_11"]),
        ({"id": "mmlu_?1"}, ["mmlu_11"]),
        ({"id": ("mmlu_3", "mmlu_1")}, ["mmlu_1", "mmlu_3"]),
        ({"subject": "a*"}, [f"mmlu_{number}" for number in range(COUNT) if number % 4 < 2]),
        ({"subject": "virology", "id": "mmlu_1*"}, ["mmlu_10"]),
        (
            {"subject": ("virology", "anatomy")},
            [f"mmlu_{number}" for number in range(COUNT) if number % 4 in (0, 2)],
        ),
    ],
    ids=str,
)
def test_every_key_must_fit_and_of_its_values_any(
    path: Path, where: Mapping[str, str | Sequence[str]], expected: list[str]
) -> None:
    assert chosen(path, Selection(where=where)) == expected


def test_ids_are_exact_and_in_the_order_of_the_data(path: Path) -> None:
    assert chosen(path, Selection(ids=("mmlu_10", "mmlu_1"))) == ["mmlu_1", "mmlu_10"]


def test_ids_where_and_limit_hold_together(path: Path) -> None:
    selection = Selection(limit=1, where={"subject": "virology"}, ids=("mmlu_0", "mmlu_2", "mmlu_6"))
    assert chosen(path, selection) == ["mmlu_2"]


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection(where={"id": "mmlu_12"}), "No sample of mmlu has id=mmlu_12. Did you mean 'mmlu_"),
        (Selection(where={"id": ("mmlu_1", "mmul_2")}), "No sample of mmlu has id=mmul_2. Did you mean"),
        (Selection(where={"id": "mmlu_1", "subject": "virology"}), "matches all --where filters"),
        (Selection(where={"id": "x_*"}), "No sample of mmlu has id=x_*."),
        (Selection(where={"topic": "virology"}), "have no 'topic'; they have: category, id, subject"),
        (Selection(ids=("mmlu_1", "mmul_2")), "--ids: mmlu has no sample 'mmul_2' (did you mean 'mmlu_2'?)."),
        (Selection(limit=1, ids=("mmlu_0", "zzz", "yyy")), "--ids: mmlu has no samples 'zzz', 'yyy'."),
        (Selection(ids=("mmlu_1",), where={"id": "mmlu_2"}), "matches --ids and all --where filters"),
    ],
    ids=str,
)
def test_what_no_sample_has_is_named_with_the_nearest(path: Path, selection: Selection, said: str) -> None:
    with pytest.raises(UserError) as refused:
        chosen(path, selection)
    assert said in str(refused.value)


def test_of_many_unknown_ids_the_first_are_named(path: Path) -> None:
    with pytest.raises(UserError, match=r"'zz00', .*'zz04' and 15 more\.$"):
        chosen(path, Selection(ids=[f"zz{number:02}" for number in range(20)]))


class TestTheFile:
    def test_it_holds_one_id_per_line_and_comments(self, tmp_path: Path) -> None:
        file = tmp_path / "ids.txt"
        file.write_text("# failed yesterday\nmmlu_3  # slow\n\n  mmlu_1\nmmlu_3\nodd#id\r\n")
        assert read_ids(file) == ("mmlu_1", "mmlu_3", "odd#id")

    @pytest.mark.parametrize(
        ("content", "said"),
        [(b"# none\n", "holds no ids"), (b"\xff\xfe\x00", "is not a text file"), (None, "cannot be read")],
        ids=["empty", "binary", "missing"],
    )
    def test_what_is_no_list_of_ids_is_refused(
        self, tmp_path: Path, content: bytes | None, said: str
    ) -> None:
        file = tmp_path / "ids.txt"
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(UserError, match=said):
            read_ids(file)
