"""Search for marked answers in a text: a box, `####`, `A:`, an <answer> tag, "the answer is"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchwright.scorers.clauses import retraction_end

BOX, TAG, HASHES, STATEMENT = "box", "tag", "hashes", "statement"

MAX_BOX_LENGTH = 2_000

_BOX = re.compile(r"\\?(?:boxed|fbox)\s?\{")
_BRACE = re.compile(r"[{}]")
_TAG = re.compile(r"<answer>(.{0,2000}?)</answer>", re.IGNORECASE | re.DOTALL)
_HASHES = re.compile(r"(?:(?<!#)####(?!#)|^A:)[ \t]*([^\n]*)", re.MULTILINE)
_STATED = re.compile(
    r"""(?<![A-Za-z])answers?["'`*_)\]]{0,4}
        (?: \s* [:=\uff1a]
          | \s+ (?:is|was|comes\s+to|would\s+be|will\s+be|should\s+be|must\s+be)\b
          | \s*\n+(?=\s*[$\\(*]*[-+\u2212]?[0-9]) )
      | (?:答案|答)\s*(?:是|为|：|:)
      | \b(?:Antwort|R[ée]ponse|Respuesta|Risposta|Resposta)["*_]{0,4}\s*:""",
    re.VERBOSE | re.IGNORECASE,
)
_ANOTHER_QUESTION = re.compile(
    r"^[ \t>*#]*(?:Question|Problem|Q|User|Human|Instruction)\s*[0-9]*\s*[:.][ \t]*\S", re.MULTILINE
)
_REPLACEMENT = re.compile(
    r"""\b(?:wait|actually|hmm|oops|sorry|no)\b[,.:!\s-]{1,4}(?:\w+\s){0,3}? (?:it|that|this|the\s\w+|the\s\w+\s\w+) \s?
        (?:should\sbe|must\sbe|is|['\u2019]s|comes\sto|would\sbe)\b (?!\s(?:consistent|correct|right|an?\b|the\b))""",
    re.VERBOSE | re.IGNORECASE,
)


class AnswerMark(NamedTuple):
    """A marked answer: the kind of mark, and the position of the answer's text, from `start` to `end`.

    For a statement ("the answer is"), `end` is the end of the whole text.
    """

    kind: str
    start: int
    end: int


def find_answer_marks(text: str) -> list[AnswerMark]:
    """Return the marks of a text in order. A box without a closing brace is not a mark."""
    return sorted(_marks(text), key=lambda mark: (mark.start, mark.end))


def _marks(text: str) -> Iterator[AnswerMark]:
    closing = _closing(text) if "boxed" in text or "fbox" in text else {}
    for found in _BOX.finditer(text):
        end = closing.get(found.end() - 1)
        if end is not None and end - found.end() <= MAX_BOX_LENGTH and text[found.end() : end].strip():
            yield AnswerMark(BOX, found.end(), end)
    for kind, pattern in ((TAG, _TAG), (HASHES, _HASHES)):
        for found in pattern.finditer(text):
            if found[1].strip():
                yield AnswerMark(kind, found.start(1), found.end(1))
    for found in _STATED.finditer(text):
        yield AnswerMark(STATEMENT, found.end(), len(text))


def _closing(text: str) -> dict[int, int]:
    """Return a mapping from the position of each opening brace to the position of its closing brace.

    Opening braces that are not closed are left out.
    """
    opened: list[int] = []
    closing: dict[int, int] = {}
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.start()
    return closing


def answer_end(text: str, marks: Sequence[AnswerMark]) -> int:
    """Return the position at which the answer ends because the model asks itself another question.

    Base models often do this. Without such a question, return the end of the text.
    """
    asked = _ANOTHER_QUESTION.search(text, marks[0].start) if marks else None
    return asked.start() if asked else len(text)


def last_correction_end(text: str, start: int) -> int | None:
    """Return the end of the last words after `start` that retract or replace an answer.

    Return None if no words do.
    """
    places = [found.end() for found in _REPLACEMENT.finditer(text, start)]
    return max((place for place in (retraction_end(text, start), *places) if place is not None), default=None)
