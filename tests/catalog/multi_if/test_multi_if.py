"""Multi-IF: three turns in one conversation, many languages, the published numbers per turn."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated
from tests.catalog.conversations import Talk, figures, graded, solved

from benchwright.catalog.ifeval.rows import RULES_FOR_ARGUMENT_CHECKS as IFEVAL
from benchwright.catalog.ifeval.splitters import OWN_SPLITTER_NAME
from benchwright.catalog.multi_if.grading import grade, grade_documented
from benchwright.catalog.multi_if.rules import (
    build_rules,
    count_chinese_sentences,
    count_chinese_words,
    count_hindi_sentences,
)
from benchwright.catalog.registry import find_about
from benchwright.data.errors import DatasetError
from benchwright.records import Status

Instruction = tuple[str, dict[str, Any]]

NO_COMMA: Instruction = ("punctuation:no_comma", {})
CLOUD: Instruction = ("keywords:existence", {"keywords": ["cloud"]})
FEW: Instruction = ("length_constraints:number_words", {"relation": "less than", "num_words": 4})


def row(*turns: Sequence[Instruction], **more: str) -> dict[str, str]:
    """A made-up row in the hub's layout; a turn that is not given is "None"."""
    made = {"turns": "", "responses": "", "key": "12:3:en", "turn_index": "0", "language": "English"}
    for number in (1, 2, 3):
        asked = turns[number - 1] if number <= len(turns) else None
        made |= {
            f"turn_{number}_prompt": _json({"role": "user", "content": f"Turn {number}."})
            if asked
            else "None",
            f"turn_{number}_instruction_id_list": _json([one for one, _ in asked]) if asked else "None",
            f"turn_{number}_kwargs": _json([_json(given) for _, given in asked]) if asked else "None",
        }
    return made | more


def write_csv(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _json(value: Any) -> str:
    return json.dumps(value)


THREE = row([NO_COMMA], [NO_COMMA, CLOUD], [NO_COMMA, CLOUD, FEW])


@pytest.mark.parametrize("name", ["multi_if", "multi_if:documented"])
async def test_rows_in_hub_layout_pass_with_answers_that_follow_them_and_fail_where_a_turn_breaks_one(
    name: str, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "multi_if")
    assert (played.samples, played.failures, played.exceptions) == (2, [], {})


@pytest.mark.parametrize("name", ["multiIF_20241018.csv", "train.csv", "test.csv"])
def test_the_rows_are_found_under_each_name_that_they_go_by(tmp_path: Path, name: str) -> None:
    write_csv(tmp_path / name, [THREE])
    (sample,) = benchmark("multi_if").samples(source("multi_if", tmp_path))
    assert (sample.id, sample.labels) == (
        "12:3:en",
        {"language": "English", "origin": "12", "instructions": "1/2/3"},
    )
    assert sample.content["turns"][1] == {
        "prompt": "Turn 2.",
        "instructions": [
            {"id": "punctuation:no_comma", "arguments": {}},
            {"id": "keywords:existence", "arguments": {"keywords": ["cloud"]}},
        ],
    }


def test_a_turn_that_is_none_is_not_asked(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "train.csv", [row([NO_COMMA], [NO_COMMA, CLOUD])])
    (sample,) = samples("multi_if", path)
    assert [turn["prompt"] for turn in sample.content["turns"]] == ["Turn 1.", "Turn 2."]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"turn_2_prompt": "Say it."}, "turn 2: not the JSON that is needed"),
        ({"turn_1_kwargs": "[{}]"}, "turn 1: not the JSON that is needed"),
        ({"turn_3_kwargs": "[]"}, "turn 3: 3 instructions with 0 sets of arguments"),
        ({"turn_1_instruction_id_list": '["keywords:existance"]'}, "Did you mean 'keywords:existence'?"),
        ({"turn_1_prompt": "None"}, "there is no first turn"),
    ],
)
def test_a_bad_row_is_told_with_its_number_and_turn(
    tmp_path: Path, broken: dict[str, str], said: str
) -> None:
    path = write_csv(tmp_path / "train.csv", [THREE, THREE | broken])
    with pytest.raises(DatasetError) as caught:
        samples("multi_if", path)
    assert "Row 1" in str(caught.value)
    assert said in str(caught.value)


async def test_the_turns_are_one_conversation_and_every_answer_is_kept(tmp_path: Path) -> None:
    (sample,) = samples("multi_if", write_csv(tmp_path / "train.csv", [THREE]))
    talk = Talk(["one", "two", "three"])
    outcome = await solved(benchmark("multi_if"), sample, talk)
    contents = [[message["content"] for message in messages] for _, messages, _ in talk.asked]
    assert contents == [
        ["Turn 1."],
        ["Turn 1.", "one", "Turn 2."],
        ["Turn 1.", "one", "Turn 2.", "two", "Turn 3."],
    ]
    assert (outcome.answer, outcome.artifacts, outcome.status) == (
        "three",
        {"turns": ["one", "two", "three"]},
        Status.ANSWERED,
    )


def test_it_is_sampled_as_in_the_authors_code() -> None:
    """multi_turn_instruct_following_eval_api.py and _vllm.py agree on these."""
    plain, documented = find_about("multi_if"), find_about("multi_if:documented")
    assert (plain.temperature, plain.params, plain.max_tokens) == (0.6, {"top_p": 0.9}, 1024)
    assert (documented.temperature, documented.params) == (0.0, {})


def _content() -> dict[str, Any]:
    turns = [[NO_COMMA], [NO_COMMA, CLOUD]]
    return {
        "turns": [
            {"prompt": "", "instructions": [{"id": one, "arguments": given} for one, given in turn]}
            for turn in turns
        ]
    }


def test_a_turns_score_is_the_mean_of_the_four_accuracies() -> None:
    """Turn 2 follows one of two instructions: strict 0 and 1/2, loose 0 and 1/2, so 1/4; turn 1 follows all."""
    verdict = grade(OWN_SPLITTER_NAME, _content(), ["a", "no such word"])
    assert (verdict.score, verdict.is_correct) == ((1 + 1 / 4) / 2, False)
    assert [
        (turn["correct"], turn["passed"], turn["instructions"]) for turn in verdict.details["per_turn"]
    ] == [
        (True, 1, 1),
        (False, 1, 2),
    ]


def test_correct_means_that_all_turns_pass() -> None:
    assert grade(OWN_SPLITTER_NAME, _content(), ["a", "a cloud"]).is_correct
    assert grade_documented(_content(), ["a", "a cloud"]).score == 1.0
    assert grade_documented(_content(), ["a,", "a cloud"]).score == 0.0


def test_white_space_is_no_empty_answer_to_the_strict_verdict_here() -> None:
    """Unlike IFEval's own code, Multi-IF's takes any text that is not empty; its loose verdict takes no blank one."""
    per_turn = grade(OWN_SPLITTER_NAME, _content(), [" ", ""]).details["per_turn"]
    assert [(turn["passed"], turn["passed_loose"]) for turn in per_turn] == [(1, 0), (0, 0)]


def test_the_published_numbers_pool_the_instructions_of_all_conversations_per_turn_and_language() -> None:
    scores = [
        _scored("English", "1/2", [(1, 1), (1, 2)]),
        _scored("Hindi", "1", [(0, 1)]),
        graded(None, labels={"language": "Hindi", "instructions": "1"}),
    ]
    assert figures(benchmark("multi_if"), scores) == pytest.approx(
        {
            # turn 1: strict 1/3 and 1/3, loose 2/3 and 2/3; turn 2: strict 0 and 1/2, loose 1 and 1
            "turn_1": (1 / 3 + 1 / 3 + 2 / 3 + 2 / 3) / 4,
            "turn_2": (0 + 1 / 2 + 1 + 1) / 4,
            "turns": (1 / 2 + 5 / 8) / 2,
            "turn_1_English": 1.0,
            "turn_2_English": 5 / 8,
            "turns_English": 13 / 16,
            "turn_1_Hindi": 1 / 4,
            "turns_Hindi": 1 / 4,
        }
    )


def _scored(language: str, instructions: str, passed: list[tuple[int, int]]) -> Any:
    per_turn = [{"passed": strict, "passed_loose": loose} for strict, loose in passed]
    return graded(0.5, {"per_turn": per_turn}, labels={"language": language, "instructions": instructions})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我们去公园。", 5),
        ("こんにちは、Jason さん!", 8),
        # punctuation is taken out first, so that what it parted becomes one word
        ("it's a，b", 2),
        ("好😀👨‍👩‍👧🇩🇪3️⃣", 5),
        ("", 0),
    ],
)
def test_chinese_text_is_counted_by_characters_emojis_and_other_words(text: str, words: int) -> None:
    assert count_chinese_words(text) == words


def test_sentences_of_chinese_end_with_their_marks_and_lines_and_those_of_hindi_with_a_danda() -> None:
    assert count_chinese_sentences("我们去。他们呢？\n好\n\n") == 3
    assert count_hindi_sentences("यह एक है। यह दूसरा है! और") == 3


def test_rules_differ_from_those_of_ifeval_where_another_language_is_written() -> None:
    chinese = "我们今天去公园散步因为天气很好大家都很高兴"
    arguments = {"num_words": 10, "relation": "at least"}
    assert build_rules(OWN_SPLITTER_NAME).follows(chinese, "length_constraints:number_words", arguments)
    assert not IFEVAL.follows(chinese, "length_constraints:number_words", arguments)
    sentences = {"num_sentences": 2, "relation": "at least"}
    hindi = "यह हिन्दी में एक वाक्य है। यह हिन्दी में दूसरा वाक्य है।"
    assert build_rules(OWN_SPLITTER_NAME).follows(hindi, "length_constraints:number_sentences", sentences)
    assert not IFEVAL.follows(hindi, "length_constraints:number_sentences", sentences)


@pytest.mark.parametrize(("text", "quoted"), [('"a"', True), ("“a”", True), ("「a」", True), ("“a“", False)])
def test_quotation_marks_of_other_scripts_count(text: str, quoted: bool) -> None:
    assert build_rules(OWN_SPLITTER_NAME).follows(text, "startend:quotation", {}) is quoted
