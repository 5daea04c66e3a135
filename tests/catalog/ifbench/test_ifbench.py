"""IFBench: the loose verdict, the four figures, real rows, and what is said where libraries or models are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.benchmark import Options
from benchwright.catalog.ifbench import language_tools
from benchwright.catalog.registry import find_about, make_benchmark
from benchwright.catalog.validation import validate_benchmark
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError

ROW = {
    "key": "7",
    "prompt": " A list without white space. ",
    "instruction_id_list": ["format:list", "format:no_whitespace"],
    "kwargs": [{"sep": "-", "N": None}, {"sep": None}],
}
VERB = {"key": "8", "prompt": "Start.", "instruction_id_list": ["words:start_verb"], "kwargs": [{}]}
FIRST = {"id": "format:list", "arguments": {"sep": "-"}}
SECOND = {"id": "format:no_whitespace", "arguments": {}}


async def test_real_rows_pass_with_answers_made_to_follow_them_and_fail_where_one_thing_is_broken(
    real_rows: Path,
) -> None:
    played = await validated("ifbench", real_rows / "ifbench" / "original_layout_24.jsonl")
    assert (played.samples, played.failures) == (24, [])


@pytest.mark.slow
def test_all_but_one_of_the_real_rows_can_be_followed(real_rows: Path) -> None:
    """The one asks for one of two options of several words, and for a line for each word."""
    task = benchmark("ifbench")
    rows = list(task.samples(source("ifbench", real_rows / "ifbench" / "all_300_nulls_dropped.jsonl")))
    exceptions = [row.id for row in rows if next(iter(task.checks(row))).reason is not None]
    assert (len(rows), exceptions) == (294, ["ifbench_105"])


async def test_the_prompt_is_asked_as_it_stands_and_nulls_are_dropped(tmp_path: Path) -> None:
    (sample,) = samples("ifbench", write_rows(tmp_path / "train.jsonl", [ROW]))
    messages, params = await asked(benchmark("ifbench"), sample)
    assert (messages, params) == ([{"role": "user", "content": " A list without white space. "}], {})
    assert sample.content["instructions"] == [FIRST, SECOND]
    assert (sample.id, sample.labels["instructions"]) == ("ifbench_7", "2")


@pytest.mark.parametrize(
    ("answer", "value", "strict", "loose"),
    [
        ("-a-b", 1.0, 2, 2),
        ("Here it is:\n-a-b", 1.0, 1, 2),
        ("**-a-b**", 1.0, 2, 2),
        ("-a -b", 0.0, 1, 1),
        (" \n", 0.0, 0, 0),
    ],
)
async def test_the_score_is_the_loose_verdict(answer: str, value: float, strict: int, loose: int) -> None:
    score = await scored("ifbench", {"instructions": [FIRST, SECOND]}, answer)
    assert score.detail is not None
    assert (score.value, score.detail["passed"], score.detail["passed_loose"]) == (value, strict, loose)


def test_the_four_accuracies_are_over_prompts_and_over_instructions() -> None:
    scores = [
        graded(1.0, {"passed": 1, "passed_loose": 2}, labels={"instructions": "2"}),
        graded(0.0, {"passed": 0, "passed_loose": 0}, labels={"instructions": "1"}),
    ]
    assert figures(benchmark("ifbench"), scores) == {
        "prompt_strict": 0.0,
        "instruction_strict": pytest.approx(1 / 3),
        "prompt_loose": 0.5,
        "instruction_loose": pytest.approx(2 / 3),
    }


async def test_prompts_that_need_the_tagger_are_asked_only_where_it_is(tmp_path: Path, tagger: Path) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, VERB])
    without = make_benchmark(find_about("ifbench"), Options(data_dir=tmp_path / "elsewhere"))
    assert [sample.id for sample in without.samples(source("ifbench", path))] == ["ifbench_7"]
    assert "words:start_verb are left out (6 of 300)" in without.departures[-1]

    with_it = make_benchmark(find_about("ifbench"), Options(data_dir=tmp_path))
    sample = list(with_it.samples(source("ifbench", path)))[1]
    assert (await scored(with_it, sample.content, "Write it")).value == 1.0
    assert (await scored(with_it, sample.content, "The letter")).value == 0.0
    assert with_it.scorers[0].fingerprint != without.scorers[0].fingerprint
    assert (await validate_benchmark(without, source("ifbench", path))).failures == []


def test_without_a_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_tools, "PUBLISHED_VERSIONS", {"nltk-that-nobody-has": "1"})
    with pytest.raises(UserError, match=r"pip install 'benchwright\[ifbench\]'"):
        benchmark("ifbench")


def test_another_version_of_a_library_is_a_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_tools, "PUBLISHED_VERSIONS", {"nltk": "3.8"})
    assert "nltk 3.9.2 instead of 3.8" in benchmark("ifbench").departures


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"instruction_id_list": ["format:lists", "format:no_whitespace"]}, "Did you mean 'format:list'?"),
        ({"instruction_id_list": ["format:list"]}, "1 instructions with 2 sets of arguments"),
        ({"kwargs": [{}, {}]}, "format:list: Object missing required field `sep`"),
    ],
)
def test_a_bad_row_is_told_with_its_number(tmp_path: Path, broken: dict[str, Any], said: str) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, **broken}])
    with pytest.raises(DatasetError) as caught:
        samples("ifbench", path)
    assert "Row 1" in str(caught.value)
    assert said in str(caught.value)
