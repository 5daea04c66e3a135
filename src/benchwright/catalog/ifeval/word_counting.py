"""Word tokens for IFEval's rules, equal to those that the official code gets from NLTK 3.9."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")

_APART = re.compile(
    r"""[\[\](){}<>«»“”‘’„`";@#$%&?!*]+"""  # brackets, quotes and other marks
    r"""|''|--|\.{2,}|[:,](?!\d)"""  # longer marks, and colons and commas except within numbers
)
"""Regular expression for punctuation marks that become tokens of their own, apart from adjacent words."""

_CLOSING = "])}>\"'»”’ "

_SHORT_CLITIC = re.compile(r"(?<=[^' ])'(?:[sSmMdD])?$")
_LONG_CLITIC = re.compile(r"(?<=[^' ])(?:'ll|'LL|'re|'RE|'ve|'VE|n't|N'T)$")

_TWO_IN_ONE = re.compile(
    r"\b(?:can(?=not\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|wan(?=na(?!\S))|d(?='ye\b)|more(?='n\b))",
    re.IGNORECASE,
)
"""Regular expression for the first halves of contractions that are split into two words, such as `can` of `cannot`."""

_BEFORE_ONE_LETTER = re.compile(r"'(?=[^\WmtsdnMTSDN]\b)")
"""Regular expression for an apostrophe before a one-letter word that is not a clitic: `I'O` is two words."""


def count_words(text: str) -> int:
    r"""Return the number of words, counted as runs of `\w`. "don't" counts as two."""
    return len(_WORD.findall(text))


def count_capital_words(sentences: Iterable[str]) -> int:
    """Return the number of words in capitals. Words are those of NLTK's `word_tokenize`.

    A word counts if `str.isupper` is True for it. "NASA's" thus has one word in capitals, "DON'T" two (DO,
    N'T) and "A1" one. The Treebank rules for tokens are applied as far as they affect the count.
    """
    return sum(word.isupper() for sentence in sentences for word in _words(sentence))


def _words(sentence: str) -> list[str]:
    """Return the words of one sentence, without punctuation marks."""
    stripped = sentence.rstrip().rstrip(_CLOSING)
    if stripped.endswith(".") and not stripped.endswith(".."):
        sentence = stripped[:-1]
    spaced = _TWO_IN_ONE.sub(r"\g<0> ", _BEFORE_ONE_LETTER.sub("' ", _APART.sub(" ", sentence)))
    return [part for word in spaced.split() for part in _without_clitics(word)]


def _without_clitics(word: str) -> list[str]:
    """Split a word from its clitics, and return all of them: `IT'S` becomes IT and 'S."""
    parts = [word]
    short = _SHORT_CLITIC.search(word)
    if short:
        parts = [word[: short.start()], short[0]]
    long = _LONG_CLITIC.search(parts[0])
    if long:
        parts[:1] = [parts[0][: long.start()], long[0]]
    return parts
