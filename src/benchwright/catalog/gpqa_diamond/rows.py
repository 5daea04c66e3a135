"""The row format of GPQA, its conversion into samples, and the order of options in each repeat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from benchwright.catalog.multiple_choice import CHOICE_LETTERS, format_choices
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

OPTION_COUNT = 4


class GpqaRow(
    Record,
    frozen=True,
    rename={
        "question": "Question",
        "right": "Correct Answer",
        "wrong_1": "Incorrect Answer 1",
        "wrong_2": "Incorrect Answer 2",
        "wrong_3": "Incorrect Answer 3",
        "domain": "High-level domain",
        "subdomain": "Subdomain",
        "identity": "Record ID",
    },
):
    """One question in the layout of the authors' CSV, which has about 60 columns.

    Texts are kept unchanged.
    """

    question: str
    right: str
    wrong_1: str
    wrong_2: str
    wrong_3: str
    domain: str
    identity: str
    subdomain: str = ""


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question. The first of its `choices` is the right choice."""
    rows = list(source.read(GpqaRow, "train"))
    for position, row in enumerate(rows):
        content = {
            "question": row.question,
            "choices": [row.right, row.wrong_1, row.wrong_2, row.wrong_3],
            "position": position,
            "questions": len(rows),
        }
        labels = {"domain": row.domain, "subdomain": row.subdomain}
        shown = "\n".join([row.question, "", *format_choices(shown_choices(content, 0))])
        yield Sample(row.identity, content, labels=labels, input=shown, target=row.right)


def shown_choices(content: dict[str, Any], repeat: int) -> list[str]:
    """Return the choices of a question in the order in which this repeat shows them."""
    return [content["choices"][place] for place in choice_order(content, repeat)]


def right_letter(content: dict[str, Any], repeat: int) -> str:
    """Return the letter of the right choice in this repeat's order.

    The right choice is found by position, because another choice may have the same text.
    """
    return CHOICE_LETTERS[choice_order(content, repeat).index(0)]


def choice_order(content: dict[str, Any], repeat: int) -> list[int]:
    """Return the indices of the choices that are shown as A, B, C and D in this repeat."""
    return _orders(content["questions"], repeat)[content["position"]]


@lru_cache(maxsize=64)
def _orders(questions: int, repeat: int) -> list[list[int]]:
    """Return the order of options of every question in one repeat.

    The orders are drawn as in simple-evals (gpqa_eval.py): one generator, seeded with 0, draws for all
    questions of the first repeat, then for all questions of the next repeat. The orders of a repeat therefore
    do not depend on the number of repeats.
    """
    generator = Random(0)
    drawn = [generator.sample(range(OPTION_COUNT), OPTION_COUNT) for _ in range(questions * (repeat + 1))]
    return drawn[-questions:]
