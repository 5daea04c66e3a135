"""The row format of MMLU-Pro, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from benchwright.catalog.multiple_choice import CHOICE_LETTERS, question_text
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

SHOT_COUNT = 5

FILLER_OPTION = "N/A"
"""The placeholder for a missing option, which the official code drops."""


class MmluProRow(Record, frozen=True):
    """One question in the Hugging Face layout. `answer_index`: the index of the right option, from 0.

    `options`: 1 to 10 options. A missing option is a filler (`FILLER_OPTION`).
    """

    question_id: int
    question: str
    options: Annotated[list[str], msgspec.Meta(min_length=1, max_length=10)]
    answer: str
    answer_index: int
    category: str
    cot_content: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.answer_index < len(self.choices):
            raise ValueError(f"`answer_index` is {self.answer_index}, with {len(self.choices)} options")
        if self.answer != CHOICE_LETTERS[self.answer_index]:
            raise ValueError(f"`answer` is {self.answer!r}, but `answer_index` is {self.answer_index}")

    @property
    def choices(self) -> list[str]:
        """The options without the fillers (`FILLER_OPTION`)."""
        return [option for option in self.options if option != FILLER_OPTION]


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of the test split."""
    for row in source.read(MmluProRow, "test"):
        yield _sample(row, {})


def samples_with_shots(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of the test split, with solved questions (shots) of its category.

    The shots are the category's first five questions in the validation split. Without that split there are
    none.
    """
    shots: dict[str, list[dict[str, Any]]] = {}
    if has_shots(source):
        for row in source.read(MmluProRow, "validation"):
            of_category = shots.setdefault(row.category, [])
            if len(of_category) < SHOT_COUNT:
                of_category.append(_shot(row))
    for row in source.read(MmluProRow, "test"):
        yield _sample(row, {"shots": shots.get(row.category, [])})


def has_shots(source: Source) -> bool:
    """Return True if the source has the validation split, which contains the solved questions (shots)."""
    return "validation" in source.splits


def _sample(row: MmluProRow, more: dict[str, Any]) -> Sample:
    content = {
        "question": row.question,
        "choices": row.choices,
        "answer": row.answer,
        "category": row.category,
    }
    return Sample(
        f"mmlu_pro_{row.question_id}",
        content | more,
        labels={"category": row.category},
        input=question_text(content),
        target=row.answer,
    )


def _shot(row: MmluProRow) -> dict[str, Any]:
    return {"question": row.question, "choices": row.choices, "reasoning": row.cot_content}
