"""The row format of MATH-500, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class Math500Row(Record, frozen=True):
    """One problem in the Hugging Face layout. The answer is LaTeX without dollar signs."""

    problem: str
    answer: str
    subject: str
    level: int
    unique_id: str


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per problem, with the problem's id."""
    for row in source.read(Math500Row, "test"):
        content = {"problem": row.problem, "answer": row.answer}
        labels = {"subject": row.subject, "level": str(row.level)}
        yield Sample(row.unique_id, content, labels=labels, input=row.problem, target=row.answer)
