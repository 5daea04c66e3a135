"""Generated text: words of four letters, each after a blank, so that no token crosses a word boundary.

Each word is one token in the vocabularies of GPT-2, cl100k, o200k and Claude.
"""

from __future__ import annotations

import hashlib

import numpy as np

VERSION = "2"
"""Version of the generator. Increase it if the same seed would give other words."""

FOUR_LETTER_WORDS_TEXT = """
that with this from have they what were when will been more said like time them some than into only made over also
back year most make just very much well work good such even here know take come many then look want give part life
long down must last both used each find same help hand high next home away keep left name city need sure best does
done kind love real side true case open half line four five face fact game girl road room tree book blue cold dark
deep door east else ever fall farm fast feel feet fill film fire fish food foot form free full gave goes gold hair
hall hard head hear heat held hill hold hope hour huge idea king
"""

FOUR_LETTER_WORDS = FOUR_LETTER_WORDS_TEXT.split()
"""The 128 words: a power of two, so that a random byte chooses evenly among them."""

WORD_LENGTH_WITH_BLANK = 5
"""Length in characters of a word with its blank."""

_TABLE = np.array([f" {word}".encode() for word in FOUR_LETTER_WORDS * 2], f"S{WORD_LENGTH_WITH_BLANK}")


def make_words(seed: str, number: int) -> bytes:
    """Return this many four-letter words, determined by the seed, each after a blank."""
    digest = hashlib.shake_128(seed.encode()).digest(number)
    return _TABLE.take(np.frombuffer(digest, np.uint8)).tobytes()
