"""Where a text says that something is its answer: a box, `####`, an <answer> tag, "the answer is"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

BOX, TAG, HASHES, STATEMENT = "box", "tag", "hashes", "statement"

LONGEST_BOX = 2_000

_BOX = re.compile(r"\\?(?:boxed|fbox)\s?\{")
_TAG = re.compile(r"<answer>(.{0,2000}?)</answer>", re.IGNORECASE | re.DOTALL)
_HASHES = re.compile(r"(?<!#)####(?!#)[ \t]*([^\n]*)")
STATED = re.compile(
    r"""(?<![A-Za-z])answers?["'`*_)\]]{0,4} (?: \s* [:=\uff1a] | \s+ (?:is|was|comes\s+to|would\s+be|will\s+be|should\s+be|must\s+be)\b
        | \s*\n+(?=\s*[$\\(*]*[-+\u2212]?[0-9]) )
      | (?:答案|答)\s*(?:是|为|：|:)
      | \b(?:Antwort|R[ée]ponse|Respuesta|Risposta|Resposta)["*_]{0,4}\s*:""",
    re.VERBOSE | re.IGNORECASE,
)
_ANOTHER_QUESTION = re.compile(r"^[ \t>*#]*(?:Question|Problem|Q|User|Human|Instruction)\s*[0-9]*\s*[:.][ \t]*\S", re.M)
_RETRACTION = re.compile(
    r"""\b(?: (?:that|this|which) (?:['\u2019]s|\s(?:is|was|can['\u2019]?t\sbe|cannot\sbe)) \s (?:wrong|incorrect|not\s(?:right|correct)|a\smistake)
      | I \s (?:made|have\smade) \s (?:a|an) \s (?:\w+\s)? (?:mistake|error)
      | I \s was \s (?:wrong|mistaken) | scratch\sthat | on\ssecond\sthought | correction\s?: | (?:no,?\s+wait|wait,?\s+no)\b
      | (?:let\sme|I['\u2019]ll) \s (?:correct|fix|revise)
      | (?:wait|actually|hmm|oops|sorry|no)\b[,.:!\s-]{1,4}(?:\w+\s){0,3}? (?:it|that|this|the\s\w+|the\s\w+\s\w+) \s? (?:should\sbe|must\sbe|is|['\u2019]s|comes\sto|would\sbe)\b (?!\s(?:consistent|correct|right|a\b|an\b|the\b)) )""",
    re.VERBOSE | re.IGNORECASE,
)


class Mark(NamedTuple):
    """A place where an answer is given: its kind, and the text from `start` to `end` that gives it."""

    kind: str
    start: int
    end: int


def marks_of(text: str) -> list[Mark]:
    """Return the marks of a text in order. What stands in a box that is not closed is no answer."""
    return sorted(_marks(text), key=lambda mark: (mark.start, mark.end))


def _marks(text: str) -> Iterator[Mark]:
    for found in _BOX.finditer(text):
        end = _closing(text, found.end())
        if end is not None and text[found.end() : end].strip():
            yield Mark(BOX, found.end(), end)
    for kind, pattern in ((TAG, _TAG), (HASHES, _HASHES)):
        for found in pattern.finditer(text):
            if found[1].strip():
                yield Mark(kind, found.start(1), found.end(1))
    for found in STATED.finditer(text):
        yield Mark(STATEMENT, found.end(), len(text))


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for place in range(start, min(len(text), start + LONGEST_BOX)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return None


def without_further_questions(text: str) -> str:
    """Return the text up to a question that the model asks itself after it has answered, as base models do."""
    for found in _ANOTHER_QUESTION.finditer(text):
        if any(mark.start <= found.start() for mark in marks_of(text[: found.start()])):
            return text[: found.start()]
    return text


def retraction(text: str, start: int) -> int | None:
    """Return the place behind the last words that take an answer back; None if nothing does."""
    last = None
    for found in _RETRACTION.finditer(text, start):
        last = found.end()
    return last
