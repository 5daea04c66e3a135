"""The rows of a dataset file, or a part of them, as the samples of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from benchwright.data.columns import documented_row
from benchwright.data.errors import BadRow, DatasetValidationError
from benchwright.data.rows import Row, naming, read_rows
from benchwright.engine.protocols import Scorer
from benchwright.records import Sample, TaskSpec
from benchwright.suggest import did_you_mean

Content = Callable[[Row, int], Row]
"""Makes a sample's content of a row and its index; raises DatasetValidationError for a bad row."""


class SampleRows(msgspec.Struct, frozen=True):
    """At most `limit` rows from row `offset` on; `group_by` names the column of the clusters."""

    path: Path
    limit: int | None = None
    offset: int = 0
    group_by: str | None = None

    def first(self) -> Row:
        """The first row, as it stands in the file.

        Raises:
            DatasetError: the file cannot be read, or has no such row.
        """
        with naming(self.path):
            for row in read_rows(self.path, 1, self.offset):
                return row
        raise self._no_rows()

    def _no_rows(self) -> DatasetValidationError:
        where = f" from row {self.offset} on" if self.offset else ""
        return DatasetValidationError(f"{self.path} has no rows{where}")

    def samples(self, content: Content) -> Iterator[Sample]:
        """One sample per row, read as they are needed; a sample's id is the row's place in the file, from 0.

        Raises:
            DatasetError: the file cannot be read, or a row is not as it should be.
        """
        with naming(self.path):
            for index, row in enumerate(read_rows(self.path, self.limit, self.offset), self.offset):
                made = content(row, index)
                yield Sample(
                    id=str(index),
                    content=made,
                    group=self._group(row, index),
                    input=_text(made.get("user_prompt")),
                    target=_text(made.get("ground_truth")),
                )

    def size(self, content: Content) -> int:
        """The number of samples; reads and checks them all.

        Raises:
            DatasetError: as `samples`; also if there is none.
        """
        count = sum(1 for _ in self.samples(content))
        if not count:
            raise self._no_rows()
        return count

    def _group(self, row: Row, index: int) -> str | None:
        if self.group_by is None:
            return None
        if self.group_by not in row:
            raise BadRow(index, f"No column '{self.group_by}' to group by.{did_you_mean(self.group_by, row)}")
        return str(row[self.group_by])


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class RowsTask:
    """What the tasks over a dataset share: `spec` and `scorers`, and a sample of every row.

    A sample's content is what `content` makes of the row; unless told otherwise, the row with the documented
    column names.
    """

    def __init__(
        self, rows: SampleRows, spec: TaskSpec, scorers: Sequence[Scorer], content: Content = documented_row
    ) -> None:
        self.spec = spec
        self.scorers = scorers
        self._rows = rows
        self._content = content

    def samples(self) -> Iterator[Sample]:
        """One sample per row, read as they are needed."""
        return self._rows.samples(self._content)

    def size(self) -> int:
        """The number of rows; reads and checks them all."""
        return self._rows.size(self._content)
