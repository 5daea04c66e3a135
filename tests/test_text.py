"""Foreign text on a terminal: nothing in it is obeyed, and none of it is longer than it may be."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from benchwright.cli.output import print_table
from benchwright.text import error_line, last_line, make_lines_safe, make_safe, one_line, truncate

HARD = st.sampled_from(
    (
        *("\x1b", "\x1b[31m", "\x1b]0;title\x07", "\x1b]8;;x\x1b\\", "\x1bP", "\x9b", "\x9d", "\x9c", "\x07"),
        *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\U000e0041", "\ud800", "\ue000", "\u2028"),
        *("\xa0", "\r\n", "\t", " ", "a", "é", "漢", "🙂", "…"),
    )
)
ANYTHING = st.one_of(
    st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"])), st.lists(HARD).map("".join)
)
SEEN = st.text(st.characters(categories=["L", "M", "N", "P", "S"]))


@given(ANYTHING)
def test_only_characters_that_can_be_seen_and_spaces_come_out(text: str) -> None:
    assert make_safe(text).isprintable()
    assert one_line(text).isprintable()
    assert make_lines_safe(text).replace("\n", "").isprintable()
    make_safe(text).encode()


@given(ANYTHING)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert make_safe(make_safe(text)) == make_safe(text)
    assert make_lines_safe(make_lines_safe(text)) == make_lines_safe(text)
    assert one_line(one_line(text)) == one_line(text)


@given(SEEN)
def test_text_that_can_be_seen_stays_whole(text: str) -> None:
    assert make_safe(text) == one_line(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;never ended", " ]52;c;never ended"),
        ("\x1bcreset", " creset"),
        ("a\r\nb\tc\x00d", "a  b c d"),
        ("right\u202eleft", "right left"),
        ("half \ud83d of one", "half   of one"),
        ("a\x1b[3\x1b[1m1mb", "a [31mb"),
    ],
)
def test_escape_sequences_go_and_other_controls_become_spaces(text: str, left: str) -> None:
    assert make_safe(text) == left


def test_lines_and_the_room_of_tabs_are_kept_where_they_are_wanted() -> None:
    assert make_lines_safe("a\n\tb\x1b[1m\r\nc") == "a\n    b \nc"


@given(ANYTHING, st.integers(1, 40))
def test_a_line_is_as_long_as_allowed_at_most(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert line.rstrip("…") in one_line(text) or line.endswith("…")
    assert (line == one_line(text)) or line.endswith("…")


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert one_line("word " * 1000, 10) == "word word…"
    assert one_line(" " * 1000 + "x", 10) == "…"
    assert truncate("0123456789", 10) == "0123456789"
    assert truncate("0123456789x", 10) == "012345678…"
    assert truncate("0123456789x", 10, "...") == "0123456..."


def test_the_last_line_is_the_last_with_something_to_see() -> None:
    assert last_line("first\n  \x1b[31mlast one\x1b[0m  \n \x00 \n\n", 40) == "last one"
    assert last_line(" \n\n", 40) == ""
    assert last_line("x" * 50, 5) == "xxxx…"


@pytest.mark.parametrize("piece", ["\x1b[", "\x1b]", "\x9d", "\x1b[3", "\x1b]x ", "\x1bP\x1b", "\n", "\x00"])
def test_hostile_text_takes_no_longer_than_any_other(piece: str) -> None:
    begun = time.process_time()
    make_safe(piece * 300_000)
    assert time.process_time() - begun < 5


def test_an_exception_in_a_line_is_its_type_and_what_it_says() -> None:
    assert error_line(ValueError("two\n  lines\x1b[31m")) == "ValueError: two lines"
    assert error_line(ValueError(" ")) == "ValueError"
    assert error_line(ValueError("x" * 100), 20) == "ValueError: xxxxxxx…"


def test_a_table_shows_what_looks_like_markup_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("[red]name[/red]")
    table.add_row("[/nowhere] :smile:")
    print_table(table)
    shown = capsys.readouterr().out
    assert "[red]name[/red]" in shown
    assert "[/nowhere] :smile:" in shown
