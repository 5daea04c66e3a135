"""IFEval's 25 rules, each by examples: what the official code passes and fails, oddities included."""

from __future__ import annotations

import gc
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.ifeval.layout_rules import has_bullet_count, has_placeholders, has_title
from benchwright.catalog.ifeval.rows import RULES_FOR_ARGUMENT_CHECKS
from benchwright.catalog.ifeval.wording_rules import has_keyword_frequency, has_letter_frequency

ENGLISH = "this is a plain answer about the weather in the north of the country"

EXAMPLES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("keywords:existence", {"keywords": ["rain", "sun"]}, ["Sunny, no RAINBOW"], ["rain only"]),
    # keywords are regular expressions; one that is none is plain text
    ("keywords:existence", {"keywords": ["r..n"]}, ["ruin"], ["rn"]),
    ("keywords:existence", {"keywords": ["c++("]}, ["C++("], ["c"]),
    (
        "keywords:frequency",
        {"keyword": " rain", "frequency": 2, "relation": "at least"},
        ["rain, train"],
        ["rain"],
    ),
    (
        "keywords:frequency",
        {"keyword": "rain", "frequency": 2, "relation": "less than"},
        ["rain"],
        ["RAIN rain"],
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["rain"]}, ["train rainy"], ["Rain!"]),
    (
        "keywords:letter_frequency",
        {"letter": "A", "let_frequency": 2, "let_relation": "at least"},
        ["aA"],
        ["a"],
    ),
    # not a letter: the character itself is counted
    (
        "keywords:letter_frequency",
        {"letter": "#", "let_frequency": 2, "let_relation": "at least"},
        ["#a #b"],
        ["#a"],
    ),
    (
        "language:response_language",
        {"language": "de"},
        ["Das ist eine Antwort in deutscher Sprache", "12345"],
        [ENGLISH],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        ["One. Two."],
        ["Mr. Smith is here"],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["a\n***\nb", "***a***b***"],
        ["a\n\nb", "a***\n***b"],
    ),
    # "don't" is two words
    ("length_constraints:number_words", {"num_words": 2, "relation": "at least"}, ["don't"], ["do"]),
    ("length_constraints:number_words", {"num_words": 2, "relation": "less than"}, ["do"], ["do it"]),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Well"},
        ["a\n\nwell, b", "a\n\n'well' b", 'a\n\n"WELL" b'],
        ["a\n\nb", "a\nwell b", "a\n\nwell b\n\nc", "a\n\nwells b"],
    ),
    # blank pieces are not counted but keep their place
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "b"},
        ["a\n\nb\n\n"],
        ["a\n\n\n\nb"],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[a] [b]", "[][]"],
        ["[a]", "[a\n] [b]"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["bye\nP.S. so", "p. s. so"],
        ["PS: so", "P.P.S so"],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["P. P. S so", "p.p.s"], ["P.S. so"]),
    # exactly as many; • is none, and neither is a line that begins with **
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* a\n- b", "  * a\n\n\n* b", "* a\n- b\n• c\n** d"],
        ["* a", "* a\n* b\n* c", "• a\n• b"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["Well. My answer is yes."],
        ["yes", "my answer is yes.", "My answer is yes"],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*a* *b*", "**a** *b*"],
        ["*a*", "* * *b*", "*a\n* *b*"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1 a Section2 b"],
        ["SECTION 1 a SECTION 2 b", "Section A Section B"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": 1}', "12", "```json\n[]\n```", "```\n[]\n```"],
        ["{a: 1}", "Here: {}", "[" * 100_000],
    ),
    ("detectable_format:title", {}, ["<<a>>", "so <<a>> b>>"], ["<a>", "<<>>", "<< >>", "<<a\n>>", "<<<>>>"]),
    (
        "combination:two_responses",
        {},
        ["a******b", "******a******b******"],
        ["a", "a******a", "a************b", "a******b******c"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": " Say it. "},
        ["\n say IT. Done."],
        ["I say it. Done."],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "The End."},
        ["so. the end.", '"so. The end."\n'],
        ["The end. So."],
    ),
    ("startend:quotation", {}, ['"a"', ' "" '], ['"', "“a”", 'a"b"']),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["A B"],
        ["A"],
    ),
    (
        "change_case:english_lowercase",
        {},
        [ENGLISH],
        [ENGLISH.capitalize(), "das ist eine lange deutsche antwort"],
    ),
    # a text in capitals has no words that count for detection where it has no single capitals
    ("change_case:english_capital", {}, [ENGLISH.upper()], [ENGLISH]),
    ("punctuation:no_comma", {}, ["a;b", "a、b"], ["a,b"]),
]


@pytest.mark.parametrize(("instruction", "arguments", "followed", "broken"), EXAMPLES)
def test_a_rule_decides_as_the_official_code(
    instruction: str, arguments: dict[str, Any], followed: list[str], broken: list[str]
) -> None:
    verdicts = {
        text: RULES_FOR_ARGUMENT_CHECKS.follows(text, instruction, arguments) for text in followed + broken
    }
    assert verdicts == dict.fromkeys(followed, True) | dict.fromkeys(broken, False)


def test_there_are_25_rules_and_each_has_its_examples() -> None:
    assert len(RULES_FOR_ARGUMENT_CHECKS.by_id) == 25
    assert {example[0] for example in EXAMPLES} == set(RULES_FOR_ARGUMENT_CHECKS.by_id)


def test_an_unknown_instruction_is_an_error_and_not_a_verdict() -> None:
    with pytest.raises(KeyError):
        RULES_FOR_ARGUMENT_CHECKS.follows("a", "detectable_format:number_words_in_section", {})


@given(st.text("a* -\n\t", max_size=40))
def test_bullets_are_counted_as_by_the_official_patterns(text: str) -> None:
    import re

    count = len(re.findall(r"^\s*\*[^\*].*$", text, re.M)) + len(re.findall(r"^\s*-.*$", text, re.M))
    assert has_bullet_count(text, count)
    assert not has_bullet_count(text, count + 1)


@given(st.text("a[]\n", max_size=40))
def test_placeholders_are_counted_as_by_the_official_pattern(text: str) -> None:
    import re

    count = len(re.findall(r"\[.*?\]", text))
    assert has_placeholders(text, count)
    assert not has_placeholders(text, count + 1)


@given(st.text("a<> \n", max_size=30))
def test_titles_are_found_as_by_the_official_pattern(text: str) -> None:
    import re

    found = re.findall(r"<<[^\n]+>>", text)
    assert has_title(text) == any(one.lstrip("<").rstrip(">").strip() for one in found)


@given(st.text("aAbB ", max_size=30), st.integers(0, 10))
def test_less_than_and_at_least_are_opposites(text: str, number: int) -> None:
    assert has_keyword_frequency(text, "ab", number, "less than") is not has_keyword_frequency(
        text, "ab", number, "at least"
    )
    assert has_letter_frequency(text, "b", number, "less than") is not has_letter_frequency(
        text, "b", number, "at least"
    )


HOSTILE = [
    "a",
    " ",
    "\n",
    "*",
    "***",
    "[",
    "<<",
    '"',
    "'",
    ". ",
    "!",
    "\n-",
    "P.",
    "Section 1",
    "{",
    "ab@",
    "\r",
]

ARGUMENTS = {instruction: arguments for instruction, arguments, _, _ in reversed(EXAMPLES)}


MIXED = "".join(HOSTILE)


@pytest.mark.parametrize("instruction", sorted(RULES_FOR_ARGUMENT_CHECKS.by_id))
def test_a_rule_takes_time_linear_in_the_response(instruction: str) -> None:
    """Ten times the text may take forty times as long (clocks are coarse), where backtracking takes a hundred."""
    for piece in HOSTILE:
        assert _seconds(instruction, piece, 200_000) < 40 * max(_seconds(instruction, piece, 20_000), 0.002)
    assert _seconds(instruction, MIXED, 1_000_000) < 40 * max(_seconds(instruction, MIXED, 100_000), 0.002)


def _seconds(instruction: str, piece: str, size: int) -> float:
    """The CPU time of one verdict on a text of one piece after the other, the garbage of other tests left alone."""
    text = piece * (size // len(piece))
    gc.disable()
    try:
        start = process_time()
        RULES_FOR_ARGUMENT_CHECKS.follows(text, instruction, ARGUMENTS[instruction])
        return process_time() - start
    finally:
        gc.enable()
