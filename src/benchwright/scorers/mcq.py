"""Multiple choice: the letter that the answer settles on is the target's.

The letter is looked for in the order below. What is found must be one of the row's options; the last
occurrence counts, since a model may think aloud before it settles.

1. A statement: `answer is (C)`, `Answer: C`, `\\boxed{C}`, `the correct option is C`, `C is correct`,
   `I choose C`.
2. Bold: `**C**` or `**C. text**`, if only one letter is bold.
3. A line with nothing on it but the letter.
4. A line that begins with a label, `C. text` or `(C) text`, if only one letter is such a label.
5. The last capital that stands alone. `A` and `I` count only before a full stop, a closing bracket or the
   end: elsewhere they are an article and a pronoun.

A letter that is found as one of several (`A or B`) settles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_uppercase

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import NO_ANSWER, quoted, tail, target_of

VERSION = 1

_PROSE = r"\s+(?!(?:because|since|as|and|or|but|with|which)\b)[a-z]"
_ALONE = r"(?!\w|['\u2019]\w)"
_LETTER = rf"""(?:
    [(\[]\s?([A-Za-z])\s?[)\]]
  | ([B-HJ-Z]){_ALONE}
  | ([AI]){_ALONE}(?!{_PROSE})
  | ([a-z])(?=[.*"'\s]{{0,4}}$) )"""
_STATEMENT = re.compile(
    rf"""
    \\boxed\{{\s?(?:\\(?:text|textbf|mathrm|mathbf)\{{)?\s?\(?([A-Za-z])\)?\s?\}}
  | (?i:\banswer(?:\s(?:choice|option))?)
    (?:\W{{0,3}}\s(?i:is|would\sbe|should\sbe|must\sbe)\b|\W{{0,3}}[:=])
    [\s:*_"'`$]{{0,8}}(?:(?i:option|choice|letter|therefore|indeed|clearly)\s[*"'`]{{0,3}})?{_LETTER}
  | (?i:\b(?:option|choice|letter)\sis)[\s:*_"'`$]{{1,8}}{_LETTER}
  | (?i:\b(?:choose|choosing|pick|select|go\swith))\s(?:(?i:option|choice|letter)\s)?[*"'`]{{0,3}}{_LETTER}
  | (?<![\w'\u2019-])[(\[*]{{0,3}}([A-Z])[)\]*]{{0,3}}
    \s(?i:is\s(?:the\s)?(?:most\slikely\s)?(?:correct|right|best))\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_BOLD = re.compile(r"\*\*\s?[(\[]?([A-Z])(?:[)\].:]|\s?\*\*)")
_LONE = re.compile(r"""^[ \t>*_(\["'`$-]{0,6}([A-Za-z])[ \t*_)\]"'`$.:]{0,6}$""", re.MULTILINE)
_LABEL = re.compile(r"^[ \t>*(\[-]{0,6}([A-Z])[.)\]]", re.MULTILINE)
_CAPITAL = re.compile(
    rf"(?<![\w.°-])(?<!\w['\u2019])(?<!not )(?:([B-HJ-Z]){_ALONE}(?![+#-])|([AI])(?=[.)\]]|\s*\Z))"
)
_OR_NEXT = re.compile(
    r"[)\]*\s]{0,4}(?:/|&|,|\bor\b|\band\b)\s?[(\[*]{0,3}([A-Z])[)\]*]{0,3}(?=\s*(?:[.,;]|$|\bor\b))"
)
_OR_BEFORE = re.compile(r"(?<!\w)([A-Z])[)\]*]{0,3}\s?(?:/|&|,|\bor\b|\band\b)\s?[(\[*]{0,3}\Z")
_REACH = 16


class MultipleChoice:
    """1 where the letter found in the answer is the target's, else 0; `unparsed` where none is found.

    The target is `ground_truth`: a letter, or an index from 0. How many letters count is given by the
    row's `options`, and by `letters` for rows without. The score's `detail` holds the letter.
    """

    name = "mcq"

    def __init__(self, *, letters: int = 10) -> None:
        self.letters = letters
        self.fingerprint = fingerprint(self.name, VERSION, letters)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Compares the letter that the answer settles on with `ground_truth`."""
        letters = ascii_uppercase[: self._count(sample)]
        target = _target_letter(sample, letters)
        found = find_letter(outcome.answer, letters)
        if found is None:
            return NO_ANSWER
        letter, span = found
        return Score(1.0 if letter == target else 0.0, span=quoted(span), detail={"letter": letter})

    def _count(self, sample: Sample) -> int:
        options = sample.content.get("options") if isinstance(sample.content, Mapping) else None
        return len(options) if isinstance(options, list) else self.letters


def find_letter(answer: str, letters: str) -> tuple[str, str] | None:
    """The letter that an answer settles on and the piece of text that says so; None where it does not.

    `letters` are those of the options, in capitals. Takes time linear in the length of the answer, of
    which only the end is searched if it is very long, see `shared.tail`.
    """
    text = tail(answer)
    found = (
        _last(_STATEMENT, text, letters)
        or _only(_BOLD, text, letters)
        or _last(_LONE, text, letters)
        or _only(_LABEL, text, letters)
        or _last(_CAPITAL, text, letters)
    )
    if found is None or _is_one_of_several(text, *found, letters):
        return None
    return found[0], found[1][0]


Found = tuple[str, re.Match[str]]


def _last(pattern: re.Pattern[str], text: str, letters: str) -> Found | None:
    found = None
    for match in pattern.finditer(text):
        letter = _letter(match)
        if letter in letters:
            found = letter, match
    return found


def _only(pattern: re.Pattern[str], text: str, letters: str) -> Found | None:
    """The last occurrence, if all of them name the same letter."""
    found = None
    for match in pattern.finditer(text):
        letter = _letter(match)
        if letter in letters:
            if found is not None and found[0] != letter:
                return None
            found = letter, match
    return found


def _is_one_of_several(text: str, letter: str, match: re.Match[str], letters: str) -> bool:
    """Whether the letter stands in `A or B`, `A, B`, `A and B`."""
    start = match.start()
    others = (_OR_NEXT.match(text, match.end()), _OR_BEFORE.search(text[max(0, start - _REACH) : start]))
    return any(other is not None and other[1] != letter and other[1] in letters for other in others)


def _letter(match: re.Match[str]) -> str:
    return match[match.lastindex or 0].upper()


def _target_letter(sample: Sample, letters: str) -> str:
    target = target_of(sample)
    if type(target) is int and 0 <= target < len(letters):
        return letters[target]
    letter = target.strip().upper() if isinstance(target, str) else ""
    if len(letter) != 1 or letter not in letters:
        raise GraderError(
            f"sample {sample.id}: ground_truth {target!r:.50} is none of the letters A to {letters[-1:]}"
        )
    return letter
