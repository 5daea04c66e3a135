"""Values written in Java and JavaScript."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import by_tools, error_type, function

from benchwright.catalog.bfcl.java_values import parse_java_value
from benchwright.catalog.bfcl.javascript_values import parse_javascript_value


@pytest.mark.parametrize(
    ("text", "declared", "element", "value"),
    [
        ("42", "integer", None, 42),
        ("42L", "integer", None, "42L"),
        ("42L", "long", None, 42),
        ("42", "long", None, "42"),
        ("1.5f", "float", None, 1.5),
        ("1.5", "float", None, "1.5"),
        ("1e-3", "double", None, 0.001),
        ("true", "boolean", None, True),
        ("True", "boolean", None, "True"),
        ('"quoted"', "String", None, '"quoted"'),
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("new int[] { }", "Array", "integer", []),
        ("[1, 2]", "Array", "integer", "[1, 2]"),
        ('new ArrayList<String>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<>() {{ add('a'); add('b'); }}", "ArrayList", "char", ["a", "b"]),
        ("new ArrayList<>()", "ArrayList", "String", []),
        ("Arrays.asList(1)", "ArrayList", "integer", "Arrays.asList(1)"),
        (
            'new HashMap<String, Object>() {{ put("a", 1L); put("b", "x"); }}',
            "HashMap",
            None,
            {"a": 1, "b": "x"},
        ),
        ("new HashMap<>()", "HashMap", None, {}),
        ("Map.of()", "HashMap", None, "Map.of()"),
    ],
)
def test_java(text: str, declared: str, element: str | None, value: Any) -> None:
    found = parse_java_value(text, declared, element)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "declared", "element", "value"),
    [
        ("42", "integer", None, 42),
        ("1.5", "float", None, 1.5),
        ("5n", "Bigint", None, 5),
        ("'x'", "String", None, "x"),
        ("x", "String", None, "x"),
        ("false", "Boolean", None, False),
        ("['a', \"b\"]", "array", "String", ["a", "b"]),
        ("new Array(1, 2)", "array", "integer", [1, 2]),
        ("[[1, 2], ['x']]", "array", "array", [[1, 2], ["x"]]),
        ("[]", "array", "String", []),
        ("items", "array", "String", "items"),
        ("{a: 1, 'b': 'x', c: [1, 2]}", "dict", None, {"a": 1, "b": "x", "c": [1, 2]}),
        ("{}", "dict", None, {}),
    ],
)
def test_javascript(text: str, declared: str, element: str | None, value: Any) -> None:
    found = parse_javascript_value(text, declared, element)
    assert (found, type(found)) == (value, type(value))


def test_values_must_come_as_source_text() -> None:
    for category, error in (("simple_java", "type_error:java"), ("simple_javascript", "type_error:js")):
        verdict = by_tools(
            ("f", {"p": 5}),
            category=category,
            functions=[function(p="integer")],
            answer=[{"f": {"p": [5]}}],
        )
        assert error_type(verdict) == error


def test_a_java_array_of_strings_is_right_without_quotation_marks_only() -> None:
    """The oddity of simple_java_78: elements keep their quotation marks, and the possible ones have none."""
    asked: dict[str, Any] = {
        "category": "simple_java",
        "functions": [function(p="Array of String")],
        "answer": [{"f": {"p": [["verbose"]]}}],
    }
    assert error_type(by_tools(("f", {"p": "new String[]{verbose}"}), **asked)) is None
    assert error_type(by_tools(("f", {"p": 'new String[]{"verbose"}'}), **asked)) == "value_error:list/tuple"


def test_a_java_type_without_a_rule_is_a_wrong_answer() -> None:
    asked: dict[str, Any] = {"functions": [function(p="Stack")], "answer": [{"f": {"p": [[1]]}}]}
    assert error_type(by_tools(("f", {"p": "x"}), category="simple_java", **asked)) == "type_error:java"


@pytest.mark.parametrize(
    "text",
    [
        "[[a]" + ",[a]" * 900 + "x",
        "new HashMap<>() {" + " " * 3900,
        "new HashMap<>() {{ " + 'put("a", ' * 400 + "}}",
        "new ArrayList<>() {{" + "add(" * 900,
        "{" + "a" * 3900 + "}",
        "{" + "a:b," * 900 + "}",
        "[" * 4000,
    ],
)
def test_no_text_holds_the_reading_up(text: str) -> None:
    before = process_time()
    for declared in ("Array", "ArrayList", "HashMap"):
        parse_java_value(text, declared, "any")
    for declared in ("array", "dict"):
        parse_javascript_value(text, declared)
    assert process_time() - before < 2.0
