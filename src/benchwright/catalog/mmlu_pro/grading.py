"""How MMLU-Pro's answers are graded."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.catalog.benchmark import Graded
from benchwright.catalog.grading import Verdict, last_match
from benchwright.catalog.letters import LETTERS, letter_verdict
from benchwright.records import FAILED

GUESS_SEED = 12345
"""What the official code seeds its random numbers with, once, when it starts."""

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
    """Whether the letter found is the right one; where none is, among how many options the authors would guess."""
    found = find_letter(answer)
    if found is None:
        return letter_verdict(None, content, category=content["category"], options=len(content["choices"]))
    return letter_verdict(found.letter, content, category=content["category"], stage=found.stage)


def lucky_guesses(graded: Iterable[Graded]) -> int:
    """How many answers without a letter the official code would guess rightly (evaluate_from_local.py, save_res).

    It goes through the categories by their names and adds each one up twice, with new guesses, of which the second
    ones count. Each repeat is a run of its own here.
    """
    runs: dict[int, dict[str, list[Graded]]] = {}
    for one in graded:
        if one.status not in FAILED and "options" in one.detail:
            runs.setdefault(one.repeat, {}).setdefault(one.detail["category"], []).append(one)
    return sum(_lucky_guesses_of_run(categories) for categories in runs.values())


def _lucky_guesses_of_run(categories: Mapping[str, Sequence[Graded]]) -> int:
    numbers = random.Random(GUESS_SEED)
    lucky = 0
    for _, without_letter in sorted(categories.items()):
        _guess(numbers, without_letter)
        lucky += _guess(numbers, without_letter)
    return lucky


def _guess(numbers: random.Random, without_letter: Sequence[Graded]) -> int:
    """How many of one round of guesses are right."""
    return sum(
        LETTERS[numbers.randint(0, one.detail["options"] - 1)] == one.detail["expected"]
        for one in without_letter
    )


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
