"""BFCL's rules for single calls and sets of calls, on cases that can be followed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.bfcl.bfcl_kit import WEATHER, by_tools, error_type, function

RIGHT = {"city": "New York", "days": 3}


def argument(declared: str, value: Any, *possible: Any) -> str | None:
    """The error type, if any, of a call `f(p=value)` where `p` is declared so and may have these values."""
    verdict = by_tools(
        ("f", {"p": value}), functions=[function(p=declared)], answer=[{"f": {"p": list(possible)}}]
    )
    return error_type(verdict)


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("weather_now", RIGHT, None),
        ("weather_now", RIGHT | {"above": 1.5}, None),
        ("weather.now", RIGHT, "simple_function_checker:wrong_func_name"),
        ("weather_later", RIGHT, "simple_function_checker:wrong_func_name"),
        ("weather_now", {"days": 3}, "simple_function_checker:missing_required"),
        ("weather_now", {"city": "New York"}, "simple_function_checker:missing_optional"),
        ("weather_now", RIGHT | {"unit": "C"}, "simple_function_checker:unexpected_param"),
        ("weather_now", RIGHT | {"days": 4}, "value_error:others"),
        ("weather_now", RIGHT | {"days": "3"}, "type_error:simple"),
        ("weather_now", RIGHT | {"city": "Boston"}, "value_error:string"),
    ],
)
def test_one_call_is_compared_by_name_parameters_types_and_values(
    name: str, arguments: dict[str, Any], error: str | None
) -> None:
    assert error_type(by_tools((name, arguments))) == error


@pytest.mark.parametrize(
    ("declared", "value", "possible", "error"),
    [
        ("integer", True, [1], "type_error:simple"),  # a truth value is not an integer
        ("integer", 1.0, [1], "type_error:simple"),  # a fraction is none either
        ("float", 1, [1.0], None),  # but an integer will do for a float
        ("float", True, [1.0], "type_error:simple"),
        ("boolean", 1, [True], "type_error:simple"),
        ("integer", "n", ["n"], None),  # a variable's name in place of a value
        ("string", "n", [5], "value_error:others"),
        ("any", 5, [5], None),  # `any` is text, unless the possible value is something else
        ("tuple of float", [1.5, 2.5], [[1.5, 2.5]], None),
        (
            "array of float",
            [1, 2],
            [[1.5, 2.5]],
            "type_error:nested",
        ),  # integers are not made floats in lists
        ("array of string", ["b", "a"], [["a", "b"]], "value_error:list/tuple"),  # in order
        ("array of string", ["A", "b."], [["a", "b"]], None),
        ("array of string", [], ["", ["a"]], None),  # may be left out, or empty
        ("array of integer", [[1], [2]], [[[1], [2]]], None),  # deeper levels are not looked at
    ],
)
def test_types_are_compared_exactly(
    declared: str, value: Any, possible: list[Any], error: str | None
) -> None:
    assert argument(declared, value, *possible) == error


@given(st.text(alphabet="ab ,./-_*^AB'\"", max_size=20))
def test_strings_are_compared_without_case_spaces_and_some_marks(text: str) -> None:
    loose = text.upper().replace("'", '"').replace(",", " . ").replace("-", "_*^/")
    assert argument("string", loose, text) is None


def test_other_marks_count() -> None:
    assert argument("string", "ready!", "ready") == "value_error:string"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"name": "ANN", "age": 5}, None),
        ({"name": "Ann"}, None),  # age may be left out
        ({"age": 5}, "value_error:dict_key"),
        ({"name": "Ann", "city": "B"}, "value_error:dict_key"),
        ({"name": "Bob"}, "value_error:dict_value"),
        ([("name", "Ann")], "type_error:simple"),
    ],
)
def test_dictionaries_hold_possible_keys_with_possible_values(value: Any, error: str | None) -> None:
    assert argument("dict", value, {"name": ["Ann"], "age": [5, ""]}) == error


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([{"a": 1}, {"a": 2}], None),
        ([{"a": 2}, {"a": 1}], "value_error:dict_value"),
        ([{"a": 1}], "value_error:list_dict_count"),
        ([{"a": 1}, 2], "type_error:nested"),
    ],
)
def test_lists_of_dictionaries_are_compared_in_order(value: Any, error: str | None) -> None:
    assert argument("array of dict", value, [{"a": [1]}, {"a": [2]}]) == error


F = function(p="integer")
TWO = [{"f": {"p": [1]}}, {"f": {"p": [2]}}]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1, 2], None),
        ([2, 1], None),
        ([1], "parallel_function_checker_no_order:wrong_count"),
        ([1, 2, 2], "parallel_function_checker_no_order:wrong_count"),
        ([1, 1], "parallel_function_checker_no_order:cannot_find_match"),
    ],
)
def test_parallel_calls_match_in_any_order_each_once(values: list[int], error: str | None) -> None:
    calls = [("f", {"p": value}) for value in values]
    verdict = by_tools(*calls, category="parallel", functions=[F], answer=TWO)
    assert error_type(verdict) == error


def test_one_of_several_functions_is_checked_by_its_own_document() -> None:
    functions = [WEATHER, F]
    right = by_tools(("f", {"p": 1}), category="multiple", functions=functions, answer=TWO[:1])
    other = by_tools(("weather_now", RIGHT), category="multiple", functions=functions, answer=TWO[:1])
    both = by_tools(
        ("f", {"p": 1}), ("f", {"p": 1}), category="multiple", functions=functions, answer=TWO[:1]
    )
    assert [error_type(one) for one in (right, other, both)] == [
        None,
        "simple_function_checker:wrong_func_name",
        "multiple_function_checker:wrong_count",
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ('{"city": "New York", "days": 3', "ast_decoder:decoder_failed"),
        ('["New York", 3]', "ast_decoder:decoder_wrong_output_format"),
        ("[" * 100_000, "ast_decoder:decoder_failed"),
        ("", "simple_function_checker:missing_required"),
    ],
)
def test_arguments_that_are_no_object_are_a_wrong_answer(arguments: str, error: str) -> None:
    assert error_type(by_tools(("weather_now", arguments))) == error


@pytest.mark.parametrize("category", ["irrelevance", "live_irrelevance"])
def test_where_no_function_fits_any_call_is_wrong(category: str) -> None:
    assert error_type(by_tools(category=category, answer=[])) is None
    called = by_tools(("weather_now", RIGHT), category=category, answer=[])
    assert error_type(called) == "irrelevance_error:decoder_success"
    assert error_type(by_tools(("weather_now", "{"), category=category, answer=[])) is None


def test_where_a_function_fits_any_call_is_right() -> None:
    assert error_type(by_tools(("anything", {}), category="live_relevance", answer=[])) is None
    none = by_tools(category="live_relevance", answer=[])
    assert error_type(none) == "relevance_error:decoder_failed"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from(
        ["string", "integer", "float", "boolean", "dict", "any", "array of dict", "tuple of float"]
    ),
    st.sampled_from([["a"], [1], [1.5, ""], [True], [{"a": [1]}], [[{"a": [1]}]], [[1.5]], [""], ["", []]]),
)
def test_whatever_the_model_gives_there_is_a_verdict(value: Any, declared: str, possible: list[Any]) -> None:
    verdict = by_tools(("f", {"p": value}), functions=[function(p=declared)], answer=[{"f": {"p": possible}}])
    assert verdict.score in (0.0, 1.0)
