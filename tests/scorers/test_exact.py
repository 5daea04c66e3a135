"""Exact: what counts as the same answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.exact import Exact, normalize_text

SAME = [
    ("Paris", "paris"),
    ("  Paris \n", "Paris"),
    ("New\n York", "new york"),
    ("Paris.", "Paris"),
    ("**Paris**.", "Paris"),
    ('"Paris!"', "Paris"),
    ("“Paris”", "Paris"),
    ("`x + 1`", "x + 1"),
    ("STRASSE", "straße"),
    ("ﬁne", "fine"),
    ("42", 42),
    ("True", True),
    ("?", "?"),
]
DIFFERENT = [
    ("Paris", "London"),
    ("Paris, France", "Paris"),
    ("-5", "5"),
    ("5%", "5"),
    (".5", "5"),
    ("[0, 1)", "(0, 1]"),
    ("C#", "C"),
    ("__init__", "init"),
    ("?", "!"),
]


@pytest.mark.parametrize(("answer", "target"), SAME)
def test_these_are_the_same(answer: str, target: Any, score: Any) -> None:
    assert score(Exact(), answer, target).value == 1.0


@pytest.mark.parametrize(("answer", "target"), DIFFERENT)
def test_these_are_not(answer: str, target: Any, score: Any) -> None:
    assert score(Exact(), answer, target).value == 0.0


@pytest.mark.parametrize(
    ("answer", "target", "value"),
    [("Paris\n", "Paris", 1.0), ("paris", "Paris", 0.0), ("Paris.", "Paris", 0.0)],
)
def test_strict_ignores_only_white_space_at_the_ends(
    answer: str, target: str, value: float, score: Any
) -> None:
    assert score(Exact(strict=True), answer, target).value == value


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalize_text(normalize_text(text)) == normalize_text(text)


@given(st.text())
def test_every_text_is_the_same_as_itself_in_bold(text: str) -> None:
    if normalize_text(text):
        assert normalize_text(f"**{text.strip()}**") == normalize_text(text) or "*" in text


@pytest.mark.parametrize(
    ("answer", "target", "value"),
    [
        ("four", ["4", "four"], 1.0),
        ("4", ["4", "four"], 1.0),
        ("4", [4, 5], 1.0),
        ("five", ["4", "four"], 0.0),
        ('["4","four"]', ["4", "four"], 0.0),
        # in a CSV file a list is the text of one
        ("four", '["4", "four"]', 1.0),
        # other texts in brackets are what they are
        ("[0, 1]", "[0, 1]", 1.0),
        ("0", "[0, 1]", 0.0),
    ],
)
def test_of_a_list_any_is_right(answer: str, target: Any, value: float, score: Any) -> None:
    assert score(Exact(), answer, target).value == value
    assert score(Exact(strict=True), answer, target).value == value


@pytest.mark.parametrize("target", [[], [["4"]], [""], [None]])
def test_a_list_that_holds_no_answers_is_refused(target: Any, score: Any) -> None:
    assert "must hold texts or numbers" in (Exact().wrong_target({"ground_truth": target}) or "")
    with pytest.raises(GraderError, match="must hold texts or numbers"):
        score(Exact(), "4", target)


def test_the_span_is_the_answer_cut_short(score: Any) -> None:
    assert score(Exact(), " Paris ", "Rome").span == "Paris"
    span = score(Exact(), "x" * 1_000_000, "Rome").span
    assert len(span) == 200
    assert span.endswith("…")


def test_a_blank_answer_is_unparsed(score: Any) -> None:
    blank = score(Exact(), " \n", "Paris")
    assert (blank.value, blank.status) == (None, Status.UNPARSED)


def test_a_sample_without_target_is_the_graders_error(score: Any) -> None:
    with pytest.raises(GraderError, match=r"^sample s1 has no ground_truth$"):
        score(Exact(), "Paris", None)


def test_the_fingerprint_covers_the_options() -> None:
    assert Exact().fingerprint == Exact().fingerprint
    assert Exact().fingerprint != Exact(strict=True).fingerprint
