"""In what the data of two runs differ, sample by sample; and under which names their scores are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.analysis.test_compare import pair_of
from tests.app.compare_kit import Made, write_run
from tests.interop.foreign_kit import WRITERS
from tests.interop.inspect_kit import sample, write_log

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.records import DataDifferences, SampleDifference
from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.reports.comparison.sentences import note_lines, unescaped_line
from benchwright.runs.manifest import DataFile


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))


OLD = [
    Made("0", 1.0, asked="What is 1 + 1?", gold="2"),
    Made("1", 1.0, asked="What is 2 + 2?", gold="4"),
    Made("2", 0.0, asked="What is 3 + 3?", gold="6"),
    Made("3", 0.0, asked="What is 4 + 4?", gold="8"),
]


def on(digest: str, *columns: str) -> list[DataFile]:
    return [DataFile("questions.jsonl", digest * 32, 4, columns={column: column for column in columns})]


def differing(place: Path, new: list[Made], *columns: str, **wanted: Any) -> DataDifferences | None:
    a = write_run(place / "a", OLD, data=on("a", *columns))
    b = write_run(place / "b", new, data=on("b", *columns))
    return pair_of(str(a), str(b), **wanted).data


def changed(number: int, **fields: Any) -> list[Made]:
    return [msgspec.structs.replace(one, **fields) if one.sample == str(number) else one for one in OLD]


def test_another_gold_answer_is_told_with_its_sample(tmp_path: Path) -> None:
    found = differing(tmp_path, changed(1, gold="five"), allow_incomparable=True)
    assert found is not None
    assert found.samples == [SampleDifference("1", "gold answer", "4", "five")]
    assert (found.both, found.checked, found.only_a, found.only_b) == (4, 4, [], [])


def test_another_prompt_is_told_with_its_sample(tmp_path: Path) -> None:
    """Without ids of their own, samples are matched by what was asked: this one is not compared."""
    found = differing(tmp_path, changed(2, asked="What is 3 plus 3?"), allow_incomparable=True)
    assert found is not None
    assert found.samples == [SampleDifference("2", "prompt", "What is 3 + 3?", "What is 3 plus 3?")]
    assert found.both == 3


def test_a_prompt_that_a_column_names_is_compared_and_told(tmp_path: Path) -> None:
    found = differing(tmp_path, changed(2, asked="What is 3 plus 3?"), "id")
    assert found is not None
    assert [(one.sample, one.what) for one in found.samples] == [("2", "prompt")]
    assert found.both == 4


def test_samples_of_one_side_only_are_named(tmp_path: Path) -> None:
    new = [*OLD[1:], Made("9", 1.0, asked="What is 9 + 9?", gold="18")]
    found = differing(tmp_path, new, allow_incomparable=True)
    assert found is not None
    assert (found.only_a, found.only_b, found.samples) == (["0"], ["9"], [])


def test_white_space_makes_no_difference(tmp_path: Path) -> None:
    found = differing(tmp_path, changed(1, gold=" 4\n"), allow_incomparable=True)
    assert found is not None
    assert found.is_empty


def test_data_known_to_be_the_same_has_no_differences(tmp_path: Path) -> None:
    a, b = (str(write_run(tmp_path / name, OLD)) for name in ("a", "b"))
    assert pair_of(a, b).data is None


def test_a_sentence_counts_what_differs(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", OLD, data=on("a"))
    b = write_run(tmp_path / "b", changed(1, gold="five"), data=on("b"))
    found = compare([str(a), str(b)], ComparisonOptions(allow_incomparable=True)).comparison
    told = [unescaped_line(line) for line in note_lines(with_side_names(found))]
    assert (
        "The data of B and A differ, with 4 samples on both sides: 1 sample with another gold answer." in told
    )


def test_gold_answers_of_result_files_are_compared(tmp_path: Path) -> None:
    paths = []
    for name, gold in (("a", "4"), ("b", "5")):
        samples = [
            {"id": "1", "correct": True, "expected": gold},
            {"id": "2", "correct": True, "expected": "6"},
        ]
        content = {
            "benchmark": "sums",
            "model": name,
            "sample_results": samples,
            "protocol": {"data": {"digest": name}},
        }
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(content))
    found = pair_of(*map(str, paths), allow_incomparable=True).data
    assert found is not None
    assert found.samples == [SampleDifference("1", "gold answer", "4", "5")]


def test_two_logs_of_one_program_are_checked_though_they_name_no_data(tmp_path: Path) -> None:
    same = write_log(tmp_path / "a.eval", [sample(1), sample(2)])
    other = write_log(tmp_path / "b.eval", [sample(1), sample(2, target="wrong")], model="openai/large")
    pair = pair_of(str(same), str(other))
    assert pair.data is not None
    assert pair.data.samples == [SampleDifference("2", "gold answer", "right", "wrong")]
    agreeing = write_log(tmp_path / "c.eval", [sample(1), sample(2, "I")], model="openai/large")
    assert "could not check that the data is the same" in pair.notes
    assert "could not check that the data is the same" not in pair_of(str(same), str(agreeing)).notes


def test_scores_of_two_programs_keep_their_names(tmp_path: Path) -> None:
    old = WRITERS["lm-eval"](tmp_path, "old", [1.0, 0.0, 1.0])
    new = WRITERS["inspect"](tmp_path, "new", [1.0, 1.0, 1.0])
    wanted = ComparisonOptions(fail_if=("match < 0.5",))
    comparison = compare([str(old), str(new)], wanted).comparison
    (score,) = comparison.pairs[0].scores
    assert (score.score, score.score_b, score.title) == (
        "exact_match,none",
        "match",
        "exact_match,none / match",
    )
    assert comparison.rulings[0].passed


def test_what_promptfoo_calls_pass_is_called_pass(tmp_path: Path) -> None:
    old, new = (WRITERS["promptfoo"](tmp_path, model, [1.0, 0.0]) for model in ("old", "new"))
    assert [score.score for score in pair_of(str(old), str(new)).scores] == ["pass", "score"]
