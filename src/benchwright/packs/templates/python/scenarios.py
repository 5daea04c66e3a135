"""The scenarios: prompts, and checks of the answers. `check` returns a score from 0 to 100."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple


class Category(NamedTuple):
    """A category and its weight in the total."""

    id: str
    label: str
    weight: float


class Scenario(NamedTuple):
    """A scenario. `tests`, `success` and `failure` are the texts of its cards."""

    id: str
    title: str
    category: str
    prompt: str
    tests: str
    success: str
    failure: str
    check: Callable[[str], int]


def check_word(answer: str) -> int:
    """Return 100 for the word alone. Return 50 if there is other text around the word."""
    if answer == "READY":
        return 100
    return 50 if re.search(r"\bready\b", answer, re.IGNORECASE) else 0


def check_mira(answer: str) -> int:
    """Return 100 for the JSON object alone. Return 50 if there is other text around the object."""
    if _is_mira(answer):
        return 100
    return 50 if _is_mira(answer[answer.find("{") : answer.rfind("}") + 1]) else 0


def check_last(expected: str) -> Callable[[str], int]:
    """Return a check.

    It returns 100 if the last line is `Answer: <expected>`, and 50 if only the last word is right.
    """

    def check(answer: str) -> int:
        words = re.sub(r"[*_`.]", "", answer).lower().split()
        if words[-1:] != [expected.lower()]:
            return 0
        return 100 if words[-2:-1] == ["answer:"] else 50

    return check


def _is_mira(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and [found.get(key) for key in ("name", "age", "city")] == [
        "Mira",
        34,
        "Oslo",
    ]


CATEGORIES = [
    Category("A", "Following instructions", 1),
    Category("B", "Working things out", 1),
]

SCENARIOS = [
    Scenario(
        id="A-01",
        title="One word and nothing else",
        category="A",
        prompt="Reply with the single word READY and nothing else.",
        tests="Whether the model can keep to one word.",
        success="The answer is READY.",
        failure="The word is missing; with other text around it, it counts half.",
        check=check_word,
    ),
    Scenario(
        id="A-02",
        title="A JSON object and nothing else",
        category="A",
        prompt="Mira is 34 years old and lives in Oslo. Reply with a JSON object with the keys name, age and city, "
        "and with nothing else.",
        tests="Whether a program could read the answer as it is.",
        success="The answer is a JSON object with the three right values.",
        failure="It is not valid JSON, or a value is wrong; with other text around it, it counts half.",
        check=check_mira,
    ),
    Scenario(
        id="B-01",
        title="Pens",
        category="B",
        prompt="A school buys 12 boxes of 8 pens and gives 3 pens to each of 25 pupils. How many pens are left? "
        "End with a line of the form: Answer: NUMBER",
        tests="Two steps of arithmetic, and the form of the last line.",
        success="The last line says 21.",
        failure="Another number; 21 without the line counts half.",
        check=check_last("21"),
    ),
    Scenario(
        id="B-02",
        title="The day of the market",
        category="B",
        prompt="The meeting is on the day before Thursday, and the market two days after the meeting. On which day "
        "of the week is the market? End with a line of the form: Answer: DAY",
        tests="Two steps of reasoning about days, and the form of the last line.",
        success="The last line says Friday.",
        failure="Another day; Friday as the last word without the line counts half.",
        check=check_last("Friday"),
    ),
]
