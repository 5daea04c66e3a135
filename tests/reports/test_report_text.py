"""Foreign text in a report: nothing hidden, nothing too long, the answer marked where it stands."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from benchwright.analysis.report.text_pieces import CONTEXT_CHARACTERS, find_span, shorten_to_pieces
from benchwright.reports.html.text import visible_text

ANYTHING = st.text(st.characters(), max_size=200)


class TestShown:
    @given(ANYTHING)
    def test_no_character_hides_or_steers(self, text: str) -> None:
        for character in visible_text(text):
            assert (
                unicodedata.category(character) not in ("Cc", "Cs", "Cf") or character in "\n\t\u200c\u200d"
            )

    @given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
    def test_text_that_can_be_seen_stays_as_it_is(self, text: str) -> None:
        assert visible_text(text) == text

    def test_a_mark_that_turns_a_line_round_is_told_by_its_number(self) -> None:
        assert visible_text("abc\u202edcba") == "abc⟨U+202E⟩dcba"

    def test_a_lone_surrogate_is_told_by_its_number(self) -> None:
        assert visible_text("a\ud83db").encode() == "a⟨U+D83D⟩b".encode()

    def test_line_ends_of_either_kind_are_line_ends(self) -> None:
        assert visible_text("a\r\nb\nc") == "a\nb\nc"


class TestCut:
    @given(ANYTHING, st.integers(1, 300))
    def test_what_fits_is_whole(self, text: str, most: int) -> None:
        pieces = shorten_to_pieces(text, most)
        if len(text) <= most:
            assert "".join(piece.text for piece in pieces) == text
        else:
            assert [piece.kind for piece in pieces].count("cut") == 1

    @given(st.integers(0, 9_000), st.integers(1, 400))
    def test_the_answer_is_marked_wherever_it_stands(self, start: int, length: int) -> None:
        text = "x" * start + "A" * length + "x" * 5_000
        pieces = shorten_to_pieces(text, 2_000, (start, start + length))
        assert "".join(piece.text for piece in pieces if piece.kind == "span") == "A" * length

    @given(st.integers(0, 9_000))
    def test_a_long_text_stays_short_and_tells_how_much_is_gone(self, start: int) -> None:
        text = "x" * 10_000
        pieces = shorten_to_pieces(text, 1_000, (start, start + 10))
        kept = sum(len(piece.text) for piece in pieces if piece.kind != "cut")
        assert kept <= 1_000 + 2 * CONTEXT_CHARACTERS + 10
        gone = [int(piece.text.split()[0].replace(",", "")) for piece in pieces if piece.kind == "cut"]
        assert kept + sum(gone) == len(text)


class TestFindSpan:
    def test_a_word_is_preferred_to_a_part_of_one(self) -> None:
        text = "Answer: B, but I said BUT"
        assert find_span(text, "B") == (8, 9)

    def test_the_last_one_counts(self) -> None:
        assert find_span("4 or 5; no, 4.", "4") == (12, 13)

    def test_what_is_not_there_is_nowhere(self) -> None:
        assert find_span("four", "4") is None
        assert find_span("four", "") is None
        assert find_span("four", None) is None
