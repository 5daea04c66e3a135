"""The documented cascade that takes a letter out of free text."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
    LETTERS_10,
    evaluate_mcq,
    extract_mcq_answer,
)


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The answer is B", "B"),
        ("answer: c", "C"),
        ("The correct answer is: **D**.", "D"),
        ("the answer is (A), not B", "A"),
        ("Answer: option C", "C"),
        ("The answer is A because it is.", "A"),
        ("I would choose (B)", "B"),
        ("So it must be C.", "C"),
        ("B", "B"),
        ("b", "B"),
        ("**D**\n", "D"),
        ("A. Paris", "A"),
        ("It has to be D, I think", "D"),
    ],
)
def test_each_step_of_the_cascade(response: str, letter: str) -> None:
    assert extract_mcq_answer(response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("(B) looks good, yet the answer is C", "C"),
        ("Both are B.\nC", "B"),
        ("A\nbut perhaps B or D after all", "A"),
    ],
    ids=["stated before bracketed", "end of a line before a line of its own", "own line before anywhere"],
)
def test_an_earlier_step_wins(response: str, letter: str) -> None:
    assert extract_mcq_answer(response) == letter


def test_within_a_step_the_last_match_counts_because_answers_stand_at_the_end() -> None:
    assert extract_mcq_answer("At first the answer is A. No: the answer is D") == "D"
    assert extract_mcq_answer("either B or C") == "C"


@pytest.mark.parametrize(
    "response",
    [
        "",
        "A dog barks.",
        "I think so",
        "I'm not sure",
        "U.S.A.",
        "the answer is a bit hard",
        "Because",
        "no idea",
    ],
)
def test_articles_pronouns_and_parts_of_words_are_no_letters(response: str) -> None:
    assert extract_mcq_answer(response, num_options=10) is None


def test_letters_beyond_the_options_are_not_seen() -> None:
    assert extract_mcq_answer("The answer is J") is None
    assert extract_mcq_answer("The answer is J", num_options=10) == "J"


def test_the_expected_letter_is_compared_in_either_case() -> None:
    assert evaluate_mcq("The answer is B", "b")
    assert not evaluate_mcq("The answer is B", "C")
    assert not evaluate_mcq("no idea", "C")


@given(st.text())
def test_whatever_the_text_a_letter_of_the_options_comes_out_or_none(text: str) -> None:
    assert extract_mcq_answer(text, 10) in (None, *LETTERS_10)


@given(
    st.sampled_from(LETTERS_10), st.sampled_from(["{}", "({})", "{}.", "answer: {}", "The answer is **{}**."])
)
def test_a_letter_that_is_given_plainly_is_found(letter: str, form: str) -> None:
    assert extract_mcq_answer(form.format(letter), 10) == letter


@pytest.mark.parametrize("unit", ["A ", "(", "answer is ", " ", "\n", "B.", "*"])
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    """A hundred thousand characters of the worst kinds; a quadratic pattern would take minutes."""
    started = perf_counter()
    extract_mcq_answer(unit * (100_000 // len(unit)), 10)
    assert perf_counter() - started < 2
