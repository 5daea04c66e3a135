"""The row format of HumanEval, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class HumanEvalRow(Record, frozen=True):
    """One problem in the Hugging Face layout. `test` defines `check(candidate)`."""

    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str

    def __post_init__(self) -> None:
        if not self.entry_point.isidentifier():
            raise ValueError(f"`entry_point` is not a function name: {self.entry_point!r}")


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per problem, with the problem's id."""
    for row in source.read(HumanEvalRow, "test"):
        content = msgspec.structs.asdict(row)
        yield Sample(content.pop("task_id"), content, input=row.prompt, target=row.canonical_solution)
