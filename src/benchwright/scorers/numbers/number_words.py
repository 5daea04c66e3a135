"""Reader of number words: cardinal numbers, simple fractions, and words for powers of ten."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
CARDINAL_WORDS = {word: number for number, word in enumerate(_SMALL.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)
}
SCALE_WORDS = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "millions": 10**6,
    "billion": 10**9,
    "billions": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "lakh": 10**5,
    "crore": 10**7,
    "mn": 10**6,
    "mln": 10**6,
    "万": 10**4,
    "亿": 10**8,
}
"""Mapping from a word after a number (hundred, thousand, …) to the factor by which it multiplies the number."""

SCALE_LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
"""Mapping from a letter attached to a number (5k) to the factor by which it multiplies the number."""

MONEY_LETTERS = SCALE_LETTERS | {"m": 10**6, "b": 10**9}
"""Mapping from a letter attached to an amount of money to the factor by which it multiplies the amount."""

FRACTION_WORDS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
}
FRACTION_WORDS |= {f"{name}s": part for name, part in FRACTION_WORDS.items() if not name.startswith("hal")}

JOINING_WORDS = ("-", "and")
MAX_WORDS_VALUE = 10**15


def word_set(text: str) -> frozenset[str]:
    """Return the set of the words in a text."""
    return frozenset(text.split())


def read_number_words(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """Return the number at the beginning of `words`, and how many of the words belong to it.

    Return None if `words` begin with no number.

    `words` are in lower case and include hyphens: `twenty - one`, `one hundred and five`, `two and a half`,
    `three quarters`, `half`, `a hundred`.
    """
    number, count = _cardinal(words)
    if count == 0:
        half = 1 if words[:1] == ["half"] else 2 if words[:2] in (["a", "half"], ["a", "quarter"]) else 0
        return (Fraction(1, FRACTION_WORDS[words[half - 1]]), half) if half else None
    rest = count + (words[count : count + 1] == ["-"])
    if number < 20 and words[rest : rest + 1] and words[rest] in FRACTION_WORDS:
        return Fraction(number, FRACTION_WORDS[words[rest]]), rest + 1
    if (
        words[count : count + 2] == ["and", "a"]
        and words[count + 2 : count + 3]
        and words[count + 2] in FRACTION_WORDS
    ):
        return number + Fraction(1, FRACTION_WORDS[words[count + 2]]), count + 3
    return Fraction(number), count


def _cardinal(words: Sequence[str]) -> tuple[int, int]:
    """Return the whole number at the beginning of `words`, and how many of the words belong to it.

    Return (0, 0) if `words` begin with no number.
    """
    total = current = count = 0
    below = MAX_WORDS_VALUE
    """Exclusive upper bound for the next word's number: 10 after `twenty`, 100 after `hundred`."""
    for place, word in enumerate(words):
        begins = current > 0 or words[:place] == ["a"]
        if word in CARDINAL_WORDS and CARDINAL_WORDS[word] < below:
            current, below = current + CARDINAL_WORDS[word], 10 if CARDINAL_WORDS[word] >= 20 else 0
        elif word == "hundred" and begins:
            current, below = (current or 1) * 100, 100
        elif SCALE_WORDS.get(word, 0) >= 1000 and begins:
            total, current, below = total + (current or 1) * SCALE_WORDS[word], 0, 1000
        elif word in JOINING_WORDS or (word == "a" and place == 0):
            continue
        else:
            break
        count = place + 1
    return (total + current, count) if count else (0, 0)
