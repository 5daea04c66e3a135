"""Numeric: which number an answer comes to, how it is read, and when two numbers are equal."""

from __future__ import annotations

from fractions import Fraction
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.numbers.final_number import read_number_of_answer, read_number_of_gold_answer
from benchwright.scorers.numeric import Numeric

READ = [
    ("42", 42),
    ("-42", -42),
    ("\u221242", -42),
    ("+42", 42),
    (".5", "0.5"),
    ("5.", 5),
    ("1,234.5", "1234.5"),
    ("12,345,678", 12345678),
    ("12,34,567", 1234567),
    ("1{,}234", 1234),
    ("10,\\!000", 10000),
    ("1\u202f234", 1234),
    ("1 234 567", 1234567),
    ("1'234'567", 1234567),
    ("1_000_000", 1000000),
    ("1.234.567", 1234567),
    ("1.234,56", "1234.56"),
    ("3,5", "3.5"),
    ("0,125", "0.125"),
    ("1,234", 1234),
    ("1.234", "1.234"),
    ("$1,000", 1000),
    ("-$5", -5),
    ("1e-5", "1e-5"),
    ("3.0E+02", 300),
    ("1.5 \u00d7 10^5", 150000),
    ("1.5 \\times 10^{-3}", "0.0015"),
    ("1.5 × 10⁻³", "0.0015"),
    ("10^6", 1000000),
    ("2**10", 1024),
    ("3/4", "3/4"),
    ("\\frac{3}{4}", "3/4"),
    ("-\\dfrac{1}{2}", "-1/2"),
    ("\\frac12", "1/2"),
    ("2 1/2", "5/2"),
    ("2½", "5/2"),
    ("4\\frac{2}{3}", "14/3"),
    ("two and a half", "5/2"),
    ("three quarters", "3/4"),
    ("twenty-one", 21),
    ("one hundred and five", 105),
    ("minus five", -5),
    ("0.\\overline{3}", "1/3"),
    ("√16", 4),
    ("\\sqrt[3]{27}", 3),
    ("1.5 million", 1500000),
    ("$1.5 billion", 1500000000),
    ("3k", 3000),
    ("$2m", 2000000),
    ("1.5万", 15000),
    ("１８", 18),
    ("3 * 6 = 18", 18),
    ("2^{10} - 1", 1023),
    ("20% of 50", 10),
    ("5! = 120", 120),
    ("9" * 400, int("9" * 400)),
    ("1e999", 10**999),
]
CHOSEN = [
    # the last number, when nothing else marks one
    ("She has 3 apples and eats 2, so 1 is left.", 1),
    # names that hold digits are no numbers
    ("Model v2 costs 30", 30),
    ("H2O boils at 100", 100),
    ("COVID-19 had 250 cases", 250),
    ("5 km^2", 5),
    ("x_1 = 4 and x_2", 4),
    # circumstances, purposes, remarks and what is denied do not count while another number is left
    ("The factory makes 900 toys in 30 days.", 900),
    ("She needs 25 passes to save $2.", 25),
    ("She has 18 left (out of 24).", 18),
    ("So it is 6, not 5.", 6),
    # a statement wins over the last number
    ("The answer is 18. She worked 9 hours for 2 days.", 18),
    ("Answer: **$18** (that is 9 times 2)", 18),
    ("The answer is approximately 3.14, given 2 decimals", "3.14"),
    ("At first the answer is 5. After a check the answer is 6, not 7.", 6),
    ("The answer is not 3 but 4.", 4),
    ("There are 3 boxes, so the answer is seven.", 7),
    # of an equation the last side counts
    ("Answer: 3 * 6 = 18", 18),
    ("The answer is 18 = 3 * 6.", 18),
    # the last mark counts, whichever it is
    ("The answer is 5.\n#### 18", 18),
    ("#### 5\nThe answer is \\boxed{18}, in 3 steps", 18),
    ("#### 1\n\nThe final answer is 160.", 160),
    ("<answer>18</answer> in 3 steps", 18),
    ("\\boxed{x = 18}", 18),
    ("\\boxed{18\\text{ km}^2}", 18),
    ("\\boxed{\\frac{1}{2}}", "1/2"),
    # what is taken back does not count
    ("The answer is 5. Wait, that is wrong. It should be 6.", 6),
    # nor do questions that a base model asks itself afterwards
    ("#### 18\n\nQuestion: How many are 3 and 4?\nAnswer: 3+4=7\n#### 7", 18),
]
NOT_ONE = [
    ("2024-05-07", "a date"),
    ("May 7, 2024", "a date"),
    ("10:30", "a time of day"),
    ("5 pm", "a time of day"),
    ("3:2", "a ratio"),
    ("5-7", "a range"),
    ("5 to 7", "a range"),
    ("5 or 7", "a list of numbers"),
    ("3, 5", "a list of numbers"),
    ("1,3,7", "a list of numbers"),
    ("(3, 5)", "a tuple or an interval"),
    ("[0, 1)", "a tuple or an interval"),
    ("x > 5", "an inequality"),
    ("5 ± 1", "a number with a margin"),
    ("2x + 5", "an expression with letters"),
    ("3 out of 10", "a share"),
    ("0.333...", "a number whose digits go on"),
    ("2516_{8}", "a number in another base"),
    ("1.2.3", "not a number"),
    ("1/0", "a division by zero"),
    ("9^{9^{9^{9}}}", "a number that is too large to compare"),
]


def value_of(text: str) -> Fraction | None:
    reading = read_number_of_answer(text)
    return reading.quantities[0].value if reading and reading.quantities else None


@pytest.mark.parametrize(("text", "value"), READ)
def test_numbers_are_read_as_people_write_them(text: str, value: int | str) -> None:
    assert value_of(f"\\boxed{{{text}}}") == Fraction(value)
    assert read_number_of_gold_answer(text).quantities[0].value == Fraction(value)


@pytest.mark.parametrize(("text", "value"), CHOSEN)
def test_the_number_that_the_answer_comes_to(text: str, value: int | str) -> None:
    assert value_of(text) == Fraction(value)


@pytest.mark.parametrize(("text", "kind"), NOT_ONE)
def test_what_is_not_one_number_is_unparsed_and_no_gold_answer(text: str, kind: str, score: Any) -> None:
    scored = score(Numeric(), f"The answer is {text}", "7")
    assert (scored.value, scored.status) == (None, Status.UNPARSED)
    assert scored.explanation == f"the answer comes to {kind}, not to one number"
    wrong = Numeric().wrong_target({"ground_truth": text})
    assert wrong is not None
    assert wrong.endswith(f"is {kind}, not one number")


@pytest.mark.parametrize("gold", ["seven apples and two pears", "p - q", "true", "no number", "", True])
def test_nor_are_texts_and_several_numbers_gold_answers(gold: Any) -> None:
    assert Numeric().wrong_target({"ground_truth": gold}) is not None


@pytest.mark.parametrize(
    "text", ["", "no number", "H2O", "The answer is impossible to determine, as 2 are missing"]
)
def test_an_answer_without_a_number_is_unparsed(text: str, score: Any) -> None:
    nothing = score(Numeric(), text, "7")
    assert (nothing.value, nothing.status) == (None, Status.UNPARSED)


@given(st.integers(-(10**40), 10**40))
def test_integers_survive_every_way_of_writing_them(number: int) -> None:
    for written in (
        f"{number}",
        f"{number:,}",
        f"The answer is {number}.",
        f"\\boxed{{{number:,}}}",
        f"#### {number}",
        f"It comes to {number:_}",
    ):
        assert value_of(written) == number


@given(number=st.integers(-(10**40), 10**40), apart=st.integers(1, 10**6))
def test_another_integer_is_never_equal(number: int, apart: int, score: Any) -> None:
    assert score(Numeric(), str(number + apart), str(number)).value == 0.0


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_being_written(number: float) -> None:
    assert value_of(repr(number)) == Fraction(repr(number))


@given(st.text(alphabet="0123456789.,-+/eE^%${}()[]\\ x*#=:½√", max_size=60))
def test_nothing_written_with_the_signs_of_numbers_breaks_it(text: str) -> None:
    reading = read_number_of_answer(text)
    assert reading is None or reading.span in text


HOSTILE = [
    *(
        "9",
        "9^",
        "(",
        "\\frac{",
        "\\sqrt",
        "{",
        "-",
        "1,",
        "1 ",
        "$",
        "**",
        "answer: ",
        "answer is 5 ",
        "####",
        "=1",
    ),
    *("\\boxed{", "one ", "3/", "2 1/2 ", "<<", "1 + ", "1 and ", "x + ", "[1,", "\n1", "Question: 5\n"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_megabyte_takes_no_more_than_a_moment(text: str) -> None:
    started = process_time()
    read_number_of_answer(text * (1_000_000 // len(text)))
    assert process_time() - started < 2


EQUAL = [
    ("18", "18", 1.0),
    ("18.0", "18", 1.0),
    ("1,800", "1800", 1.0),
    ("0.75", "3/4", 1.0),
    ("18", "Natalia sold 48/2 = 24 clips.\n#### 18", 1.0),
    ("18", 18, 1.0),
    ("19", "18", 0.0),
    ("-18", "18", 0.0),
    ("1000000", "1000001", 0.0),
    ("1000000000001", "1000000000000", 0.0),
    ("12345678901.5", "12345678901", 0.0),
    ("2.0000000000001", "2", 1.0),
    ("2e-10", "1e-10", 0.0),
    # percent may be meant either way
    ("50%", "50", 1.0),
    ("50%", "0.5", 1.0),
    ("0.5", "50%", 1.0),
    ("50%", "50%", 1.0),
    ("5%", "50%", 0.0),
    # a scale is part of the number
    ("$1.5 billion", "1.5 million", 0.0),
    ("1.5 million", "1500000", 1.0),
    ("1.5 million", "1.5", 0.0),
    # units are converted if both have one
    ("1.5 km", "1500 m", 1.0),
    ("1.5 m", "1500 m", 0.0),
    ("$5", "5 euros", 0.0),
    ("5 euros", "5", 1.0),
    ("2 hours and 30 minutes", "150 minutes", 1.0),
    ("18 apples", "18 eggs", 1.0),
    # an exact number and its rounded value are both given
    ("x = \\frac{22}{7} \\approx 3.14", "22/7", 1.0),
    ("x = \\frac{22}{7} \\approx 3.14", "3.14", 1.0),
    ("x = 22 \\approx 3.14", "22", 0.0),
    # any of a list
    ("4", ["4", "four"], 1.0),
    ("5", [4, 5], 1.0),
    ("6", [4, 5], 0.0),
    ("4", '["4", "5"]', 1.0),
]


@pytest.mark.parametrize(("answer", "target", "value"), EQUAL)
def test_equal_numbers(answer: str, target: Any, value: float, score: Any) -> None:
    assert score(Numeric(), answer, target).value == value


def test_the_relative_tolerance_is_a_share_of_the_larger(score: Any) -> None:
    assert score(Numeric(relative=0.01), "3.14", "3.14159").value == 1.0
    assert score(Numeric(relative=0.0001), "3.14", "3.14159").value == 0.0
    assert score(Numeric(relative=0.01), "1001", "1000").value == 1.0


def test_the_absolute_tolerance_is_a_distance(score: Any) -> None:
    assert score(Numeric(absolute=0.5), "0.4", "0").value == 1.0
    assert score(Numeric(absolute=0.5), "0.6", "0").value == 0.0


def test_the_span_is_the_number_as_written(score: Any) -> None:
    assert score(Numeric(), "It costs $1,234.50 in all", "7").span == "$1,234.50"


def test_a_target_that_is_not_one_number_is_the_graders_error(score: Any) -> None:
    with pytest.raises(
        GraderError, match=r"^sample s1: the gold answer '2024-05-07' is a date, not one number$"
    ):
        score(Numeric(), "7", "2024-05-07")


def test_the_fingerprint_covers_the_tolerances() -> None:
    assert len({Numeric().fingerprint, Numeric(relative=1).fingerprint, Numeric(absolute=1).fingerprint}) == 3
