"""Calls written as text, as prompt models write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.bfcl.bfcl_kit import WEATHER, by_text, error_type

from benchwright.catalog.bfcl.call_decoding import decode_calls
from benchwright.catalog.bfcl.calls import Call, DecodingError


def decoded(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in decode_calls(text)]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1), g()]", [("f", {"a": 1}), ("g", {})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("```\n[f(a=1)]\n```", [("f", {"a": 1})]),
        ("[a.b.c(x='y')]", [("a.b.c", {"x": "y"})]),
        ("[f(1, 2, a=3)]", [("f", {"a": 3})]),  # only named arguments are kept
        ("[f(a=-1, b=None, c=True, d=...)]", [("f", {"a": -1, "b": None, "c": True, "d": "..."})]),
        ("[f(a=[1, (2, 3)], b={'k': [1]})]", [("f", {"a": [1, (2, 3)], "b": {"k": [1]}})]),
        (
            "[f(a=name, b=g(1), c=g(x=1), d=a[0])]",
            [("f", {"a": "name", "b": "g(1)", "c": {"g": {"x": 1}}, "d": "a[0]"})],
        ),
        ("[f(a=2 * 3 + 1)]", [("f", {"a": 7})]),
        ("[]", []),
        ("", []),
    ],
)
def test_calls_are_read(text: str, calls: list[Any]) -> None:
    assert decoded(text) == calls


@pytest.mark.parametrize(
    "text",
    [
        "```python\n[f(a=1)]\n```",  # the official parser stumbles over the word as well
        "I would call f(a=1).",
        "[f(a=1), 5]",
        "[f(a=9**9**9)]",
        "[f(a='x' * 10**9)]",
        "[f(a=b.c)]",
        "[f(a=lambda: 1)]",
        "[f(a=" + "(" * 50_000,
        "[" + "f(a=" * 3_000 + "1" + ")" * 3_000 + "]",
        "x" * 200_000,
    ],
)
def test_what_is_no_list_of_calls_is_told_as_that(text: str) -> None:
    with pytest.raises(DecodingError):
        decode_calls(text)


@given(st.text(alphabet="f(a=1)[]{}'\", \n`*-\\u", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        calls = decode_calls(text)
    except DecodingError:
        return
    assert all(isinstance(call, Call) for call in calls)


def test_nothing_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (call,) = decode_calls(f"[f(a=open({str(mark)!r}, 'w'))]")
    with pytest.raises(DecodingError):
        decode_calls(f"[f(a=open({str(mark)!r}, 'w').write('x') + 1)]")
    assert call.arguments["a"].startswith("open(")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[weather.now(city='new york', days=3)]", None),
        ("[weather_now(city='new york', days=3)]", "simple_function_checker:wrong_func_name"),
        ("It is sunny.", "ast_decoder:decoder_failed"),
        ("", "simple_function_checker:wrong_count"),
    ],
)
def test_names_in_text_keep_their_dots(text: str, error: str | None) -> None:
    assert error_type(by_text(text)) == error


@pytest.mark.parametrize("text", ["No function fits.", "", "[]"])
def test_text_is_right_where_no_function_fits(text: str) -> None:
    assert error_type(by_text(text, "irrelevance", [WEATHER], [])) is None
