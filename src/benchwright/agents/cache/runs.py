"""The runs of an eval under their documented names, made from its table one at a time.

A documented run has a score by every scorer: one that failed, or found no answer, counts as 0.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from benchwright.errors import JournalError
from benchwright.records import FAILED, Status, Target, TrialRecord
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.stats.documented import DocumentedStatistics


class DocumentedRun(msgspec.Struct, gc=False):
    """One run of one row. `tokens` counts prompt and completion tokens of the model's own requests."""

    row_index: int
    run_index: int
    success: bool
    scores: dict[str, float]
    duration_ms: float
    tokens: int
    model_tag: str | None
    error: str | None


def documented_run(record: TrialRecord, scores: dict[str, float], tag: str | None) -> DocumentedRun:
    """The documented run of a journal's line; one that failed has no scores."""
    success = record.status not in FAILED
    return DocumentedRun(
        row_index=int(record.sample),
        run_index=record.repeat,
        success=success,
        scores=scores if success else {},
        duration_ms=round(record.duration / 1e6, 3),
        tokens=record.tokens,
        model_tag=tag,
        error=None if success else (record.reason or str(record.status)),
    )


def tag_of(record: TrialRecord, manifest: Manifest) -> str | None:
    """The documented `model_tag` of a line: only where there are several models."""
    return record.target if len(manifest.targets) > 1 else None


class DocumentedRuns:
    """The runs of an eval by row, model (primary first) and repeat; those that were cut off are left out.

    With `under_way`, so are those that are not scored yet, and those that ended in one of the statuses `again`, which
    are to be asked again: what is left is done.

    Raises:
        JournalError: the journal has a row, model or repeat that its manifest does not know.
    """

    def __init__(
        self,
        table: RunTable,
        manifest: Manifest,
        *,
        under_way: bool = False,
        again: frozenset[Status] = frozenset(),
    ) -> None:
        self.manifest = manifest
        self.table = table
        import numpy as np

        self._rows = table.counted().astype(np.uint32)
        if under_way:
            self._rows = self._rows[_is_done(table, manifest, again)[self._rows]]
        self._order = _documented_order(table, manifest, self._rows)
        self._names = [scorer.name for scorer in manifest.scorers]

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[DocumentedRun]:
        columns = {name: self.table.scores[name] for name in self._names}
        for place in self._order:
            row = int(place)
            record = self.table.record(row)
            scores = {name: column.value(row) or 0.0 for name, column in columns.items()}
            yield documented_run(record, scores, tag_of(record, self.manifest))

    def records(self) -> Iterator[TrialRecord]:
        """The journal's own lines of these runs."""
        return (self.table.record(int(row)) for row in self._order)

    def failure_reasons(self) -> dict[str, int]:
        """Why runs failed, or their scorers, and how often."""
        return self.table.failure_reasons(self._rows)

    def row_count(self) -> int:
        """How many rows of the dataset have runs."""
        from benchwright.stats.arrays import count_distinct

        return count_distinct(self.table.sample.narrow(self._order))

    def statistics(self, target: Target) -> dict[str, DocumentedStatistics]:
        """{eval function: documented figures} over the runs of one model."""
        import numpy as np

        from benchwright.stats.documented import documented_statistics, passes_by_sample

        slot = self.table.targets.find(target.slot)
        rows = self._rows[self.table.target.narrow(self._rows) == (-1 if slot is None else slot)]
        failed = np.isin(self.table.status.narrow(rows), [STATUSES.index(one) for one in FAILED])
        samples = self.table.sample.numbers(rows) if self.manifest.repeats > 1 else None
        found = {}
        for name in self._names:
            values = self.table.scores[name].values(rows)
            values[failed] = 0.0
            passed = ~failed & (values >= self.manifest.pass_threshold)
            passes = () if samples is None else passes_by_sample(samples, passed)
            found[name] = documented_statistics(values, passes, self.manifest.repeats)
        return found


def _is_done(table: RunTable, manifest: Manifest, again: frozenset[Status]) -> NDArray[np.bool_]:
    """Which trials of the table, (n,), have failed, or all their scores, and are not asked again."""
    import numpy as np

    done = np.ones(len(table), np.bool_)
    for scorer in manifest.scorers:
        done &= table.scored_by(scorer.name)
    for status in FAILED:
        done |= table.status.equal(STATUSES.index(status))
    for status in again:
        done &= ~table.status.equal(STATUSES.index(status))
    return done


def _documented_order(table: RunTable, manifest: Manifest, rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """These rows of the table by row of the dataset, model and repeat; few bytes a run on the way."""
    import numpy as np

    slots = [target.slot for target in manifest.targets]
    known = [slots.index(slot) if slot in slots else len(slots) for slot in table.targets.names]
    models = np.array(known, np.uint8)[table.target.narrow(rows)]
    repeats = table.repeat.narrow(rows)
    samples = table.sample.narrow(rows)
    strange = (samples % 2 == 1) | (models == len(slots)) | (repeats >= manifest.repeats)
    if strange.any():
        record = table.record(int(rows[strange.argmax()]))
        raise JournalError(
            f"{table.directory} has row {record.sample} of {record.target}, repeat {record.repeat + 1} of "
            f"{manifest.repeats}: its run.json is another run's."
        )
    keys = [*(key for key in (repeats, models) if key.any()), samples]
    return rows[np.lexsort(keys)]
