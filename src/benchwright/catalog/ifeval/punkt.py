"""Sentence splitter with the results of NLTK's Punkt (Kiss and Strunk 2006), for models in `punkt_tab` layout.

The results are those of NLTK 3.8 and 3.9, with which IFEval was published. NLTK 3.10 also ends sentences
before curly quotation marks and guillemets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from benchwright.catalog.ifeval.about import PUNKT_FILES
from benchwright.data.errors import DatasetParseError
from benchwright.records import Record

NUMBER_TOKEN = "##number##"
"""The token by which a model replaces every number."""

UPPER_WITHIN_SENTENCE = 0b0000100
UPPER_ANYWHERE = 0b0001110
LOWER_AT_SENTENCE_START = 0b0010000
LOWER_ANYWHERE = 0b1110000
"""Bits of `case_forms`, which state in which forms training saw a word.

`UPPER_WITHIN_SENTENCE`: with a capital, within a sentence. `UPPER_ANYWHERE`: with a capital, anywhere.
`LOWER_AT_SENTENCE_START`: in lower case, at the start of a sentence. `LOWER_ANYWHERE`: in lower case,
anywhere. "Anywhere" consists of three bits: at the start of a sentence, within a sentence, and unknown.
"""

_ASIDE = r"""[)";}\]*:@'({\[?!]"""
"""Regular expression for a character that is not part of a word."""

_MARKS = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"

_TOKEN = re.compile(
    rf"""{_MARKS}|(?=[^("`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_ASIDE}|{_MARKS}|,(?=$|\s|{_ASIDE}|{_MARKS}))|\S"""
)
"""Regular expression for a token: several marks in a row, a word with the full stops in it, or a single mark."""

_END = re.compile(rf"[.?!](?=(?P<after>{_ASIDE}|\s+(?P<next>\S+)))")
"""Regular expression for a mark that may end a sentence, and the text after the mark."""

_CLOSING = re.compile(r"""["')\]}]++(?:\s+|(?=--)|$)""", re.MULTILINE)
"""Regular expression for closing quotes and brackets that belong to the preceding sentence."""

_SPACES = " \t\n\r\x0b\x0c"
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = re.compile(r"[^\W\d]\.")
_ELLIPSIS = re.compile(r"\.{2,}")


class Punkt(Record, frozen=True):
    """A trained Punkt model.

    `abbreviations`: without their final full stop. `collocations`: pairs of words between which a full stop
    ends no sentence. `sentence_starters`: words that often start a sentence. `case_forms`: for each word,
    bits for the forms in which training saw it (`LOWER_ANYWHERE` and the constants before it).
    """

    abbreviations: frozenset[str]
    collocations: frozenset[tuple[str, str]]
    sentence_starters: frozenset[str]
    case_forms: Mapping[str, int]

    def split(self, text: str) -> list[str]:
        """Return the sentences of a text, without the white space between them. The time is linear in its length."""
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
        """Yield start and end of each sentence, before closing quotes and brackets are moved.

        These quotes and brackets may still be at the start of the next sentence.
        """
        start = 0
        for end, word in _possible_ends(text):
            if self._holds_end(text[word : end.end()] + end["after"]):
                yield start, end.end()
                start = end.start("next") if end["next"] else end.end()
        yield start, len(text.rstrip())

    def _holds_end(self, context: str) -> bool:
        """Return True if a sentence ends in `context`.

        `context` consists of a word, the mark after the word, and the text after the mark.
        """
        tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
        return any(self._ends(token, following) for token, following in pairwise(tokens))

    def _ends(self, token: str, following: str) -> bool:
        """Return True if a sentence ends with `token`, judged by this token and the following token."""
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
            named = starts is None and capital and not self.case_forms.get(next_word, 0) & LOWER_ANYWHERE
            return self._is_end(token) and starts is not False and not named
        if self._is_abbreviation(token) or _ELLIPSIS.fullmatch(token):
            return starts is True or (capital and next_word in self.sentence_starters)
        return self._is_end(token) and not (word == NUMBER_TOKEN and starts is False)

    def _is_end(self, token: str) -> bool:
        """Return True if a sentence ends with `token`, judged by this token alone."""
        if token in (".", "?", "!"):
            return True
        return token.endswith(".") and not token.endswith("..") and not self._is_abbreviation(token)

    def _is_abbreviation(self, token: str) -> bool:
        if token == "." or not token.endswith(".") or token.endswith(".."):
            return False
        word = token[:-1].lower()
        return word in self.abbreviations or word.rpartition("-")[2] in self.abbreviations

    def _starts(self, token: str, word: str) -> bool | None:
        """Return True if a sentence starts with a token, and False if none does. Return None if this is undecided.

        The decision is based on the forms in which training saw the word.
        """
        if token in (";", ":", ",", ".", "!", "?"):
            return False
        seen = self.case_forms.get(word, 0)
        if token[0].isupper() and seen & LOWER_ANYWHERE and not seen & UPPER_WITHIN_SENTENCE:
            return True
        if token[0].islower() and (seen & UPPER_ANYWHERE or not seen & LOWER_AT_SENTENCE_START):
            return False
        return None


def read_punkt(directory: Path) -> Punkt:
    """Read the files of a model. Nothing is executed.

    Each line contains a word, two words separated by a tab, or a word and its bits separated by a tab.

    Raises:
        DatasetParseError: If a file is missing or a line is invalid. The message names the file.
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
    """Yield the marks that may end a sentence, each with the start of the word before it.

    If a word contains several such marks, only the last mark is yielded.
    """
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
    """Return a token in the form that a model uses: in lower case, with numbers replaced by `NUMBER_TOKEN`."""
    lower = token.lower()
    return NUMBER_TOKEN if _NUMERIC.fullmatch(lower) else lower


def _without_full_stop(word: str) -> str:
    return word[:-1] if len(word) > 1 and word.endswith(".") else word
