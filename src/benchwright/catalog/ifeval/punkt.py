"""Sentences as NLTK's Punkt splits them (Kiss and Strunk 2006), by a model in the layout of `punkt_tab`.

Decides as NLTK 3.8 and 3.9 do, with which IFEval was published. NLTK 3.10 also ends sentences before curly
quotation marks and guillemets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from benchwright.catalog.ifeval.about import PUNKT_FILES
from benchwright.data.errors import DatasetParseError
from benchwright.records import Record

NUMBER = "##number##"
"""What a model has in place of every number."""

UPPER_WITHIN = 0b0000100
UPPER = 0b0001110
LOWER_AT_START = 0b0010000
LOWER = 0b1110000
"""Where a word was seen in training, as bits: with a capital or without, within a sentence or at its start."""

_ASIDE = r"""[)";}\]*:@'({\[?!]"""
"""A mark that is not part of a word."""

_MARKS = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"

_TOKEN = re.compile(
    rf"""{_MARKS}|(?=[^("`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_ASIDE}|{_MARKS}|,(?=$|\s|{_ASIDE}|{_MARKS}))|\S"""
)
"""Several marks in a row; else a word with the full stops in it; else one mark."""

_END = re.compile(rf"[.?!](?=(?P<after>{_ASIDE}|\s+(?P<next>\S+)))")
"""A mark that may end a sentence, with what comes after it."""

_CLOSING = re.compile(r"""["')\]}]++(?:\s+|(?=--)|$)""", re.MULTILINE)
"""Closing marks that belong to the sentence before them."""

_SPACES = " \t\n\r\x0b\x0c"
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = re.compile(r"[^\W\d]\.")
_ELLIPSIS = re.compile(r"\.{2,}")


class Punkt(Record, frozen=True):
    """A trained model: abbreviations without their full stop, pairs of words with a full stop between them,
    words that often start a sentence, and the bits of where words were seen.
    """

    abbreviations: frozenset[str]
    collocations: frozenset[tuple[str, str]]
    starters: frozenset[str]
    seen: Mapping[str, int]

    def split(self, text: str) -> list[str]:
        """The sentences of a text, without the white space between them; takes time linear in the text."""
        pieces = list(self._pieces(text))
        sentences = []
        moved = 0
        for (start, end), following in zip(pieces, [*pieces[1:], None], strict=True):
            start += moved
            closing = _CLOSING.match(text, *following) if following else None
            if closing:
                end = closing.start() + len(closing[0].rstrip())
            moved = len(closing[0]) if closing else 0
            if closing or text[start:end]:
                sentences.append(text[start:end])
        return sentences

    def _pieces(self, text: str) -> Iterator[tuple[int, int]]:
        """Where sentences start and end, before closing marks are moved to the sentence that they close."""
        start = 0
        for end, word in _possible_ends(text):
            if self._holds_end(text[word : end.end()] + end["after"]):
                yield start, end.end()
                start = end.start("next") if end["next"] else end.end()
        yield start, len(text.rstrip())

    def _holds_end(self, context: str) -> bool:
        """Whether a sentence ends within a word, the mark behind it and what follows."""
        tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
        return any(self._ends(token, following) for token, following in pairwise(tokens))

    def _ends(self, token: str, following: str) -> bool:
        """Whether a sentence ends with a token."""
        if not token.endswith("."):
            return token in ("?", "!")
        word = _without_full_stop(_word(token))
        next_word = _word(following)
        if self._is_end(following):
            next_word = _without_full_stop(next_word)
        if (word, next_word) in self.collocations:
            return False
        starts = self._starts(following, next_word)
        capital = following[0].isupper()
        if _INITIAL.fullmatch(token):
            named = starts is None and capital and not self.seen.get(next_word, 0) & LOWER
            return self._is_end(token) and starts is not False and not named
        if self._is_abbreviation(token) or _ELLIPSIS.fullmatch(token):
            return starts is True or (capital and next_word in self.starters)
        return self._is_end(token) and not (word == NUMBER and starts is False)

    def _is_end(self, token: str) -> bool:
        """Whether a sentence ends with a token, judged by it alone."""
        if token in (".", "?", "!"):
            return True
        return token.endswith(".") and not token.endswith("..") and not self._is_abbreviation(token)

    def _is_abbreviation(self, token: str) -> bool:
        if token == "." or not token.endswith(".") or token.endswith(".."):
            return False
        word = token[:-1].lower()
        return word in self.abbreviations or word.rpartition("-")[2] in self.abbreviations

    def _starts(self, token: str, word: str) -> bool | None:
        """Whether a sentence starts with a token, by how its word is written elsewhere; None if that says nothing."""
        if token in (";", ":", ",", ".", "!", "?"):
            return False
        seen = self.seen.get(word, 0)
        if token[0].isupper() and seen & LOWER and not seen & UPPER_WITHIN:
            return True
        if token[0].islower() and (seen & UPPER or not seen & LOWER_AT_START):
            return False
        return None


def read_punkt(directory: Path) -> Punkt:
    """Reads the files of a model: a word a line, or with a tab two words, or a word and its bits. Nothing is run.

    Raises:
        DatasetParseError: one is missing, or a line is not as it should be; names the file.
    """
    abbreviations, collocations, seen, starters = (_lines(directory / name) for name in PUNKT_FILES)
    try:
        return Punkt(
            frozenset(abbreviations),
            frozenset((first, second) for first, second in (line.split("\t") for line in collocations)),
            frozenset(starters),
            {word: int(bits) for word, bits in (line.split("\t") for line in seen)},
        )
    except ValueError as error:
        raise DatasetParseError(f"{directory} is not a model in the layout of punkt_tab: {error}") from error


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetParseError(f"{path} cannot be read: {error}") from error


def _possible_ends(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The marks that may end a sentence, and where the word before each begins; of one word's marks, the last."""
    former: re.Match[str] | None = None
    begin = 0
    for end in _END.finditer(text):
        searched = former.start() if former else 0
        space = max(text.rfind(space, searched + 1, end.start()) for space in _SPACES)
        next_begin = space + 1 if space > searched else begin
        if former and former.start() <= next_begin:
            yield former, begin
        former, begin = end, next_begin
    if former:
        yield former, begin


def _word(token: str) -> str:
    """A token as a model has it: in lower case, numbers all alike."""
    lower = token.lower()
    return NUMBER if _NUMERIC.fullmatch(lower) else lower


def _without_full_stop(word: str) -> str:
    return word[:-1] if len(word) > 1 and word.endswith(".") else word
