"""Grading of MMMU-Pro's answers by the letter that they state. Without a stated letter, a likely one is searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.catalog.benchmark import GradedTrial
from benchwright.catalog.grading import Verdict
from benchwright.catalog.multiple_choice import CHOICE_LETTERS, letter_verdict
from benchwright.records import FAILED_STATUSES

ANSWER_MARK = "Answer:"

_STRIPPED = (",", ".", "!", "?", ";", ":", "'")

_FEW_WORDS = 5
"""An answer of at most this many words is not searched for the texts of options."""


def find_letter(answer: str, choices: Sequence[str]) -> str | None:
    """Return the letter found by the official stages (mmmu-pro/evaluate.py). Return None if no stage finds one.

    1. The only letter after the last "Answer:", even within a word.
    2. The last letter that the answer contains as "(X)".
    3. The last letter that the answer contains as "X ", also at the end of a word.
    4. The last letter that the answer contains as "X.".
    5. The option whose text comes last.

    In stages 3 and 4, the last letter is the one whose last " X " comes last. If no letter is a separate
    word, the first in alphabetical order counts. The authors replace a missing letter by a random guess.
    """
    letters = CHOICE_LETTERS[: len(choices)]
    _, mark, said = answer.rpartition(ANSWER_MARK)
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
    places = {
        letter: text.rfind(choice.lower()) for letter, choice in zip(CHOICE_LETTERS, choices, strict=False)
    }
    last = max(places, key=lambda letter: places[letter])
    return last if places[last] >= 0 else None


def grade(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the letter found is the right one, else 0.

    If no letter is found, store the number of options, from which the authors' code guesses.
    """
    choices = content["choices"]
    letter = find_letter(answer, choices)
    return letter_verdict(letter, content, **({"options": len(choices)} if letter is None else {}))


def expected_right_guesses(graded: Iterable[GradedTrial]) -> float:
    """Return how many of the answers without a letter would be right on average if each letter were guessed.

    The authors' code draws its guesses without a seed, so that their number varies.
    """
    chances: Iterable[float] = (
        1 / one.detail["options"]
        for one in graded
        if one.status not in FAILED_STATUSES
        and "options" in one.detail
        and one.detail["expected"] in CHOICE_LETTERS[: one.detail["options"]]
    )
    return sum(chances)
