"""The runs of an eval in the format that osmosis_ai documents, created one at a time from the eval's run table.

A run in this format ("documented run") has a score by every scorer. If a scorer failed or found no answer,
the score is 0.0. `unscored` distinguishes such scores from scores of wrong answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from benchwright.errors import JournalError
from benchwright.records import FAILED_STATUSES, Status, Target, TrialRecord
from benchwright.runs.columns import ROWS_PER_BLOCK, true_indices
from benchwright.runs.counting_rules import NO_ANSWER_STATUSES, STATUS_BY_SCORE_STATE, ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.stats.documented_statistics import DocumentedStatistics


SORT_PARTITIONS = 32
"""Number of parts into which the rows of a dataset are divided for sorting, to limit memory."""


class DocumentedRun(msgspec.Struct, gc=False):
    """One run of one dataset row, in the format that osmosis_ai documents.

    `tokens`: prompt and completion tokens of the model's own requests. `unscored`: a mapping from each scorer
    without a value, for which `scores` has 0.0, to the reason. If there was no answer, the reason is the
    trial's status (`unparsed`, `truncated` and the like). If the scorer failed, it is `grader_error`.
    `unscored` is omitted if all scorers have a value.
    """

    row_index: int
    run_index: int
    success: bool
    scores: dict[str, float]
    duration_ms: float
    tokens: int
    model_tag: str | None
    error: str | None
    unscored: dict[str, Status] | UnsetType = UNSET


def documented_run(
    record: TrialRecord, scores: dict[str, float], unscored: dict[str, ScoreState], tag: str | None
) -> DocumentedRun:
    """Convert a journal record into a run in the format that osmosis_ai documents. A failed run has no scores.

    `unscored`: a mapping from each scorer without a value to the state of its score.
    """
    success = record.status not in FAILED_STATUSES
    why = {name: _why_unscored(record.status, state) for name, state in unscored.items()}
    return DocumentedRun(
        row_index=record.row_index,
        run_index=record.repeat,
        success=success,
        scores=scores if success else {},
        duration_ms=round(record.duration / 1e6, 3),
        tokens=record.tokens,
        model_tag=tag,
        error=None if success else (record.reason or str(record.status)),
        unscored=why if success and why else UNSET,
    )


def _why_unscored(trial: Status, state: ScoreState) -> Status:
    """Return the reason for a missing score, as a status.

    If the trial's status explains why there was no answer, the reason is that status. Otherwise it follows
    from the state of the score.
    """
    if state is ScoreState.NO_ANSWER and trial in NO_ANSWER_STATUSES:
        return trial
    return STATUS_BY_SCORE_STATE[state]


def model_tag_of(record: TrialRecord, manifest: Manifest) -> str | None:
    """Return the `model_tag` of a record: "primary" or "baseline". Return None if there is only one model."""
    return record.target if len(manifest.targets) > 1 else None


class DocumentedRuns:
    """The runs of an eval in the format that osmosis_ai documents, ordered by row, model (primary first) and repeat.

    Interrupted runs are left out. `under_way`: True if the eval is still running. Then only finished runs are
    included. Runs without a score by every scorer are left out, and so are runs with a status in `again`,
    which will be retried.

    Raises:
        JournalError: If the journal has a row, model or repeat that is not in its manifest.
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
        self._done = table.counted_mask()
        if under_way:
            self._done &= _is_done(table, manifest, again)
        _check_rows(table, manifest, self._done)
        self._names = [scorer.name for scorer in manifest.scorers]

    def __len__(self) -> int:
        import numpy as np

        return int(np.count_nonzero(self._done))

    def __iter__(self) -> Iterator[DocumentedRun]:
        columns = {name: self.table.scores[name] for name in self._names}
        for row in _in_order(self.table, self.manifest, self._done):
            record = self.table.read_record(row)
            values = {name: column.value(row) for name, column in columns.items()}
            scores = {name: 0.0 if value is None else value for name, value in values.items()}
            unscored = {name: columns[name].state(row) for name, value in values.items() if value is None}
            yield documented_run(record, scores, unscored, model_tag_of(record, self.manifest))

    def records(self) -> Iterator[TrialRecord]:
        """Return the journal records of these runs, in the order of the runs."""
        return map(self.table.read_record, _in_order(self.table, self.manifest, self._done))

    def failure_reasons(self) -> dict[str, int]:
        """Return the reasons why runs or their scorers failed: a mapping from the reason to its count."""
        return self.table.failure_reasons(self._done)

    def row_count(self, target: Target | None = None) -> int:
        """Return the number of dataset rows with runs of the model `target`. If it is None, runs of any model count."""
        from benchwright.stats.arrays import count_distinct

        return count_distinct(
            self.table.sample.compact_numbers(self._done if target is None else self._of(target))
        )

    def _of(self, target: Target) -> NDArray[np.bool_]:
        """Return a mask of the table's trials, shape (n,).

        It is True for the trials of the model `target` that are included.
        """
        slot = self.table.targets.find_code(target.slot)
        rows: NDArray[np.bool_] = self._done & self.table.target.equal_mask(-1 if slot is None else slot)
        return rows

    def statistics(self, target: Target) -> dict[str, DocumentedStatistics]:
        """Return {eval function: mean, std, min, max and pass@k} over the runs of one model."""
        import numpy as np

        from benchwright.stats.documented_statistics import (
            NO_RUN_COUNTS,
            count_runs_by_sample,
            documented_statistics,
        )

        table, manifest = self.table, self.manifest
        rows = self._of(target)
        found = {}
        for name in self._names:
            values = table.scores[name].values(rows)
            tries = NO_RUN_COUNTS
            if manifest.repeats > 1:
                failed = np.isin(
                    table.status.compact_numbers(rows), [STATUSES.index(one) for one in FAILED_STATUSES]
                )
                passed = ~failed & (values >= manifest.pass_threshold)
                tries = count_runs_by_sample(table.sample.numbers(rows), passed)
            found[name] = documented_statistics(values, tries, manifest.repeats)
        return found


def _is_done(table: RunTable, manifest: Manifest, again: frozenset[Status]) -> NDArray[np.bool_]:
    """Return a mask of the table's trials, shape (n,). It is True for finished trials.

    A trial is finished if it failed or has all scores, and if its status is not in `again`. Trials with a
    status in `again` will be retried.
    """
    import numpy as np

    done = np.ones(len(table), np.bool_)
    for scorer in manifest.scorers:
        done &= table.scored_mask(scorer.name)
    for status in FAILED_STATUSES:
        done |= table.status.equal_mask(STATUSES.index(status))
    for status in again:
        done &= ~table.status.equal_mask(STATUSES.index(status))
    return done


def _check_rows(table: RunTable, manifest: Manifest, done: NDArray[np.bool_]) -> None:
    """Check that the row, model and repeat of each trial in the mask `done` are in the manifest.

    Raises:
        JournalError: If a row, model or repeat is not in the manifest.
    """
    import numpy as np

    models = _model_places(table, manifest)
    for start in range(0, len(done), ROWS_PER_BLOCK):
        rows = np.flatnonzero(done[start : start + ROWS_PER_BLOCK]) + start
        strange = _is_strange(table, rows)
        strange |= models[table.target.compact_numbers(rows)] == len(manifest.targets)
        strange |= table.repeat.compact_numbers(rows) >= manifest.repeats
        if strange.any():
            record = table.read_record(int(rows[strange.argmax()]))
            raise JournalError(
                f"{table.directory} has sample {record.sample} of {record.target}, repeat {record.repeat + 1} of "
                f"{manifest.repeats}: its run.json is another run's."
            )


def _is_strange(table: RunTable, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a mask of the trials at these `rows` of the table.

    It is True for trials whose row is not a row of the dataset.
    """
    if _has_ids(table):
        strange: NDArray[np.bool_] = table.dataset_row.compact_numbers(rows) == 0
    else:
        strange = table.sample.compact_numbers(rows) % 2 == 1
    return strange


def _has_ids(table: RunTable) -> bool:
    """Return True if the ids of samples are from the dataset's column `id`, rather than the numbers of the rows."""
    return table.dataset_row.max_number > 0


def _in_order(table: RunTable, manifest: Manifest, done: NDArray[np.bool_]) -> Iterator[int]:
    """Yield the table rows of the trials in the mask `done`, ordered by dataset row, model and repeat.

    The trials are sorted part by part, each part being a range of dataset rows.
    """
    import numpy as np

    models = _model_places(table, manifest)
    of_dataset = table.dataset_row if _has_ids(table) else table.sample
    end = of_dataset.max_number + 1
    bounds = [end * part // SORT_PARTITIONS for part in range(SORT_PARTITIONS + 1)]
    for low, high in pairwise(bounds):
        rows = true_indices(done & of_dataset.between_mask(low, high)[: len(done)])
        keys = (
            table.repeat.compact_numbers(rows),
            models[table.target.compact_numbers(rows)],
            of_dataset.compact_numbers(rows),
        )
        yield from rows[np.lexsort(keys)].tolist()


def _model_places(table: RunTable, manifest: Manifest) -> NDArray[np.uint8]:
    """Return, for each model in the table, the index of the model in the manifest.

    A model that is not in the manifest gets the index after the last.
    """
    import numpy as np

    slots = [target.slot for target in manifest.targets]
    return np.array(
        [slots.index(slot) if slot in slots else len(slots) for slot in table.targets.names], np.uint8
    )
