"""The row format of LongBench v2, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from benchwright.catalog.multiple_choice import question_text
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class LongBenchRow(Record, frozen=True):
    """One question with its document, in the Hugging Face layout."""

    id: str = msgspec.field(name="_id")
    domain: str
    difficulty: Literal["easy", "hard"]
    length: Literal["short", "medium", "long"]
    question: str
    choice_A: str
    choice_B: str
    choice_C: str
    choice_D: str
    answer: Literal["A", "B", "C", "D"]
    context: str
    sub_domain: str = ""


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question, with the question's id.

    The document of a question may have hundreds of thousands of words.
    """
    for row in source.read(LongBenchRow, "train"):
        labels = {
            "difficulty": row.difficulty,
            "length": row.length,
            "domain": row.domain,
            "sub_domain": row.sub_domain,
        }
        content = {
            "question": row.question,
            "choices": [row.choice_A, row.choice_B, row.choice_C, row.choice_D],
            "answer": row.answer,
            "context": row.context,
        }
        yield Sample(row.id, content, labels=labels, input=question_text(content), target=row.answer)
