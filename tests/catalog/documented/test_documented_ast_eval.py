"""Function calls in text: found without evaluating anything, and compared in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.catalog.llm_benchmarker_api.evaluators.ast_eval import (
    compare_function_calls,
    normalize_value,
    parse_function_call,
)

LONDON = {"name": "get_weather", "arguments": {"city": "London", "unit": "celsius"}}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "get_weather", "arguments": {"city": "London", "unit": "celsius"}}',
        '[{"name": "get_weather", "parameters": {"city": "London", "unit": "celsius"}}]',
        '{"function": {"name": "get_weather", "arguments": "{\\"city\\": \\"London\\", \\"unit\\": \\"celsius\\"}"}}',
        '{"get_weather": {"city": "London", "unit": "celsius"}}',
        'I call:\n```json\n{"name": "get_weather", "arguments": {"city": "London", "unit": "celsius"}}\n```',
        'get_weather(city="London", unit="celsius")',
        '[get_weather(city="London", unit="celsius")]',
    ],
    ids=["json", "list and parameters", "openai", "bfcl", "code block", "python", "python list"],
)
def test_each_way_of_writing_a_call(text: str) -> None:
    assert parse_function_call(text) == [LONDON]


def test_several_calls_parted_by_commas() -> None:
    calls = parse_function_call("first(x=1), pkg.second(y=[2, 3])")
    assert calls == [
        {"name": "first", "arguments": {"x": 1}},
        {"name": "pkg.second", "arguments": {"y": [2, 3]}},
    ]


def test_arguments_by_position_are_numbered_and_what_is_no_literal_stays_source_text() -> None:
    assert parse_function_call("f(1, x=a + b)") == [{"name": "f", "arguments": {"arg0": 1, "x": "a + b"}}]


@pytest.mark.parametrize("text", ["", "Sorry, I cannot.", "x = 1", "3", "f(**rest)", "[1, 2]", "null", "\0"])
def test_no_call(text: str) -> None:
    assert parse_function_call(text) == []


def test_nothing_is_ever_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    source = f"__import__('pathlib').Path({str(target)!r}).touch()"
    parse_function_call(source)
    parse_function_call(f"f(x={source})")
    assert not target.exists()


@pytest.mark.parametrize(
    "text",
    [
        "f(" * 20_000 + ")" * 20_000,
        "f(" + "-" * 40_000 + "1)",
        "a" + ".b" * 20_000 + "()",
        "f(x=" + "1+" * 20_000 + "1)",
        "[" * 45_000,
        "not " * 10_000 + "f()",
    ],
    ids=["calls", "minus", "attributes", "sum", "brackets", "not"],
)
def test_text_that_is_nested_too_deep_is_no_call(text: str) -> None:
    assert parse_function_call(text) == []


def test_calls_are_compared_in_any_order() -> None:
    other = {"name": "f", "arguments": {"x": 1}}
    right, details = compare_function_calls([LONDON, other], [other, LONDON])
    assert right
    assert (details["predicted_count"], details["expected_count"]) == (2, 2)


def test_another_count_is_told_at_once() -> None:
    right, details = compare_function_calls([LONDON], [])
    assert not right
    assert details["reason"] == "1 calls instead of 0"


def test_a_call_that_nothing_matches_is_shown() -> None:
    wrong = {"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}
    right, details = compare_function_calls([wrong], [LONDON])
    assert not right
    assert details["unmatched"] == wrong


def test_an_expected_call_is_used_up_by_one_call() -> None:
    twice, once_and_other = [LONDON, LONDON], [LONDON, {"name": "f", "arguments": {}}]
    assert not compare_function_calls(twice, once_and_other)[0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"x": 5}, {"x": "5"}, True),
        ({"x": {"b": 1, "a": 2}}, {"x": '{"a": 2, "b": 1}'}, True),
        ('{"x": 1}', {"x": 1}, True),
        ({"x": 1}, {"x": 1.0}, True),
        ({"x": True}, {"x": "true"}, True),
        ({"x": True}, {"x": 1}, False),
        ({"x": [1, 2]}, {"x": [2, 1]}, False),
        ({"x": "NaN"}, {"x": "NaN"}, True),
        ({}, None, True),
    ],
)
def test_ways_of_writing_the_same_arguments(one: object, other: object, same: bool) -> None:
    calls = [[{"name": "f", "arguments": arguments}] for arguments in (one, other)]
    assert compare_function_calls(*calls)[0] is same


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_a_call_is_the_same_as_itself_written_as_json(arguments: dict[str, object]) -> None:
    written = parse_function_call(json.dumps({"name": "f", "arguments": arguments}))
    assert compare_function_calls([{"name": "f", "arguments": arguments}], written)[0]


@settings(max_examples=40)
@given(JSON_VALUES)
def test_normalising_twice_changes_nothing(value: object) -> None:
    once = normalize_value(value)
    assert json.dumps(normalize_value(once)) == json.dumps(once)
