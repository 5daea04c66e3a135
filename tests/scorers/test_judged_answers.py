"""Answers of real models, and written ones, judged by hand: what a careful reader reads, the scorers read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.scorers.numbers.final_number import read_number_of_answer, read_number_of_gold_answer
from benchwright.scorers.numbers.quantity import Tolerance
from benchwright.scorers.numeric import Numeric
from benchwright.scorers.option_letters import find_option_letter

ANSWERS = [
    json.loads(line) for line in (Path(__file__).parent / "judged/answers.jsonl").read_text().splitlines()
]
NUMBERS = [one for one in ANSWERS if one["kind"] == "number"]
LETTERS = [one for one in ANSWERS if one["kind"] == "letter"]
REAL = [one for one in NUMBERS if one["by"] != "written"]


def read_as_judged(one: dict[str, Any]) -> bool:
    if one["kind"] == "letter":
        found = find_option_letter(one["answer"], "ABCDEFGHIJ"[: one["letters"]])
        return bool((found[0] if found else None) == one["judged"])
    reading = read_number_of_answer(one["answer"])
    given = reading.quantities if reading else ()
    if one["judged"] is None:
        return not given
    judged = read_number_of_gold_answer(one["judged"]).quantities
    return any(Tolerance().allows(quantity, right) for quantity in given for right in judged)


def name(one: dict[str, Any]) -> str:
    return f"{one['by']}: {one['answer'].strip()[-40:]!r}"


def test_there_are_300_numbers_of_real_models() -> None:
    assert len(REAL) >= 300


@pytest.mark.parametrize("one", [one for one in ANSWERS if "exception" not in one], ids=name)
def test_the_scorer_reads_what_a_careful_reader_reads(one: dict[str, Any]) -> None:
    assert read_as_judged(one)


@pytest.mark.parametrize("one", [one for one in ANSWERS if "exception" in one], ids=name)
def test_an_exception_is_still_one(one: dict[str, Any]) -> None:
    assert not read_as_judged(one), "it is read as judged: remove the exception"


@pytest.mark.parametrize(("kind", "most"), [(NUMBERS, 0.025), (LETTERS, 0.06)], ids=["numbers", "letters"])
def test_exceptions_are_few(kind: list[dict[str, Any]], most: float) -> None:
    assert sum("exception" in one for one in kind) <= most * len(kind)


def test_a_right_answer_scores_1_and_any_other_does_not(score: Any) -> None:
    scorer = Numeric()
    for one in NUMBERS:
        if "exception" in one or scorer.wrong_target({"ground_truth": one["gold"]}):
            continue
        right = one["judged"] is not None and any(
            Tolerance().allows(given, gold)
            for given in read_number_of_gold_answer(one["judged"]).quantities
            for gold in read_number_of_gold_answer(one["gold"]).quantities
        )
        value = score(scorer, one["answer"], one["gold"]).value
        reading = read_number_of_answer(one["answer"])
        two = reading is not None and len(reading.quantities) > 1
        assert two or (value == 1.0) is right, one
