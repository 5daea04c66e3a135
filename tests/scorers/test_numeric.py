"""Numeric: which number an answer comes to, how it is read, and when two numbers are equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.numeric import Numeric, final_number

READ = [
    ("42", 42.0),
    ("-42", -42.0),
    ("\u221242", -42.0),
    ("+42", 42.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("1,234.5", 1234.5),
    ("12,345,678", 12345678.0),
    ("1{,}234", 1234.0),
    ("10,\\!000", 10000.0),
    ("1\u202f234", 1234.0),
    ("$1,000", 1000.0),
    ("-$5", -5.0),
    ("1e-5", 1e-5),
    ("3.0E+02", 300.0),
    ("1.5 \u00d7 10^5", 150000.0),
    ("1.5 \\times 10^{-3}", 0.0015),
    ("1.5 × 10⁻³", 0.0015),
    ("10^6", 1e6),
    ("2**10", 1024.0),
    ("3/4", 0.75),
    ("\\frac{3}{4}", 0.75),
    ("-\\dfrac{1}{2}", -0.5),
]
CHOSEN = [
    # the last number, when nothing else marks one
    ("She has 3 apples and eats 2, so 1 is left.", 1.0),
    # the sign is no sign between two numbers or behind a name
    ("10-7", 7.0),
    ("Model v2 costs 30", 30.0),
    ("H2O boils at 100", 100.0),
    ("5 km^2", 5.0),
    ("x_1 = 4 and x_2", 4.0),
    # a statement wins over the last number
    ("The answer is 18. She worked 9 hours for 2 days.", 18.0),
    ("Answer: **$18** (that is 9 times 2)", 18.0),
    ("The answer is approximately 3.14, given 2 decimals", 3.14),
    ("At first the answer is 5. After a check the answer is 6, not 7.", 6.0),
    ("The answer is not 3 but 4.", 4.0),
    # the mark of GSM8K wins over a statement
    ("The answer is 5.\n#### 18", 18.0),
    # the box wins over everything
    ("#### 5\nThe answer is \\boxed{18}, in 3 steps", 18.0),
    ("\\boxed{x = 18}", 18.0),
    ("\\boxed{18\\text{ km}^2}", 18.0),
    ("\\boxed{\\frac{1}{2}}", 0.5),
    ("\\boxed{none} of the 3", 3.0),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    number = final_number(text)
    assert number is not None
    assert number.value == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("text", "value"), CHOSEN)
def test_the_number_that_the_answer_comes_to(text: str, value: float) -> None:
    number = final_number(text)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize("text", ["", "no number", "H2O", "1/0", "1e999", "9" * 400, "10^999"])
def test_what_is_no_finite_number_is_none(text: str) -> None:
    assert final_number(text) is None


@given(st.integers(-(10**15), 10**15))
def test_integers_survive_every_way_of_writing_them(number: int) -> None:
    for written in (
        f"{number}",
        f"{number:,}",
        f"The answer is {number}.",
        f"\\boxed{{{number:,}}}",
        f"#### {number}",
    ):
        read = final_number(written)
        assert read is not None
        assert read.value == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_being_written(number: float) -> None:
    read = final_number(repr(number))
    assert read is not None
    assert read.value == number


@given(st.text(alphabet="0123456789.,-+/eE^%${}\\ x*#", max_size=60))
def test_nothing_written_with_the_signs_of_numbers_breaks_it(text: str) -> None:
    number = final_number(text)
    assert number is None or number.span in text


@pytest.mark.parametrize(
    ("answer", "target", "value"),
    [
        ("18", "18", 1.0),
        ("18.0", "18", 1.0),
        ("1,800", "1800", 1.0),
        ("0.75", "3/4", 1.0),
        ("18", "Natalia sold 48/2 = 24 clips.\n#### 18", 1.0),
        ("18", 18, 1.0),
        ("19", "18", 0.0),
        ("-18", "18", 0.0),
        ("50%", "50", 1.0),
        ("50%", "0.5", 1.0),
        ("0.5", "50%", 1.0),
        ("50%", "50%", 1.0),
        ("5%", "50%", 0.0),
        ("1000000", "1000001", 0.0),
        ("2e-10", "1e-10", 0.0),
    ],
)
def test_equal_numbers(answer: str, target: Any, value: float, score: Any) -> None:
    assert score(Numeric(), answer, target).value == value


def test_the_relative_tolerance_is_a_share_of_the_larger(score: Any) -> None:
    assert score(Numeric(relative=0.01), "3.14", "3.14159").value == 1.0
    assert score(Numeric(relative=0.0001), "3.14", "3.14159").value == 0.0


def test_the_absolute_tolerance_is_a_distance(score: Any) -> None:
    assert score(Numeric(absolute=0.5), "0.4", "0").value == 1.0
    assert score(Numeric(absolute=0.5), "0.6", "0").value == 0.0


def test_the_span_is_the_number_as_written(score: Any) -> None:
    assert score(Numeric(), "It costs $1,234.50 in all", "7").span == "1,234.50"


def test_an_answer_without_a_number_is_unparsed(score: Any) -> None:
    nothing = score(Numeric(), "I do not know", "7")
    assert (nothing.value, nothing.status) == (None, Status.UNPARSED)


def test_a_target_without_a_number_is_the_graders_error(score: Any) -> None:
    with pytest.raises(GraderError, match=r"^sample s1: there is no number in its ground_truth$"):
        score(Numeric(), "7", "seven")


def test_the_fingerprint_covers_the_tolerances() -> None:
    assert len({Numeric().fingerprint, Numeric(relative=1).fingerprint, Numeric(absolute=1).fingerprint}) == 3
