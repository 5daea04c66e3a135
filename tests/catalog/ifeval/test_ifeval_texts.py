"""Sentences and words: our own splitter, and what counts as a word in capitals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.ifeval.language_detection import detect_language
from benchwright.catalog.ifeval.sentences import split_sentences
from benchwright.catalog.ifeval.word_counting import count_capital_words, count_words


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. two! Three?", ["One.", "two!", "Three?"]),
        ("Mr. Smith met Dr. Jones. They spoke.", ["Mr. Smith met Dr. Jones.", "They spoke."]),
        ("He came from the U.S. The rest stayed.", ["He came from the U.S.", "The rest stayed."]),
        ("It costs 3.50 at J. Smith. Go!", ["It costs 3.50 at J. Smith.", "Go!"]),
        # marks after the end belong to the sentence, and several ends in a row are one
        ('"Stop!!!" (He stopped.) Then...', ['"Stop!!!"', "(He stopped.)", "Then..."]),
        ("Wait... and see. Wait... The end.", ["Wait... and see.", "Wait...", "The end."]),
        # a number with a full stop ends a sentence, as with Punkt, unless a small letter follows
        ("1. First\n2. second", ["1.", "First\n2. second"]),
        ("no end at all\n\nbut lines", ["no end at all\n\nbut lines"]),
        (" \n ", []),
    ],
)
def test_our_own_splitter_decides_as_punkt_does(text: str, pieces: list[str]) -> None:
    assert split_sentences(text) == pieces


@given(st.text("aA.!?\"') \n", max_size=60))
def test_a_split_text_is_whole_but_for_white_space(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("NASA and ESA.", 2),
        ("NASA's rocket", 1),
        ("DON'T", 2),
        ("I'M here", 2),
        ("CANNOT", 2),
        ("A-B C/D", 2),
        ("A,B A:B 10:30PM", 5),
        ("(NASA) *ESA* “JAXA” A&B", 5),
        ("A1 B2", 2),
        ("A–D", 1),
        ("I'O B'S", 4),
        ("It is the U.S.", 1),
        ("Ä É", 2),
        ("one Two", 0),
    ],
)
def test_words_in_capitals_are_those_of_word_tokenize(text: str, count: int) -> None:
    assert count_capital_words([text]) == count


def test_words_are_runs_of_letters_and_digits() -> None:
    assert count_words("don't stop_it - 3.5") == 5


def test_the_language_is_the_same_each_time_and_nothing_where_there_are_no_letters() -> None:
    detect_language.cache_clear()
    first = [detect_language(text) for text in ("OK SO BE IT", "haus", "...")]
    detect_language.cache_clear()
    assert [detect_language(text) for text in ("OK SO BE IT", "haus", "...")] == first
    assert first[2] is None
