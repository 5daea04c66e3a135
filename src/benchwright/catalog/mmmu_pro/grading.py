"""How MMMU-Pro's answers are graded: by the letter that they state, or that they seem to mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.catalog.benchmark import Graded
from benchwright.catalog.grading import Verdict
from benchwright.catalog.letters import LETTERS, letter_verdict
from benchwright.records import FAILED

MARK = "Answer:"

_STRIPPED = (",", ".", "!", "?", ";", ":", "'")

_FEW_WORDS = 5
"""In answers of so many words and fewer the text of an option is not looked for."""


def find_letter(answer: str, choices: Sequence[str]) -> str | None:
    """The letter by the official stages (mmmu-pro/evaluate.py); None where the authors guess one.

    1. the one letter that occurs behind the last "Answer:", within words, too. Else, among the letters that the whole
    answer holds somewhere as 2. "(X)", 3. "X ", which ends many words, or 4. "X.": the one that comes last. Stages 3
    and 4 look for the last " X "; where no letter stands alone, the first one that was found counts. 5. The option
    whose text comes last.
    """
    letters = LETTERS[: len(choices)]
    _, mark, said = answer.rpartition(MARK)
    stated = [letter for letter in letters if letter in said] if mark else []
    if len(stated) == 1:
        return stated[0]
    text = f" {_stripped(answer)} "
    for written, last_place in (("({})", "({})"), ("{} ", " {} "), ("{}.", " {} ")):
        if found := [letter for letter in letters if written.format(letter) in text]:
            return max(found, key=lambda letter: text.rfind(last_place.format(letter)))
    return _letter_of_text(text.lower(), choices) if len(text.split()) > _FEW_WORDS else None


def _stripped(answer: str) -> str:
    for sign in _STRIPPED:
        answer = answer.strip(sign)
    return answer


def _letter_of_text(text: str, choices: Sequence[str]) -> str | None:
    places = {letter: text.rfind(choice.lower()) for letter, choice in zip(LETTERS, choices, strict=False)}
    last = max(places, key=lambda letter: places[letter])
    return last if places[last] >= 0 else None


def grade(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the letter found is the right one; where none is, among how many options the authors would guess."""
    choices = content["choices"]
    letter = find_letter(answer, choices)
    return letter_verdict(letter, content, **({"options": len(choices)} if letter is None else {}))


def expected_guesses(graded: Iterable[Graded]) -> float:
    """How many answers without a letter the authors' code would guess rightly, on average: it draws without a seed."""
    chances: Iterable[float] = (
        1 / one.detail["options"]
        for one in graded
        if one.status not in FAILED
        and "options" in one.detail
        and one.detail["expected"] in LETTERS[: one.detail["options"]]
    )
    return sum(chances)
