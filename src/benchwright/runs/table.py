"""The table of a run: its journal as columns, a few dozen bytes per trial, extended as the journal grows.

All code that shows, summarizes, compares or exports a run reads this table, and so uses the same trials, attempts
(see `runs.counting_rules`) and scores. Rows are in the order in which trials first ended.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.errors import JournalError
from benchwright.records import (
    DECODE_ERRORS,
    FAILED_STATUSES,
    SIMULATED_FLAG,
    JournalLine,
    RunEvent,
    ScoreRecord,
    Status,
    TrialRecord,
)
from benchwright.runs import counting_rules
from benchwright.runs.attempts import FormerAttempt, ScoredTrial, read_scored_trial, read_trial_record
from benchwright.runs.columns import (
    CodedNames,
    FailureReasons,
    IntColumn,
    SampleColumn,
    ScoreColumn,
    true_indices,
)
from benchwright.runs.flags import FlaggedTrials
from benchwright.runs.journal import decode_line
from benchwright.runs.journal_tail import JournalTail
from benchwright.runs.keys import RowIndex
from benchwright.runs.lost_bodies import LostBodies
from benchwright.runs.manifest import read_manifest
from benchwright.runs.request_figures import RequestFigures
from benchwright.runs.sessions import Sessions
from benchwright.runs.usage_columns import UsageColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.runs.columns import Rows

STATUSES = tuple(Status)
_CODE = {status: code for code, status in enumerate(STATUSES)}
_CUT_OFF = _CODE[Status.CANCELLED]


class RunTable:
    """Trials, scores and requests of one run, in parallel columns with one entry per trial.

    - `counted_rows()`: rows of the trials that count. Trials that were always cut off have other rows.
    - `correct`: one column for each score: 2 if its grader reports a right answer, 1 wrong, 0 unknown.
    - `dataset_row`: the sample's position in the dataset from 1; 0 if the sample's id is its position.
    - `effort`: columns of each trial's time and tokens; None if the table was made without `effort=True`.
    - `lost`: rows that do not count because their body is lost.
    - `unreadable`: number of lines that are not records. If `strict`, such a line is an error.
    """

    def __init__(
        self, directory: Path, scorers: Sequence[str] = (), *, effort: bool = False, strict: bool = True
    ) -> None:
        self.directory = directory
        self.lost: set[int] = set()
        self.unreadable = self._lines_read = 0
        self.simulated = False
        self.sessions = Sessions()
        self.targets = CodedNames()
        self.groups = CodedNames()
        self.label_sets: list[dict[str, str]] = [{}]
        self.reasons = FailureReasons()
        self._rows = RowIndex()
        self.sample = SampleColumn(self._rows.__len__)
        self.dataset_row = IntColumn(self._rows.__len__)
        self.status = IntColumn(self._rows.__len__)
        self.target = IntColumn(self._rows.__len__)
        self.repeat = IntColumn(self._rows.__len__)
        self.group = IntColumn(self._rows.__len__)
        self.labels = IntColumn(self._rows.__len__)
        self.reason = IntColumn(self._rows.__len__)
        self.reused = IntColumn(self._rows.__len__)
        self.scores: dict[str, ScoreColumn] = {name: ScoreColumn() for name in scorers}
        self.correct: dict[str, IntColumn] = {name: IntColumn(self._rows.__len__) for name in scorers}
        self.flagged = FlaggedTrials()
        self.requests: defaultdict[str, RequestFigures] = defaultdict(RequestFigures)
        self.effort = UsageColumns(self._rows.__len__) if effort else None
        self._strict = strict
        self._line = IntColumn(self._rows.__len__)
        self._score_lines = {name: IntColumn(self._rows.__len__) for name in scorers}
        self._former: dict[int, list[FormerAttempt]] = {}
        self._label_codes: dict[tuple[tuple[str, str], ...], int] = {(): 0}
        self._tail = JournalTail(directory)
        self.bodies = LostBodies(directory)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def bytes_read(self) -> int:
        """Number of bytes of the journal that have been read so far."""
        return self._tail.position

    def journal_size(self) -> int:
        """Return the present size of the journal in bytes."""
        return self._tail.file_size()

    def close(self) -> None:
        """Close the journal. It is opened again for the next read."""
        self._tail.close()

    def read_journal(self, seconds: float = math.inf) -> bool:
        """Read on for about `seconds`. Return True if the end of the journal was reached.

        Raises:
            JournalError: If the journal cannot be read, or if `strict` and a line is not a record.
        """
        end = time.monotonic() + seconds
        for lines in self._slices():
            for line in lines:
                self._take(line)
            if time.monotonic() >= end:
                return self.bytes_read >= self.journal_size()
        return True

    def read_records(self) -> Iterator[JournalLine]:
        """Read the journal to its end and yield each record after adding it to the table; see `read_journal`."""
        for lines in self._slices():
            for line in lines:
                record = self._take(line)
                if record is not None:
                    yield record

    def _slices(self) -> Iterator[Sequence[bytes]]:
        """Yield the lines that have not been read yet, in batches."""
        for lines in self._tail.read_line_batches():
            self.bodies.read_sizes()
            yield lines

    def _take(self, encoded: bytes) -> JournalLine | None:
        """Add the line at `position` to the table and return its record. None if the line is not a record."""
        self._lines_read += 1
        line: JournalLine | None = None
        try:
            line = decode_line(encoded)
        except DECODE_ERRORS as error:
            self.unreadable += 1
            if self._strict:
                where = f"{self._tail.path}, line {self._lines_read}"
                raise JournalError(f"{where}: this is not a journal record ({error}).") from None
        if line is not None:
            self.add_record(line, self.bytes_read)
        self._tail.skip_line(encoded)
        return line

    def add_record(self, line: JournalLine, offset: int = 0) -> None:
        """Add one record to the table. Its line begins at `offset`."""
        if isinstance(line, TrialRecord):
            self._add_trial(line, offset)
        elif isinstance(line, ScoreRecord):
            self._add_score(line, offset)
        elif isinstance(line, RunEvent):
            self.sessions.add_event(line)
            self.simulated = self.simulated or line.detail.get("simulated") is True

    def _add_trial(self, record: TrialRecord, offset: int) -> None:
        self.sessions.extend_session(record.started_at + record.duration)
        self._count_requests(record)
        lost = self.bodies.is_body_lost(record.body, offset)
        stands = counting_rules.is_counted(record.status) and not lost
        row = self._rows.find_row(record.key) if record.attempt else None
        if lost and (row is None or not self.is_counted(row)):
            self.lost.add(len(self) if row is None else row)
        if row is None:
            row = self._new_row(record)
        elif not stands:
            self._former.setdefault(row, []).append(FormerAttempt(offset))
            if self.effort is not None:
                self.effort.add_former_attempt(row, record)
            return
        else:
            self.lost.discard(row)
            counted = FormerAttempt(self._line[row], tuple(self._lines_of_scores(row)))
            self._former.setdefault(row, []).append(counted)
        self._line[row] = offset
        self._fill(row, record, stands)

    def _count_requests(self, record: TrialRecord) -> None:
        if record.reused_from is None:
            figures = self.requests[record.target]
            for request in record.requests:
                figures.add_request(request)
        self.simulated = self.simulated or any(SIMULATED_FLAG in request.flags for request in record.requests)

    def _new_row(self, record: TrialRecord) -> int:
        row = self._rows.add_key(record.key)
        self.sample[row] = record.sample
        self.target[row] = self.targets.get_or_add_code(record.target)
        if record.repeat:
            self.repeat[row] = record.repeat
        if record.row is not None:
            self.dataset_row[row] = record.row + 1
        if record.group is not None:
            self.group[row] = self.groups.get_or_add_code(record.group) + 1
        if record.labels:
            self.labels[row] = self._label_code(record.labels)
        for scores in self.scores.values():
            scores.append_state(counting_rules.ScoreState.FAILED)
        if self.effort is not None:
            self.effort.append_row()
        return row

    def _label_code(self, labels: dict[str, str]) -> int:
        code = self._label_codes.setdefault(tuple(labels.items()), len(self.label_sets))
        if code == len(self.label_sets):
            self.label_sets.append(labels)
        return code

    def _fill(self, row: int, record: TrialRecord, stands: bool) -> None:
        """Fill the columns of a row that depend on which attempt counts."""
        self.status[row] = _CODE[record.status] if stands else _CUT_OFF
        self.reused[row] = record.reused_from is not None
        failed = stands and record.status in FAILED_STATUSES and record.reason is not None
        self.reason[row] = self.reasons.get_or_add_code(record.reason or "") if failed else 0
        if row in self._former or record.status is not Status.ANSWERED:
            self._clear_scores(row, counting_rules.state_of_missing_score(record.status))
        if stands and record.scores:
            for name, value in record.scores.items():
                state = counting_rules.state_of_score(record.status, value)
                self._score_column(name).set_score(row, state, value)
        if self.effort is not None:
            self.effort.set_counted_attempt(row, record)

    def _clear_scores(self, row: int, without: counting_rules.ScoreState) -> None:
        self.flagged.remove_flags(row)
        for name, column in self.scores.items():
            column.set_score(row, without)
            self._score_lines[name][row] = 0
            self.correct[name][row] = 0

    def _score_column(self, name: str) -> ScoreColumn:
        column = self.scores.get(name)
        if column is None:
            column = self.scores[name] = ScoreColumn()
            self._score_lines[name] = IntColumn(self._rows.__len__)
            self.correct[name] = IntColumn(self._rows.__len__)
            for row in range(len(self)):
                column.append_state(counting_rules.state_of_missing_score(STATUSES[self.status[row]]))
        return column

    def _add_score(self, record: ScoreRecord, offset: int) -> None:
        row = self._rows.find_row(record.trial)
        if row is None:
            return
        figures = self.requests[self.targets[self.target[row]]]
        for request in record.requests:
            figures.add_request(request)
        if STATUSES[self.status[row]] in FAILED_STATUSES:
            return  # the score belongs to an earlier attempt
        column = self._score_column(record.scorer)
        if self._score_lines[record.scorer][row]:
            self._take_back_score(row, record.scorer)
        column.set_score(row, counting_rules.state_of_score(record.status, record.value), record.value or 0.0)
        self._score_lines[record.scorer][row] = offset - self._line[row]
        self.flagged.set_flags(row, record.scorer, record.detail)
        if record.detail is not None and "correct" in record.detail:
            self.correct[record.scorer][row] = 1 + bool(record.detail["correct"])
        self.status[row] = _CODE[counting_rules.combine_statuses(STATUSES[self.status[row]], [record.status])]
        if record.status is Status.GRADER_ERROR and not self.reason[row]:
            error = (record.detail or {}).get("error")
            self.reason[row] = self.reasons.get_or_add_code(f"{record.scorer}: {error}")

    def _take_back_score(self, row: int, scorer: str) -> None:
        """Undo a score that is about to be replaced. The trial's status is derived from its other scores."""
        others = [
            counting_rules.STATUS_BY_SCORE_STATE[column.state(row)]
            for name, column in self.scores.items()
            if name != scorer and self._score_lines[name][row]
        ]
        self.status[row] = _CODE[counting_rules.combine_statuses(Status.ANSWERED, others)]
        self.reason[row] = 0
        self.correct[scorer][row] = 0

    def has_failed_score(self, row: int, scorer: str) -> bool:
        """Return True if the scorer failed on the attempt that counts, so that there is no score."""
        return (
            self.is_scored(row, scorer) and self.scores[scorer].state(row) is counting_rules.ScoreState.FAILED
        )

    def count_failures(self) -> int:
        """Return the number of trials that count and that failed (see `counting_rules.FAILURE_STATUSES`)."""
        return sum(self.status.count(_CODE[status]) for status in counting_rules.FAILURE_STATUSES)

    def counted_rows(self, target: str | None = None) -> NDArray[np.uint32]:
        """Return the rows of the trials that count, of one target or of all targets, in the order of the table."""
        return true_indices(self.counted_mask(target))

    def counted_mask(self, target: str | None = None) -> NDArray[np.bool_]:
        """Return a mask (n,) of the table's rows: True for trials that count, of one target or of all targets."""
        mask = ~self.status.equal_mask(_CUT_OFF)
        if target is not None:
            code = self.targets.find_code(target)
            mask &= self.target.equal_mask(-1 if code is None else code)
        return mask

    def cut_off_rows(self, target: str) -> NDArray[np.uint32]:
        """Return the rows of a target's trials whose attempts were all cut off."""
        code = self.targets.find_code(target)
        of_target = self.target.equal_mask(-1 if code is None else code)
        return true_indices(self.status.equal_mask(_CUT_OFF) & of_target)

    def scored_mask(self, scorer: str) -> NDArray[np.bool_]:
        """Return a mask (n,) of the table's rows: True if the journal has a score by this scorer."""
        return ~self._score_lines[scorer].equal_mask(0)

    def find_row(self, key: str) -> int | None:
        """Return the row of the trial with this key. None if there is none."""
        return self._rows.find_row(key)

    def release_keys(self) -> None:
        """Free the memory of the keys, when the journal is complete. `find_row` and `add_record` fail afterwards."""
        self._rows.release_keys()

    def is_counted(self, row: int) -> bool:
        """Return True if the trial of a row counts."""
        return self.status[row] != _CUT_OFF

    def failure_reasons(self, rows: Rows) -> dict[str, int]:
        """Return {reason: number of trials} for the failures (also of graders) in these rows, most frequent first."""
        counts = [(self.reasons[code], n) for code, n in self.reason.value_counts(rows) if code]
        return dict(sorted(counts, key=lambda one: -one[1]))

    def status_counts(self, rows: Rows) -> dict[str, int]:
        """Return {status: number of trials} for these rows, in alphabetical order of the statuses."""
        return dict(sorted((str(STATUSES[code]), n) for code, n in self.status.value_counts(rows)))

    def status_of(self, row: int) -> Status:
        """Return the status of a trial, combined with the statuses of its scores."""
        return STATUSES[self.status[row]]

    def is_scored(self, row: int, scorer: str) -> bool:
        """Return True if the journal has a score by this scorer for the attempt that counts."""
        lines = self._score_lines.get(scorer)
        return lines is not None and bool(lines[row])

    def count_attempts(self, row: int) -> int:
        """Return the number of attempts at a trial."""
        return len(self._former.get(row, ())) + 1

    def read_trial(self, row: int) -> ScoredTrial:
        """Read the attempt that counts, with its scores, from its lines in the journal.

        Raises:
            JournalError: If a line cannot be read.
        """
        return read_scored_trial(self._tail, self._line[row], self._lines_of_scores(row))

    def read_record(self, row: int) -> TrialRecord:
        """Read the record of the attempt that counts, without its scores; see `read_trial_record`."""
        return read_trial_record(self._tail, self._line[row])

    def read_trials(self, rows: Sequence[int] | Rows) -> Iterator[ScoredTrial]:
        """Yield the trials of these rows, each read when it is needed; see `read_trial`."""
        return (self.read_trial(int(row)) for row in rows)

    def read_attempts(self, row: int) -> list[ScoredTrial]:
        """Read every attempt at a trial, the oldest first; see `read_trial_record`."""
        lines = {one.line_offset: one.score_offsets for one in self._former.get(row, ())}
        lines[self._line[row]] = tuple(self._lines_of_scores(row))
        return [read_scored_trial(self._tail, line, scores) for line, scores in sorted(lines.items())]

    def _lines_of_scores(self, row: int) -> list[int]:
        line = self._line[row]
        return [line + lines[row] for lines in self._score_lines.values() if lines[row]]

    def rows_in_start_order(self, rows: Rows) -> Rows:
        """Return the rows in order of the trials' first starts. The table must be made with `effort=True`."""
        assert self.effort is not None
        return self.effort.rows_in_start_order(rows)


def read_table(directory: Path, *, effort: bool = False) -> RunTable:
    """Read the journal of a run to the end and return its table.

    Raises:
        UserError: If there is no run in the directory.
        JournalError: If the journal cannot be read.
    """
    table = RunTable(directory, [scorer.name for scorer in read_manifest(directory).scorers], effort=effort)
    table.read_journal()
    return table
