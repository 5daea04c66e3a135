"""What a dataset that was found gives: rows, typed rows, paths and a digest."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from time import process_time
from typing import Annotated

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.dataset_kit import QUIZ, QUIZ_FILES, TEST_FILE, lay, lines, question

from benchwright.data.datasets import Dataset, Source, find_dataset
from benchwright.data.errors import DatasetError, DatasetNotFound, DatasetParseError, DatasetValidationError


class Question(msgspec.Struct, frozen=True):
    question: str
    choices: Annotated[list[str], msgspec.Meta(min_length=2)]
    answer: int


def found(directory: Path, dataset: Dataset = QUIZ) -> Source:
    return find_dataset(dataset, directory.parent, path=directory)


class TestTypedRows:
    def test_they_are_the_rows_in_order_without_other_columns(self, tmp_path: Path) -> None:
        rows = [
            {"question": f"q{number}", "choices": ["a", "b"], "answer": 0, "note": "x"} for number in range(3)
        ]
        lay(tmp_path / "quiz", {"test.jsonl": lines(*rows)})
        read = list(found(tmp_path / "quiz").read(Question))
        assert read == [Question(f"q{number}", ["a", "b"], 0) for number in range(3)]

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            (
                {"question": 7, "choices": ["a", "b"], "answer": 0},
                r"Expected `str`, got `int` - at `\$.question`",
            ),
            (
                {"question": "q", "choices": "ab", "answer": 0},
                r"Expected `array`, got `str` - at `\$.choices`",
            ),
            ({"question": "q", "choices": ["a"], "answer": 0}, r"length >= 2 - at `\$.choices`"),
            ({"question": "q", "choices": ["a", "b"]}, "missing required field `answer`"),
        ],
    )
    def test_a_row_that_does_not_fit_names_file_row_and_field(
        self, row: dict[str, object], said: str, tmp_path: Path
    ) -> None:
        good = {"question": "q", "choices": ["a", "b"], "answer": 0}
        lay(tmp_path / "quiz", {"test.jsonl": lines(good, good, row)})
        with pytest.raises(DatasetValidationError, match=rf"test\.jsonl, line 3: Row 2: .*{said}"):
            list(found(tmp_path / "quiz").read(Question))

    def test_rows_before_a_bad_one_come_first(self, tmp_path: Path) -> None:
        lay(tmp_path / "quiz", {"test.jsonl": question("good") + b'{"question": 1}\n'})
        assert next(found(tmp_path / "quiz").read(Question)).question == "good"

    def test_numbers_in_csv_are_written_as_text_and_fields_may_be_long(self, tmp_path: Path) -> None:
        class Turn(msgspec.Struct):
            prompt: str
            turns: int

        long = 'a "quoted" text,\n' * 20_000
        (tmp_path / "quiz").mkdir()
        with open(tmp_path / "quiz" / "test.csv", "w", newline="") as file:
            csv.writer(file).writerows([["prompt", "turns"], [long, "3"]])
        assert list(found(tmp_path / "quiz").read(Turn)) == [Turn(long, 3)]


class TestRows:
    def test_a_file_that_is_not_what_it_says_is_named(self, tmp_path: Path) -> None:
        lay(tmp_path / "quiz", {"test.jsonl": b'{"question": "q"}\nno JSON\n'})
        with pytest.raises(DatasetParseError, match=r"test\.jsonl: Invalid JSON at line 2"):
            list(found(tmp_path / "quiz").rows())

    def test_json_files_may_hold_lines_where_the_dataset_says_so(self, tmp_path: Path) -> None:
        calls = Dataset("calls", {"test": ("CALLS_*.json",)}, json_lines=True)
        lay(tmp_path / "calls", {"CALLS_1.json": question("1"), "CALLS_2.json": question("2")})
        assert [row["question"] for row in found(tmp_path / "calls", calls).rows()] == ["1", "2"]

    def test_real_files_of_function_calls_are_read_so(self, real_rows: Path) -> None:
        bfcl = Dataset(
            "bfcl",
            {
                "test": ("bfcl_eval/data/BFCL_v4_*.json",),
                "answers": ("bfcl_eval/data/possible_answer/BFCL_v4_*.json",),
            },
            local={"test": ("BFCL_v4_*.json",), "answers": ("possible_answer/BFCL_v4_*.json",)},
            json_lines=True,
        )
        source = find_dataset(bfcl, real_rows, offline=True)
        answered = {row["id"] for row in source.rows("answers")}
        assert answered < {row["id"] for row in source.rows()}


class TestThePath:
    def test_of_a_file_or_directory_below_the_root(self, tmp_path: Path) -> None:
        lay(tmp_path / "quiz", QUIZ_FILES)
        source = found(tmp_path / "quiz")
        assert source.path("README.md").read_bytes() == b"# A quiz"
        assert source.path("all").is_dir()

    @pytest.mark.parametrize("relative", ["nowhere.json", "../quiz/README.md"])
    def test_of_what_is_not_there_or_outside_is_an_error(self, relative: str, tmp_path: Path) -> None:
        lay(tmp_path / "quiz", QUIZ_FILES)
        with pytest.raises(DatasetNotFound, match="which quiz needs"):
            found(tmp_path / "quiz").path(relative)


class TestTheDigest:
    def test_it_is_that_of_the_bytes_wherever_they_lie(self, tmp_path: Path) -> None:
        lay(tmp_path / "here", QUIZ_FILES)
        lay(
            tmp_path / "there",
            {"test.jsonl": QUIZ_FILES[TEST_FILE], "dev.jsonl": question("the dev question")},
        )
        assert found(tmp_path / "here").digest == found(tmp_path / "there").digest

    @pytest.mark.parametrize("name", QUIZ_FILES)
    def test_only_files_of_its_splits_count(self, name: str, tmp_path: Path) -> None:
        before = found(lay(tmp_path / "quiz", QUIZ_FILES)).digest
        after = found(lay(tmp_path / "quiz", {name: QUIZ_FILES[name] + b"\n"})).digest
        assert (before == after) == (name == "README.md")

    def test_splits_that_change_places_change_it(self, tmp_path: Path) -> None:
        one = lay(tmp_path / "one", {"test.jsonl": question("a"), "dev.jsonl": question("b")})
        other = lay(tmp_path / "other", {"test.jsonl": question("b"), "dev.jsonl": question("a")})
        assert found(one).digest != found(other).digest

    def test_a_description_is_plain_data(self, tmp_path: Path) -> None:
        source = found(lay(tmp_path / "quiz", {"test.jsonl": question("a")}))
        assert msgspec.json.decode(msgspec.json.encode(source.describe())) == {
            "provenance": "path",
            "revision": None,
            "pinned": False,
            "digest": source.digest,
            "files": [str(tmp_path / "quiz" / "test.jsonl")],
        }


def test_a_benchmark_of_fourteen_thousand_questions_is_found_read_and_digested_quickly(
    tmp_path: Path,
) -> None:
    """MMLU's size and layout; 0.3 s is the goal, the bound leaves room for a busy machine."""
    letters = random.Random(7)
    rows = [
        {
            "question": "".join(letters.choices("abcdefgh ", k=250)),
            "subject": "s",
            "choices": [f"choice {number} {letter}" * 3 for letter in "abcd"],
            "answer": number % 4,
        }
        for number in range(14_042)
    ]
    (tmp_path / "quiz").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "quiz" / "test.parquet")
    started = process_time()
    source = found(tmp_path / "quiz")
    count = sum(1 for _ in source.read(Question))
    assert source.digest
    assert (count, process_time() - started < 1.0) == (14_042, True)


def test_every_error_of_a_dataset_is_one_line(tmp_path: Path) -> None:
    lay(tmp_path / "quiz", {"test.jsonl": b"[1]\n"})
    with pytest.raises(DatasetError) as caught:
        list(found(tmp_path / "quiz").read(Question))
    assert "\n" not in str(caught.value)
