"""Words, as the official code has NLTK 3.9 cut them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")

_APART = re.compile(
    r"""[\[\](){}<>«»“”‘’„`";@#$%&?!*]+"""  # brackets, quotes and marks of all kinds
    r"""|''|--|\.{2,}|[:,](?!\d)"""  # longer ones, and colons and commas but those within numbers
)
"""What stands apart from the words around it."""

_CLOSING = "])}>\"'»”’ "

_SHORT_CLITIC = re.compile(r"(?<=[^' ])'(?:[sSmMdD])?$")
_LONG_CLITIC = re.compile(r"(?<=[^' ])(?:'ll|'LL|'re|'RE|'ve|'VE|n't|N'T)$")

_TWO_IN_ONE = re.compile(
    r"\b(?:can(?=not\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|wan(?=na(?!\S))|d(?='ye\b)|more(?='n\b))",
    re.IGNORECASE,
)
"""The first halves of two words written as one."""

_BEFORE_ONE_LETTER = re.compile(r"'(?=[^\WmtsdnMTSDN]\b)")
"""An apostrophe before a word of one letter that is not a clitic: `I'O` has two words."""


def word_count(text: str) -> int:
    r"""The number of runs of `\w`: "don't" has two."""
    return len(_WORD.findall(text))


def capital_word_count(sentences: Iterable[str]) -> int:
    """How many words of these sentences are in capitals, where words are those of NLTK's `word_tokenize`.

    Words in capitals are told by `str.isupper`, so that "NASA's" has one, "DON'T" two (DO, N'T) and "A1" one.
    The words are cut by the Treebank rules as far as they bear on that.
    """
    return sum(word.isupper() for sentence in sentences for word in _words(sentence))


def _words(sentence: str) -> list[str]:
    """The words of one sentence; marks that stand apart are left out."""
    stripped = sentence.rstrip().rstrip(_CLOSING)
    if stripped.endswith(".") and not stripped.endswith(".."):
        sentence = stripped[:-1]
    spaced = _TWO_IN_ONE.sub(r"\g<0> ", _BEFORE_ONE_LETTER.sub("' ", _APART.sub(" ", sentence)))
    return [part for word in spaced.split() for part in _without_clitics(word)]


def _without_clitics(word: str) -> list[str]:
    """The word and its clitics: `IT'S` gives IT and 'S."""
    parts = [word]
    short = _SHORT_CLITIC.search(word)
    if short:
        parts = [word[: short.start()], short[0]]
    long = _LONG_CLITIC.search(parts[0])
    if long:
        parts[:1] = [parts[0][: long.start()], long[0]]
    return parts
