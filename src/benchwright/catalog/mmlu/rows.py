"""The row format of MMLU, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from benchwright.catalog.multiple_choice import CHOICE_LETTERS, question_text
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample

SUBJECTS_BY_CATEGORY = {
    "humanities": "formal_logic high_school_european_history high_school_us_history high_school_world_history "
    "international_law jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy prehistory "
    "professional_law world_religions",
    "social sciences": "econometrics high_school_geography high_school_government_and_politics "
    "high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality "
    "professional_psychology public_relations security_studies sociology us_foreign_policy",
    "stem": "abstract_algebra anatomy astronomy college_biology college_chemistry college_computer_science "
    "college_mathematics college_physics computer_security conceptual_physics electrical_engineering "
    "elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science "
    "high_school_mathematics high_school_physics high_school_statistics machine_learning",
}
"""Mapping from a subject to its category in simple-evals. Subjects that are not listed belong to `other`."""

_CATEGORY = {
    subject: category for category, names in SUBJECTS_BY_CATEGORY.items() for subject in names.split()
}

SHOT_COUNT = 5


class MmluRow(Record, frozen=True):
    """One question in the Hugging Face layout. `answer`: the index of the right choice, from 0."""

    question: str
    subject: str
    choices: Annotated[list[str], msgspec.Meta(min_length=4, max_length=4)]
    answer: Annotated[int, msgspec.Meta(ge=0, le=3)]


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of the test split."""
    for number, row in enumerate(source.read(MmluRow, "test")):
        yield _sample(number, row, {})


def samples_with_shots(source: Source) -> Iterator[Sample]:
    """Yield one sample per question of the test split, with solved questions (shots).

    The shots are the first five questions of the same subject in the dev split.
    """
    shots: dict[str, list[dict[str, Any]]] = {}
    for row in source.read(MmluRow, "dev"):
        of_subject = shots.setdefault(row.subject, [])
        if len(of_subject) < SHOT_COUNT:
            of_subject.append(_content(row))
    for number, row in enumerate(source.read(MmluRow, "test")):
        yield _sample(number, row, {"shots": shots.get(row.subject, [])})


def _sample(number: int, row: MmluRow, more: dict[str, Any]) -> Sample:
    labels = {"subject": row.subject, "category": _CATEGORY.get(row.subject, "other")}
    content = _content(row) | more
    return Sample(
        f"mmlu_{number}", content, labels=labels, input=question_text(content), target=content["answer"]
    )


def _content(row: MmluRow) -> dict[str, Any]:
    return {
        "question": row.question,
        "choices": row.choices,
        "answer": CHOICE_LETTERS[row.answer],
        "subject": row.subject,
    }
