"""The format of ARC-AGI's task files, one file per task, and the conversion of tasks into samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetParseError, DatasetValidationError
from benchwright.records import Record, Sample

Row = Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=9)]], msgspec.Meta(min_length=1, max_length=30)]
Grid = Annotated[list[Row], msgspec.Meta(min_length=1, max_length=30)]


class GridPair(Record, frozen=True):
    """An input grid and its output grid. A grid has 1 to 30 rows of 1 to 30 colours, numbered from 0 to 9."""

    input: Grid
    output: Grid


class ArcTask(Record, frozen=True):
    """A task: solved examples, and test inputs with their solutions."""

    train: Annotated[list[GridPair], msgspec.Meta(min_length=1)]
    test: Annotated[list[GridPair], msgspec.Meta(min_length=1)]


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per task. The name of the file is the sample's id.

    Raises:
        DatasetError: If a file is not a valid task. The message names file and field.
    """
    for file in source.files("evaluation"):
        try:
            task = msgspec.json.decode(file.read_bytes(), type=ArcTask)
        except msgspec.ValidationError as error:
            raise DatasetValidationError(f"{file}: {error}") from error
        except msgspec.DecodeError as error:
            raise DatasetParseError(f"{file}: {error}") from error
        yield _sample(file.stem, task)


def format_grid(grid: list[list[int]]) -> str:
    """Return a grid as text for people, one row per line."""
    return "\n".join(" ".join(map(str, row)) for row in grid)


def _sample(identity: str, task: ArcTask) -> Sample:
    content = msgspec.to_builtins(task)
    shown = [
        f"Example {number}:\n{format_grid(pair.input)}\n->\n{format_grid(pair.output)}"
        for number, pair in enumerate(task.train)
    ]
    shown += [f"Test input {number}:\n{format_grid(pair.input)}" for number, pair in enumerate(task.test)]
    target = "\n\n".join(format_grid(pair.output) for pair in task.test)
    labels = {"test_inputs": str(len(task.test))}
    return Sample(identity, content, labels=labels, input="\n\n".join(shown), target=target)
