"""IFEval: strict and loose verdicts, the four published numbers, real rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, validated, write_rows
from tests.catalog.conversations import asked, figures, graded, scored

from benchwright.catalog.ifeval.grading import grade, response_variants
from benchwright.catalog.ifeval.splitters import OWN_SPLITTER_NAME
from benchwright.data.errors import DatasetError

ROW = {
    "key": 7,
    "prompt": "Two words, no comma.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
    "kwargs": [
        {"num_words": None, "relation": None},
        {"num_words": 3, "relation": "less than", "keywords": None},
    ],
}


@pytest.mark.parametrize("name", ["ifeval", "ifeval:documented"])
async def test_real_rows_pass_with_answers_made_to_follow_them_and_fail_where_one_thing_is_broken(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "ifeval" / "sample.jsonl")
    assert (played.samples, played.failures) == (60, [])


def test_all_but_five_of_the_541_real_rows_can_be_followed(real_rows: Path) -> None:
    """The five ask for a prompt to be repeated that holds a comma, or a word that must not occur (so often)."""
    rows = samples("ifeval", real_rows / "ifeval" / "full_original_layout.jsonl")
    of_row = {sample.id: next(iter(benchmark("ifeval").checks(sample))) for sample in rows}
    exceptions = {name for name, gold in of_row.items() if gold.reason is not None}
    assert len(rows) == 541
    assert exceptions == {"ifeval_1627", "ifeval_3369", "ifeval_3371", "ifeval_3718", "ifeval_374"}


async def test_the_prompt_is_asked_as_it_stands_and_nulls_are_dropped(tmp_path: Path) -> None:
    (sample,) = samples("ifeval", write_rows(tmp_path / "train.jsonl", [ROW]))
    messages, params = await asked(benchmark("ifeval"), sample)
    assert (messages, params) == ([{"role": "user", "content": "Two words, no comma."}], {})
    assert sample.content["instructions"] == [
        {"id": "punctuation:no_comma", "arguments": {}},
        {"id": "length_constraints:number_words", "arguments": {"num_words": 3, "relation": "less than"}},
    ]
    assert (sample.id, sample.labels) == ("ifeval_7", {"instructions": "2"})


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (
            {"instruction_id_list": ["punctuation:no_comas", "length_constraints:number_words"]},
            "no instruction 'punctuation:no_comas'. Did you mean 'punctuation:no_comma'?",
        ),
        ({"instruction_id_list": ["punctuation:no_comma"]}, "1 instructions with 2 sets of arguments"),
        ({"instruction_id_list": [], "kwargs": []}, "0 instructions"),
        ({"kwargs": [{}, {"num_words": 3}]}, "number_words: Object missing required field `relation`"),
        ({"kwargs": [{}, {"num_words": 3, "relation": "exactly"}]}, "Invalid enum value 'exactly'"),
        ({"kwargs": [{}, {"num_words": "3", "relation": "less than"}]}, "Expected `int`, got `str`"),
    ],
)
def test_a_bad_row_is_told_with_its_number(tmp_path: Path, broken: dict[str, Any], said: str) -> None:
    path = write_rows(tmp_path / "train.jsonl", [ROW, {**ROW, **broken}])
    with pytest.raises(DatasetError) as caught:
        samples("ifeval", path)
    assert "Row 1" in str(caught.value)
    assert said in str(caught.value)


def test_the_loose_verdict_tries_eight_variants() -> None:
    assert response_variants("*a*\nb\n*c") == [
        "*a*\nb\n*c",
        "b\n*c",
        "*a*\nb",
        "b",
        "a\nb\nc",
        "b\nc",
        "a\nb",
    ]


@pytest.mark.parametrize(
    ("answer", "strict", "loose"),
    [
        ("Only two", True, True),
        ("Sure!\nOnly two", False, True),
        ("Only two\n\nAnything else?", False, True),
        ("Sure, so:\nOnly two\nBye, bye now", False, True),
        ("* Only * two *", True, True),
        ("not even two words", False, False),
        ("", False, False),
        (" \n ", False, False),
    ],
)
def test_an_opening_or_closing_line_fails_only_the_strict_verdict(
    answer: str, strict: bool, loose: bool
) -> None:
    instructions = [
        {"id": "length_constraints:number_words", "arguments": {"num_words": 3, "relation": "less than"}}
    ]
    verdict = grade(OWN_SPLITTER_NAME, {"instructions": instructions}, answer)
    assert verdict.score == float(strict)
    assert verdict.details == {
        "per_instruction": [
            {"instruction_id": "length_constraints:number_words", "passed": strict, "passed_loose": loose}
        ],
        "instructions": 1,
        "passed": int(strict),
        "passed_loose": int(loose),
    }


async def test_all_instructions_must_be_followed(tmp_path: Path) -> None:
    (sample,) = samples("ifeval", write_rows(tmp_path / "train.jsonl", [ROW]))
    one_broken = await scored("ifeval", sample.content, "Only, two")
    assert (one_broken.value, one_broken.detail and one_broken.detail["passed"]) == (0.0, 1)


async def test_the_documented_variant_goes_by_the_documented_rules(tmp_path: Path) -> None:
    """A dot is a bullet there, and more bullets than asked for are welcome."""
    row = {
        **ROW,
        "instruction_id_list": ["detectable_format:number_bullet_lists"],
        "kwargs": [{"num_bullets": 2}],
    }
    (sample,) = samples("ifeval:documented", write_rows(tmp_path / "train.jsonl", [row]))
    answer = "• a\n• b\n• c"
    assert (await scored("ifeval:documented", sample.content, answer)).value == 1.0
    assert (await scored("ifeval", sample.content, answer)).value == 0.0
    assert (await scored("ifeval:documented", sample.content, "")).value is None


def test_the_four_published_accuracies_count_prompts_and_instructions() -> None:
    scores = [
        graded(1.0, {"passed": 2, "passed_loose": 2}, labels={"instructions": "2"}),
        graded(0.0, {"passed": 1, "passed_loose": 3}, labels={"instructions": "3"}),
        # an answer that never came follows nothing
        graded(None, labels={"instructions": "1"}),
    ]
    assert figures(benchmark("ifeval"), scores) == {
        "prompt_strict": 1 / 3,
        "instruction_strict": 3 / 6,
        "prompt_loose": 2 / 3,
        "instruction_loose": 5 / 6,
    }


def test_without_scores_there_are_no_accuracies() -> None:
    assert set(figures(benchmark("ifeval"), []).values()) == {None}
