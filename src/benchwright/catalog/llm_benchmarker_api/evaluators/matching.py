"""Compares answers with right answers: as texts, by letter, or as sets."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache

_PUNCTUATION = re.compile(r"[^\w\s]")


def normalize(text: str) -> str:
    """Return a text normalised for comparison: decomposed (NFKD), lower case, no punctuation, single spaces.

    Combining marks count as punctuation, so that accents are dropped: `Élan` becomes `elan`.
    """
    text = unicodedata.normalize("NFKD", text).lower()
    return " ".join(_PUNCTUATION.sub("", text).split())


def exact_match(predicted: str, expected: str) -> bool:
    """Return True if both texts are equal after `normalize`."""
    return normalize(predicted) == normalize(expected)


def contains_match(predicted: str, expected: str) -> bool:
    """Return True if `expected` is a substring of `predicted`, after both are normalised.

    As documented, any substring counts: `2` is found in `12`, and a text that normalises to nothing is found
    in every answer.
    """
    return normalize(expected) in normalize(predicted)


LETTERS_10 = "ABCDEFGHIJ"

_OPENING = r"[\s*_\"'(\[{$\\]{0,8}"
_CLOSING = r"[\s*_\"')\]}$.:]{0,8}"
_ALONE = r"(?![\w'’+#&-]|\.\w)"
_SAYS = r"\banswer(?:\s{1,4}is\s{0,4}:?|\s{0,4}[:=])"
_STATED = rf"(?i:{_SAYS}{_OPENING}(?:option|choice|letter)?){_OPENING}(?!I[ \t]+[a-z]|[ai][ \t]+\w)"

_LOWER_CASE_WORD = re.compile(r"[ \t]+[a-z]")


def extract_mcq_answer(response: str, num_options: int = 4) -> str | None:
    """Return the chosen letter in upper case. Return None if no letter is found.

    These forms are searched in this order: "the answer is B" or "answer: B"; "(B)"; "B." at the end of a
    line; a letter on its own line; the last letter anywhere. `num_options` is 4 for A to D, 10 for A to J.
    """
    *explicit, anywhere = _patterns(LETTERS_10[:num_options])
    for pattern in explicit:
        found = _last(pattern.finditer(response))
        if found is not None:
            return found[1].upper()
    found = _last(match for match in anywhere.finditer(response) if not _is_word(match))
    return None if found is None else found[1]


def evaluate_mcq(response: str, expected: str, num_options: int = 4) -> bool:
    """Return True if the letter chosen in the response is the expected letter. Case does not matter."""
    return extract_mcq_answer(response, num_options) == expected.strip().upper()


@cache
def _patterns(letters: str) -> tuple[re.Pattern[str], ...]:
    either = letters + letters.lower()
    return (
        re.compile(rf"{_STATED}([{either}]){_ALONE}"),
        re.compile(rf"\(([{letters}])\)"),
        re.compile(rf"(?m)(?<![\w.])([{letters}])\.[ \t]*$"),
        re.compile(rf"(?m)^{_OPENING}([{either}]){_CLOSING}$"),
        re.compile(rf"(?<![\w.'’-])([{letters}]){_ALONE}"),
    )


def _is_word(match: re.Match[str]) -> bool:
    """Return True if the letter is a word: the pronoun I, or the article A at the start of a sentence."""
    letter, text = match[1], match.string
    if letter not in "AI" or not _LOWER_CASE_WORD.match(text, match.end()):
        return False
    before = text[max(0, match.start() - 4) : match.start()].rstrip(" \t*_\"'(")
    return letter == "I" or not before or before[-1] in ".!?:\n"


def _last(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    last = deque(matches, maxlen=1)
    return last[0] if last else None


_BRACKETS = (("{", "}"), ("[", "]"))
_QUOTES = "\"'`"


def extract_set(text: str) -> set[str]:
    """Return the items of a list, without quotation marks. The list is in braces, in brackets, or in neither.

    Items are separated by commas or line ends.
    """
    text = text.strip()
    if any(text.startswith(opening) and text.endswith(closing) for opening, closing in _BRACKETS):
        text = text[1:-1]
    items = (item.strip().strip(_QUOTES).strip() for item in re.split(r"[,\n]", text))
    return {item for item in items if item}


def set_exact_match(predicted: str | Iterable[str], expected: str | Iterable[str]) -> bool:
    """Return True if both lists contain the same items. A list given as text is split into its items first."""
    return _items(predicted) == _items(expected)


def jaccard_similarity(predicted: str | Iterable[str], expected: str | Iterable[str]) -> float:
    """Return the Jaccard similarity |A ∩ B| / |A ∪ B|, from 0 to 1. Return 1.0 if both sets are empty.

    A set given as text is split into its items first.
    """
    one, other = _items(predicted), _items(expected)
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def _items(value: str | Iterable[str]) -> set[str]:
    return extract_set(value) if isinstance(value, str) else set(value)
