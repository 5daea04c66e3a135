"""The rows of a dataset file, or a range of the rows, as the samples of a task."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import xxhash

from benchwright.data.columns import documented_row
from benchwright.data.errors import BadRow, DatasetValidationError
from benchwright.data.rows import Row, name_file_in_errors, read_rows
from benchwright.engine.protocols import Scorer, Task
from benchwright.formats import count_with_noun
from benchwright.records import Sample, TaskSpec
from benchwright.scorers.shared import TargetChecker, target_as_text
from benchwright.suggestions import did_you_mean

ContentConverter = Callable[[Row, int], Row]
"""Function from a row and its index to a sample's content. It raises DatasetValidationError for a bad row."""

ContentCheck = Callable[[Row], str | None]
"""Function that returns what makes a sample's content unusable for the scorers, or None."""


ID, GROUP = "id", "group"
"""`ID`: name of the column with a row's sample id. `GROUP`: name of the column with a row's cluster.

A cluster consists of rows that belong together, such as questions about one passage.
"""

MAX_NAME_LENGTH = 200
"""Maximum length in characters of a sample id and of a cluster's name. Longer values are taken as ordinary text."""


class SkippedRows(NamedTuple):
    """The number of bad rows that were skipped, and the fault of the first bad row."""

    row_count: int
    first_fault: str


class SampleRows(msgspec.Struct):
    """At most `limit` rows of a dataset file, starting at the row `offset`, as samples.

    `skips_bad_rows`: True if invalid rows are skipped; `check_and_count` finds them. If every row has a
    different text or number in the column `id`, that value is the sample's id. Otherwise the id is the row's
    index in the file, from 0. `group_by`: the column with each row's cluster (rows that belong together, such
    as questions about one passage). Without `group_by`, a column named `group` is used, if there is one.
    """

    path: Path
    limit: int | None = None
    offset: int = 0
    group_by: str | None = None
    skips_bad_rows: bool = False
    _has_ids: bool | None = None
    _has_groups: bool = False
    _bad: set[int] = msgspec.field(default_factory=set)
    _first_bad: str = ""

    def first_row(self) -> Row:
        """Return the first of the rows, unchanged.

        Raises:
            DatasetError: If the file cannot be read or has no such row.
        """
        with name_file_in_errors(self.path):
            for row in read_rows(self.path, 1, self.offset):
                return row
        raise self._no_rows()

    def _no_rows(self) -> DatasetValidationError:
        where = f" from row {self.offset} on" if self.offset else ""
        return DatasetValidationError(f"{self.path} has no rows{where}")

    def samples(self, content: ContentConverter) -> Iterator[Sample]:
        """Yield one sample per row. Each row is read when it is needed.

        Raises:
            DatasetError: If the file cannot be read, or a row is invalid.
        """
        if self._has_ids is None:
            self.check_and_count(content)
        with name_file_in_errors(self.path):
            for index, row in self._numbered():
                if index in self._bad:
                    continue
                made = content(row, index)
                yield Sample(
                    id=str(row[ID]) if self._has_ids else str(index),
                    content=made,
                    group=self._group(row, index),
                    input=_text(made.get("user_prompt")),
                    target=_target(made.get("ground_truth")),
                    row=index if self._has_ids else None,
                )

    def check_and_count(self, content: ContentConverter, wrong: ContentCheck = lambda made: None) -> int:
        """Read and check all rows, and return the number of samples.

        `wrong`: a function that checks each row's content.

        Raises:
            DatasetError: For the reasons of `samples`, if there is no row, or if a row is bad and `skips_bad_rows`
                is not set.
        """
        count, ids = 0, array("Q")
        self._bad.clear()
        with name_file_in_errors(self.path):
            for index, row in self._numbered():
                if self._is_bad(content, wrong, row, index):
                    continue
                self._has_groups = self._group(row, index) is not None or self._has_groups
                if len(ids) == count and _names(row.get(ID)):
                    ids.append(xxhash.xxh3_64_intdigest(str(row[ID]).encode("utf-8", "surrogatepass")))
                count += 1
            if self._bad and not self.skips_bad_rows:
                raise BadRow(min(self._bad), f"{self._first_bad}{self._advice()}")
        if not count:
            raise self._no_rows()
        self._has_ids = len(ids) == count and _all_differ(ids)
        return count

    def _is_bad(self, content: ContentConverter, wrong: ContentCheck, row: Row, index: int) -> bool:
        """Return True if a row is bad, and record the row as bad.

        Raises BadRow if the row has no content and `skips_bad_rows` is not set.
        """
        try:
            reason = wrong(content(row, index))
        except BadRow as error:
            if not self.skips_bad_rows:
                raise
            reason = error.wrong
        if reason is None:
            return False
        self._first_bad = self._first_bad if self._bad else reason
        self._bad.add(index)
        return True

    def _advice(self) -> str:
        more = len(self._bad) - 1
        others = (
            f" {count_with_noun(more, 'more row')} {'is' if more == 1 else 'are'} bad, too." if more else ""
        )
        return f".{others} Mend them, or leave such rows out with --skip-bad-rows"

    @property
    def skipped_rows(self) -> SkippedRows | None:
        """The bad rows that are skipped; None if there are none. Known after a call of `size`."""
        if not self._bad:
            return None
        return SkippedRows(len(self._bad), f"row {min(self._bad)}: {self._first_bad}")

    @property
    def inferred_columns(self) -> dict[str, str]:
        """The columns for sample ids and clusters that were chosen although the user did not name them.

        Known after a call of `size`.
        """
        ids = {ID: ID} if self._has_ids else {}
        return ids | ({GROUP: GROUP} if self._has_groups and self.group_by is None else {})

    def _numbered(self) -> Iterator[tuple[int, Row]]:
        return enumerate(read_rows(self.path, self.limit, self.offset), self.offset)

    def _group(self, row: Row, index: int) -> str | None:
        if self.group_by is None:
            return str(row[GROUP]) if _names(row.get(GROUP)) else None
        if self.group_by not in row:
            raise BadRow(index, f"No column '{self.group_by}' to group by.{did_you_mean(self.group_by, row)}")
        return str(row[self.group_by])


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _target(value: object) -> str | None:
    """Return the target as it is shown. A list of right answers is shown as JSON."""
    return target_as_text(value) if isinstance(value, list) else _text(value)


def _names(value: object) -> bool:
    """Return True if a value can be the id of a sample or the name of a cluster."""
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= MAX_NAME_LENGTH
    return isinstance(value, int) and not isinstance(value, bool)


def _all_differ(digests: array[int]) -> bool:
    import numpy as np

    return len(np.unique(np.frombuffer(digests, np.uint64))) == len(digests)


class DatasetTask(Task, Protocol):
    """A task whose samples are the rows of a dataset."""

    def skip_bad_rows(self) -> None:
        """Skip invalid rows from now on, instead of raising an error."""
        ...

    @property
    def skipped_rows(self) -> SkippedRows | None:
        """The bad rows that are skipped; None if there are none. See `SampleRows.skipped_rows`."""
        ...

    @property
    def inferred_columns(self) -> dict[str, str]:
        """The columns chosen for sample ids and clusters. See `SampleRows.inferred_columns`."""
        ...


class RowsTask:
    """Base class of the tasks over a dataset. It provides `spec`, `scorers`, and a sample per row.

    `content`: a function from a row to a sample's content. By default, the content is the row with the column
    names that osmosis_ai documents.
    """

    def __init__(
        self,
        rows: SampleRows,
        spec: TaskSpec,
        scorers: Sequence[Scorer],
        content: ContentConverter = documented_row,
    ) -> None:
        self.spec = spec
        self.scorers = scorers
        self._rows = rows
        self._content = content
        self._checks = [scorer.wrong_target for scorer in scorers if isinstance(scorer, TargetChecker)]

    def samples(self) -> Iterator[Sample]:
        """Yield one sample per row. Each row is read when it is needed."""
        return self._rows.samples(self._content)

    def size(self) -> int:
        """Read and check all rows, and return the number of rows. The scorers' own checks are included."""
        return self._rows.check_and_count(self._content, self._wrong)

    def skip_bad_rows(self) -> None:
        """Skip invalid rows from now on, instead of raising an error."""
        self._rows.skips_bad_rows = True

    def _wrong(self, content: Row) -> str | None:
        """Return why one of the scorers cannot score a row. Return None if all scorers can."""
        return next((wrong for check in self._checks if (wrong := check(content))), None)

    @property
    def skipped_rows(self) -> SkippedRows | None:
        """The bad rows that are skipped; None if there are none. See `SampleRows.skipped_rows`."""
        return self._rows.skipped_rows

    @property
    def inferred_columns(self) -> dict[str, str]:
        """The columns chosen for sample ids and clusters. See `SampleRows.inferred_columns`."""
        return self._rows.inferred_columns
