"""Exact: what counts as the same answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.exact import Exact, normalised

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
    assert normalised(normalised(text)) == normalised(text)


@given(st.text())
def test_every_text_is_the_same_as_itself_in_bold(text: str) -> None:
    if normalised(text):
        assert normalised(f"**{text.strip()}**") == normalised(text) or "*" in text


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
