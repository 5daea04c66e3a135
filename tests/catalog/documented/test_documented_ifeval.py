"""The documented verifiers of instructions, each with a response that follows and one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.llm_benchmarker_api.evaluators import ifeval_rules
from benchwright.catalog.llm_benchmarker_api.evaluators.ifeval_rules import verify_instruction

CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("keywords:existence", {"keywords": ["sun", "Moon"]}, "Sunny moonlight", "the sun"),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "at least"}, "Ha ha", "ha"),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "at most"}, "ha", "ha ha ha"),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "exactly"}, "ha ha", "ha"),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "less than"}, "ha", "ha ha"),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "concatenate", "The Cat."),
    ("keywords:letter_frequency", {"letter": "e", "let_frequency": 2, "let_relation": "at least"}, "Ee", "e"),
    ("language:response_language", {"language": "en"}, "plain words", "только слова"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, "one two three", "one two"),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "Yes! No?",
        "Only one.",
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "one\n\ntwo", "one\n***\ntwo"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "weekend"},
        'Hello.\n\n"Weekend," he said.',
        "Weekend.\n\nHello.",
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] at [place]", "[name]"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\np.s. write!", "Bye."),
    ("detectable_format:number_bullet_lists", {"num_bullets": 3}, "- a\n* b\n• c", "- a\n**b**\n• c"),
    ("detectable_format:constrained_response", {}, "My answer is yes.", "  \n"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* and **b**", "**a** and b"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1\na\nSECTION 2\nb",
        "Section 1\na",
    ),
    ("detectable_format:json_format", {}, 'Here:\n```json\n{"a": 1}\n```', "{a: 1}"),
    ("detectable_format:title", {}, "<<A poem>>\nRoses", "<< >>"),
    (
        "detectable_format:number_words_in_section",
        {"section": 2, "num_words": 2, "relation": "at least"},
        "# One\na\n# Two\nb c",
        "# One\na b\n# Two\nc",
    ),
    ("combination:two_responses", {}, "one\n******\ntwo", "one ****** two ****** three"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say it."}, " say it. I do.", "I do. Say it."),
    ("startend:end_checker", {"end_phrase": "the end."}, 'It is "The End."', "The end. Really."),
    ("startend:quotation", {}, ' "quoted" ', '"'),
    ("change_case:english_capital", {}, "LOUD 1!", "LOUd"),
    ("change_case:english_lowercase", {}, "quiet 1!", "Quiet"),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        "NOW or NEVER",
        "NOW or never",
    ),
    ("punctuation:no_comma", {}, "one and two", "one, two"),
]


@pytest.mark.parametrize(("instruction", "arguments", "follows", "fails"), CASES)
def test_a_response_that_follows_and_one_that_does_not(
    instruction: str, arguments: dict[str, Any], follows: str, fails: str
) -> None:
    assert verify_instruction(follows, instruction, arguments)
    assert not verify_instruction(fails, instruction, arguments)


def test_there_are_the_25_documented_instructions_and_the_official_one_that_is_missing_there() -> None:
    known = set(ifeval_rules._VERIFIERS)
    assert known == {instruction for instruction, *_ in CASES}
    assert len(known - {"change_case:capital_word_frequency"}) == 25


def test_an_unknown_instruction_is_not_followed() -> None:
    assert verify_instruction("anything", "keywords:nonsense", {}) is False


def test_arguments_that_are_null_count_as_not_given() -> None:
    padded = {"num_words": None, "keywords": ["a"], "relation": None}
    assert verify_instruction("a", "keywords:existence", padded)


@pytest.mark.parametrize("instruction", ["keywords:existence", "length_constraints:number_words"])
def test_without_its_arguments_an_instruction_is_not_followed(instruction: str) -> None:
    assert verify_instruction("anything", instruction, {}) is False
    assert verify_instruction("anything", instruction, None) is False


def test_other_languages_than_english_are_taken_on_trust() -> None:
    assert verify_instruction("plain words", "language:response_language", {"language": "de"})


def test_every_instruction_of_the_real_data_set_is_known(real_rows: Path) -> None:
    rows = (real_rows / "ifeval" / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    used = {instruction for row in rows for instruction in json.loads(row)["instruction_id_list"]}
    assert used
    assert used <= set(ifeval_rules._VERIFIERS)


ARGUMENTS = {name: value for _, arguments, *_ in CASES for name, value in arguments.items()}


@given(st.text(), st.sampled_from(sorted({instruction for instruction, *_ in CASES})))
def test_whatever_the_response_there_is_a_verdict(response: str, instruction: str) -> None:
    assert verify_instruction(response, instruction, ARGUMENTS) in (True, False)


@pytest.mark.parametrize(
    "unit", ["[ ", "*a", "*", "`", "<<", "<<a", "```json", "# ", " \t", "\n", "#", "Section 1"]
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    response = unit * (100_000 // len(unit))
    started = perf_counter()
    for instruction, arguments, *_ in CASES:
        verify_instruction(response, instruction, arguments)
    assert perf_counter() - started < 5
