"""JSON: where in an answer the value is found, and when it is the target's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import GraderError
from benchwright.records import Status
from benchwright.scorers.json import Json

TARGET = {"city": "Bern", "size": [1, 2]}

HOLDING = [
    '{"city": "Bern", "size": [1, 2]}',
    '{"size": [1, 2], "city": "Bern"}',
    '{"size": [1.0, 2], "city": "Bern"}',
    '```json\n{"city": "Bern", "size": [1, 2]}\n```',
    '```\n{"city": "Bern", "size": [1, 2]}\n```',
    'Here it is:\n```json\n{"city": "Bern",\n "size": [1, 2]}\n```\nAnything else?',
    'A draft:\n```json\n{"city": "Basel"}\n```\nand better:\n```json\n{"city": "Bern", "size": [1, 2]}\n```',
    'The result is {"city": "Bern", "size": [1, 2]}.',
    'As shown in [1] it is {"city": "Bern", "size": [1, 2]}.',
    '```python\nprint("no JSON")\n``` so {"city": "Bern", "size": [1, 2]}',
]
NOT_HOLDING = [
    '{"city": "Bern"}',
    '{"city": "Bern", "size": [2, 1]}',
    '{"city": "Bern", "size": [1, 2, 3]}',
    '{"city": "bern", "size": [1, 2]}',
    '{"city": "Bern", "size": [true, 2]}',
    '[{"city": "Bern", "size": [1, 2]}]',
    "null",
]
NOT_JSON = ["", "no JSON at all", "{city: Bern}", '{"city": "Bern"', "[" * 100_000, "```json\n```"]


@pytest.mark.parametrize("answer", HOLDING)
def test_these_answers_hold_the_target(answer: str, score: Any) -> None:
    assert score(Json(), answer, TARGET).value == 1.0


@pytest.mark.parametrize("answer", NOT_HOLDING)
def test_these_hold_something_else(answer: str, score: Any) -> None:
    assert score(Json(), answer, TARGET).value == 0.0


@pytest.mark.parametrize("answer", NOT_JSON)
def test_these_hold_no_json(answer: str, score: Any) -> None:
    nothing = score(Json(), answer, TARGET)
    assert (nothing.value, nothing.status) == (None, Status.UNPARSED)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"city": "Bern", "size": [1, 2], "more": 0}', 1.0),
        ('{"city": "Bern", "size": [1, 2, 3]}', 0.0),
        ('{"city": "Bern"}', 0.0),
    ],
)
def test_an_answer_that_contains_the_target_may_have_more_keys(answer: str, value: float, score: Any) -> None:
    assert score(Json(contains=True), answer, TARGET).value == value


def test_more_keys_are_allowed_at_every_depth(score: Any) -> None:
    assert score(Json(contains=True), '{"a": [{"b": 1, "c": 2}]}', {"a": [{"b": 1}]}).value == 1.0


def test_an_array_is_found_in_prose_where_the_target_is_one(score: Any) -> None:
    assert score(Json(), 'They are [{"a": 1}, {"a": 2}].', [{"a": 1}, {"a": 2}]).value == 1.0


def test_the_target_may_be_json_text(score: Any) -> None:
    assert score(Json(), '{"a": 1}', '{"a": 1}').value == 1.0
    assert score(Json(), "7", "7").value == 1.0


def test_a_target_that_is_not_json_is_the_graders_error(score: Any) -> None:
    with pytest.raises(GraderError, match=r"^sample s1: its ground_truth is not JSON: "):
        score(Json(), "{}", "{")


def test_it_is_told_before_the_first_request() -> None:
    assert "is not JSON" in (Json().wrong_target({"ground_truth": "{"}) or "")
    assert Json().wrong_target({"ground_truth": "{}"}) is None


def test_an_array_is_a_value_and_no_choice(score: Any) -> None:
    assert score(Json(), "1", [1, 2]).value == 0.0
    assert score(Json(), "[1, 2]", [1, 2]).value == 1.0


def test_the_span_is_the_json_that_was_taken(score: Any) -> None:
    assert score(Json(), 'So: {"a": 1}!', {"a": 1}).span == '{"a": 1}'


def test_the_fingerprint_covers_the_option() -> None:
    assert Json().fingerprint != Json(contains=True).fingerprint


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=st.dictionaries(st.text(), VALUES, max_size=3), contains=st.booleans())
def test_every_object_matches_itself(value: Any, contains: bool, score: Any) -> None:
    assert score(Json(contains=contains), msgspec.json.encode(value).decode(), value).value == 1.0
