"""How MMLU-Pro's answers are graded."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

from benchwright.catalog.grading import Verdict, last_match
from benchwright.catalog.letters import LETTERS, letter_verdict

GUESS_SEED = 12345
"""The official code seeds its guess again for every answer in which it finds no letter."""

_SAID = re.compile(r"answer is \(?([A-J])\)?")
_MARKED = re.compile(r"[aA]nswer:(?=\s*([A-J]))")
_ALONE = re.compile(r"\b[A-J]\b")


class FoundLetter(NamedTuple):
    """A letter, and in which of the three stages it was found."""

    letter: str
    stage: int


def find_letter(answer: str) -> FoundLetter | None:
    """The letter by the official three stages (TIGER-AI-Lab/MMLU-Pro, evaluate_from_local.py), in linear time.

    1. the first "answer is (X)"; 2. of the first line that holds "answer: X", the last one; 3. the last letter
    from A to J that stands alone, which may well be the pronoun "I" or the article "A".
    """
    if (said := _SAID.search(answer)) is not None:
        return FoundLetter(said[1], 1)
    return _marked_letter(answer) or _last_alone(answer)


def grade_reasoning(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the letter found is the right one; where none is, what the official random guess would have got."""
    found = find_letter(answer)
    if found is None:
        hit = official_guess(len(content["choices"])) == content["answer"]
        return letter_verdict(None, content, category=content["category"], guess_is_right=hit)
    return letter_verdict(found.letter, content, category=content["category"], stage=found.stage)


def official_guess(options: int) -> str:
    """The letter that the official code guesses among so many options: always the same one."""
    return LETTERS[random.Random(GUESS_SEED).randint(0, options - 1)]


def _marked_letter(answer: str) -> FoundLetter | None:
    found: re.Match[str] | None = None
    for match in _MARKED.finditer(answer):
        if found is not None and "\n" in answer[found.start() : match.start()]:
            break
        found = match
    return None if found is None else FoundLetter(found[1], 2)


def _last_alone(answer: str) -> FoundLetter | None:
    found = last_match(_ALONE, answer)
    return None if found is None else FoundLetter(found[0], 3)


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """The documented cascade of letter patterns."""
    from benchwright.catalog.documented.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=10), content, category=content["category"])
