"""Grading of MMLU-Pro's answers by their letter, and the official random guesses."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.catalog.benchmark import GradedTrial
from benchwright.catalog.grading import Verdict, last_match
from benchwright.catalog.multiple_choice import CHOICE_LETTERS, letter_verdict
from benchwright.records import FAILED_STATUSES

GUESS_SEED = 12345
"""The seed of the random guesses. The official code sets it once, at its start."""

_SAID = re.compile(r"answer is \(?([A-J])\)?")
_MARKED = re.compile(r"[aA]nswer:(?=\s*([A-J]))")
_ALONE = re.compile(r"\b[A-J]\b")


class FoundLetter(NamedTuple):
    """A letter found in an answer. `search_stage`: the stage (1 to 3) of the official search that found the letter."""

    letter: str
    search_stage: int


def find_letter(answer: str) -> FoundLetter | None:
    """Return the letter found by the official three stages, in linear time. Return None if no stage finds a letter.

    The stages are those of TIGER-AI-Lab/MMLU-Pro, evaluate_from_local.py:

    1. The first "answer is (X)".
    2. The last "answer: X" in the first line that contains one.
    3. The last letter from A to J that is a separate word, possibly the pronoun "I" or the article "A".
    """
    if (said := _SAID.search(answer)) is not None:
        return FoundLetter(said[1], 1)
    return _marked_letter(answer) or _last_alone(answer)


def grade_reasoning(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the letter found is the right one, else 0.

    If no letter is found, store the number of options, which the official random guess needs.
    """
    found = find_letter(answer)
    if found is None:
        return letter_verdict(None, content, category=content["category"], options=len(content["choices"]))
    return letter_verdict(found.letter, content, category=content["category"], stage=found.search_stage)


def count_lucky_guesses(graded: Iterable[GradedTrial]) -> int:
    """Return how many answers without a letter the official code would get right by its random guesses.

    The official code (evaluate_from_local.py, save_res) grades each category twice, in alphabetical order,
    with new guesses; the second grading counts. Each repeat is treated as a separate run here.
    """
    runs: dict[int, dict[str, list[GradedTrial]]] = {}
    for one in graded:
        if one.status not in FAILED_STATUSES and "options" in one.detail:
            runs.setdefault(one.repeat, {}).setdefault(one.detail["category"], []).append(one)
    return sum(_lucky_guesses_of_run(categories) for categories in runs.values())


def _lucky_guesses_of_run(categories: Mapping[str, Sequence[GradedTrial]]) -> int:
    numbers = random.Random(GUESS_SEED)
    lucky = 0
    for _, without_letter in sorted(categories.items()):
        _guess(numbers, without_letter)
        lucky += _guess(numbers, without_letter)
    return lucky


def _guess(numbers: random.Random, without_letter: Sequence[GradedTrial]) -> int:
    """Draw a random letter for each answer without a letter. Return how many of these letters are right."""
    return sum(
        CHOICE_LETTERS[numbers.randint(0, one.detail["options"] - 1)] == one.detail["expected"]
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
    """Grade the letter by the cascade of patterns that llm-benchmarker documents."""
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=10), content, category=content["category"])
