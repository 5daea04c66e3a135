"""The arguments of a tool call are read in one way by every caller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from benchwright.endpoint.call_arguments import ArgumentsError, read_arguments, read_object_arguments

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)
DEEP = '{"a":' * 100_000


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES), st.booleans())
def test_an_object_is_read_from_its_json_and_also_taken_as_it_is(
    value: dict[str, Any], lenient: bool
) -> None:
    assert read_arguments(json.encode(value).decode(), lenient=lenient) == value
    assert read_arguments(value, lenient=lenient) is value


@pytest.mark.parametrize("nothing", ["", None, "{}", " {}\n"])
def test_a_call_without_arguments_has_an_empty_object(nothing: str | None) -> None:
    assert read_arguments(nothing) == {}


@pytest.mark.parametrize("other", ["[]", '"text"', "null", "7", ["a"], 7, True])
def test_anything_but_an_object_is_a_type_error(other: object) -> None:
    with pytest.raises(TypeError, match="must be a JSON object"):
        read_arguments(other)
    assert read_object_arguments(other) is None


@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
@pytest.mark.parametrize("text", ["{", "command", "{'a': 1}", '{"a": 1} {"b": 2}', " ", DEEP])
def test_text_that_is_no_json_is_an_arguments_error(text: str, lenient: bool) -> None:
    with pytest.raises(ArgumentsError):
        read_arguments(text, lenient=lenient)
    assert read_object_arguments(text, lenient=lenient) is None


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": "\\ud83d"}'])
def test_what_only_python_reads_as_json_is_read_leniently_only(text: str) -> None:
    assert read_object_arguments(text) is None
    assert read_object_arguments(text, lenient=True) is not None
