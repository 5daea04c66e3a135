"""Tables that fit their terminal."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.fitted_table import FittedTable

WORDS = st.lists(st.text("abcxyz", min_size=1, max_size=10), min_size=1, max_size=6).map("-".join)
FIGURES = st.floats(-1000, 1000).map("{:.4f}".format)


def shown(block: TableBlock, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(FittedTable(block))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@st.composite
def blocks(draw: st.DrawFn) -> TableBlock:
    left, figures = draw(st.integers(1, 3)), draw(st.integers(0, 9))
    row = st.tuples(*[WORDS] * left, *[FIGURES] * figures)
    heads = [f"head{place}" for place in range(left + figures)]
    return TableBlock("Title", heads, draw(st.lists(row, min_size=1, max_size=4)), left)


@given(blocks())
def test_lines_are_never_longer_than_the_terminal_and_words_and_figures_are_whole(block: TableBlock) -> None:
    lines = shown(block, 80)
    assert max(map(len, lines)) <= 80
    text = " ".join(lines)
    for row in block.rows:
        for cell in row:
            assert isinstance(cell, str)
            assert all(part in text for part in cell.split("-") if part)


def test_what_has_no_room_goes_below_with_the_words_again() -> None:
    block = TableBlock("T", ["what", "a", "b"], [["one", "1" * 15, "2" * 15], ["two", "3" * 15, "4" * 15]], 1)
    assert shown(block, 24) == [
        "what                a",
        f"one   {'1' * 15}",
        f"two   {'3' * 15}",
        "",
        "what                b",
        f"one   {'2' * 15}",
        f"two   {'4' * 15}",
    ]


def test_a_wide_terminal_has_one_table() -> None:
    block = TableBlock("T", ["what", "a", "b"], [["a-name", "1", "2"]], 1)
    assert shown(block, 100) == ["what    a  b", "a-name  1  2"]
