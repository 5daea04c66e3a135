"""Calls in Java and JavaScript text. What is expected is what the authors' parsers make of the same text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import (
    by_text,
    by_tools,
    error_type,
    function,
    single_turn_rows,
    write_category,
)
from tests.catalog.catalog_kit import benchmark, samples, validated

from benchwright.catalog.bfcl.calls import DecodingError
from benchwright.catalog.bfcl.categories import Language
from benchwright.catalog.bfcl.source_calls import UNNAMED_ARGUMENT_KEY, create_parser, parse_source_call
from benchwright.errors import UserError
from benchwright.runs.keys import fingerprint

FAILED = "ast_decoder:decoder_failed"
NO_CALL = "ast_decoder:decoder_wrong_output_format"


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('f(p="Ann, B.");', "f", {"p": "Ann, B."}),
        ("a.b.f(p = 5L , q = x)", "a.b.f", {"p": "5L", "q": "x"}),
        ("f(p='c', q=new int[]{1, 2})", "f", {"p": "c", "q": "new int[]{1,2}"}),
        ("f(p=List.of(1, 2), q=a  +  b)", "f", {"p": "List.of(1, 2)", "q": "a+b"}),
        (
            'f(p=new ArrayList<String>(Arrays.asList("a", "b")))',
            "f",
            {"p": 'new ArrayList<String>(Arrays.asList("a", "b"))'},
        ),
        # the body of a class is lost, unless the whole stands in quotation marks
        (
            'f(p=new HashMap<String, Object>() {{ put("a", 1); }})',
            "f",
            {"p": "new HashMap<String,Object>()"},
        ),
        ("f(p='new HashMap<>() {{ put(\"a\", 1); }}')", "f", {"p": 'new HashMap<>() {{ put("a", 1); }}'}),
        # only the first call counts; what has no name is left out unless it is a name itself
        ("f(p=1); g(q=2)", "f", {"p": "1"}),
        ('f(p="a", "b", 3)', "f", {"p": "a"}),
        ('f(p="a", x)', "f", {"p": "a", UNNAMED_ARGUMENT_KEY: "x"}),
        # positions in bytes are taken for positions in the text
        ('f(p="é", q="ab")', "f", {"p": 'é"', "=": 'b"'}),
    ],
)
def test_java(text: str, name: str, arguments: dict[str, str]) -> None:
    (call,) = parse_source_call(text, "java")
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('f(p="Ann, B.");', "f", {"p": "Ann, B."}),
        ("a.b.f(p = 5n , q = x)", "a.b.f", {"p": "5n", "q": "x"}),
        ("f(p='c', q=[1, 2])", "f", {"p": "c", "q": "[1, 2]"}),
        ('f(p={a: "x", b: [1]}, q=`t`)', "f", {"p": '{a: "x", b: [1]}', "q": "`t`"}),
        ("f(p=(a, b) => a + b)", "f", {"p": "(a, b) => a + b"}),
        ('f(p="é", q="ab")', "f", {"p": "é", "q": "ab"}),
        ("f(p=1); g(q=2)", "f", {"p": "1"}),
        ("f(p=1, true, false)", "f", {"p": "1", UNNAMED_ARGUMENT_KEY: "true"}),
    ],
)
def test_javascript(text: str, name: str, arguments: dict[str, str]) -> None:
    (call,) = parse_source_call(text, "javascript")
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("category", "text", "error"),
    [
        ("simple_java", "f(p=1", FAILED),
        ("simple_java", "f(p=1, p=2)", FAILED),
        ("simple_java", "f(p=John Doe)", FAILED),
        ("simple_java", "f(p=new int[3])", FAILED),
        ("simple_java", "x = 5", FAILED),
        ("simple_java", "", NO_CALL),
        ("simple_java", "int f(int a) { return 1; }", NO_CALL),
        ("simple_javascript", "f(p=1", FAILED),
        ("simple_javascript", "f(p=1, p=2)", FAILED),
        ("simple_javascript", "f(p=x.)", FAILED),
        ("simple_javascript", "f(p='a)", FAILED),
        ("simple_javascript", "x = f(p=1)", NO_CALL),
        ("simple_javascript", "f(p=1), f(p=1)", NO_CALL),
        ("simple_javascript", "", NO_CALL),
    ],
)
def test_other_text_is_no_call(category: str, text: str, error: str) -> None:
    verdict = by_text(text, category, [function(p="integer")], [{"f": {"p": [1]}}])
    assert error_type(verdict) == error


@pytest.mark.parametrize(
    ("category", "declared", "text", "possible"),
    [
        ("simple_java", "String", "f(p=Ann);", "Ann"),
        ("simple_java", "Array of integer", "[f(p=new int[]{1, 2})]", [1, 2]),
        ("simple_java", "HashMap", "[f(p='new HashMap<>() {{ put(\"a\", 1); }}')]", {"a": [1]}),
        ("simple_javascript", "array of integer", "[f(p=[1, 2])]", [1, 2]),
        ("simple_javascript", "dict", "[f(p={a: 'x'})]", {"a": ["x"]}),
        ("simple_javascript", "any", "[f(p=(a, b) => a + b)]", "(a,b)=>a+b"),
    ],
)
def test_values_are_compared_in_their_own_syntax(
    category: str, declared: str, text: str, possible: Any
) -> None:
    verdict = by_text(text, category, [function(p=declared)], [{"f": {"p": [possible]}}])
    assert error_type(verdict) is None


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize("piece", ["(", "[", "f(", "a.", "1+", "a<", "-", "{"])
def test_no_text_ends_the_process(piece: str, language: Language) -> None:
    """Nested as deep as a text can be: the parser is native code, in which a stack that is used up is the end."""
    closing = {"(": ")", "[": "]", "f(": ")", "{": "}"}.get(piece, "")
    for times in (1_900 // len(piece), 45_000):
        try:
            (call,) = parse_source_call(f"f(p={piece * times}x{closing * times})", language)
        except DecodingError:
            continue
        assert call.name == "f"


@pytest.mark.parametrize("category", ["simple_java", "simple_javascript"])
async def test_gold_answers_of_real_rows_pass_as_text(category: str, real_rows: Path) -> None:
    played = await validated("bfcl", real_rows / "bfcl", categories=category, mode="prompt")
    assert (played.samples, played.failures) == (12, [])


def test_scores_of_text_are_new_ones_and_those_of_native_calls_are_not() -> None:
    """Verdicts on native calls, which are not parsed, are what they were in version 1; those on text may differ."""
    unchanged = {
        mode: benchmark("bfcl", {"mode": mode}).scorers[0].fingerprint
        == fingerprint("bfcl", "accuracy", "1", mode)
        for mode in ("tools", "prompt")
    }
    assert unchanged == {"tools": True, "prompt": False}


class TestWithoutTreeSitter:
    @pytest.fixture(autouse=True)
    def absent(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        create_parser.cache_clear()
        monkeypatch.setitem(sys.modules, "tree_sitter", None)
        yield
        create_parser.cache_clear()

    @pytest.fixture
    def rows(self, tmp_path: Path) -> Path:
        for category in ("simple_java", "simple_python"):
            row, answer = single_turn_rows(category, [{"f": {"p": [1]}}], [function(p="integer")])
            write_category(tmp_path, 4, category, [row], [answer])
        return tmp_path

    def test_the_message_says_what_to_install(self, rows: Path) -> None:
        with pytest.raises(UserError, match=r"pip install 'benchwright\[bfcl\]'"):
            samples("bfcl", rows, {"mode": "prompt"})

    def test_other_categories_and_native_calls_do_without(self, rows: Path) -> None:
        assert len(samples("bfcl", rows, {"mode": "prompt", "categories": "simple_python"})) == 1
        assert len(samples("bfcl", rows)) == 2
        asked: dict[str, Any] = {
            "category": "simple_java",
            "functions": [function(p="integer")],
            "answer": [{"f": {"p": [1]}}],
        }
        assert error_type(by_tools(("f", {"p": "1"}), **asked)) is None
