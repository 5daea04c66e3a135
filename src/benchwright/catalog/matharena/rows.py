"""The row format of MathArena's competitions, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchwright.catalog.benchmark import About
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class MathArenaRow(Record, frozen=True):
    """One problem in the Hugging Face layout. The answer is a whole number, or LaTeX without dollar signs."""

    problem_idx: int
    problem: str
    answer: int | str
    problem_type: list[str] = []


def samples(about: About, source: Source) -> Iterator[Sample]:
    """Yield one sample per problem."""
    for row in source.read(MathArenaRow, "train"):
        answer = str(row.answer)
        labels = {"problem_type": ", ".join(row.problem_type)} if row.problem_type else {}
        content: dict[str, Any] = {"problem": row.problem, "answer": answer}
        name = about.full_name.replace(":", "_")
        yield Sample(f"{name}_{row.problem_idx}", content, labels=labels, input=row.problem, target=answer)


def samples_reader(about: About) -> partial[Iterator[Sample]]:
    """Return the function `samples` for one competition, with the argument `about` filled in."""
    return partial(samples, about)
