"""Reads the runs that finish while an eval is in progress, from the journal, as `DocumentedRun` objects."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.agents.cache.runs import DocumentedRun, documented_run, model_tag_of
from benchwright.errors import JournalError
from benchwright.records import DECODE_ERRORS, FAILED_STATUSES, ScoreRecord, TrialRecord
from benchwright.runs.counting_rules import ScoreState, is_counted, state_of_score
from benchwright.runs.journal import decode_line
from benchwright.runs.journal_tail import JournalTail
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable


class NewRuns:
    """The runs that were added to a journal since the journal's table was read, as `DocumentedRun` objects.

    A run is returned once all scorers have scored it, or once it has failed. New scores of trials that are
    already in the table do not make a new run.
    """

    def __init__(self, table: RunTable, manifest: Manifest) -> None:
        self._manifest = manifest
        self._names = {scorer.name for scorer in manifest.scorers}
        self._under_way: dict[str, tuple[TrialRecord, dict[str, float], dict[str, ScoreState]]] = {}
        self._tail = JournalTail(table.directory)
        self._tail.position = table.bytes_read

    def read_new(self) -> Iterator[tuple[TrialRecord, DocumentedRun]]:
        """Yield the runs finished since the last call, each with its journal record, in the order of finishing.

        Raises:
            JournalError: If the journal cannot be read.
        """
        for lines in self._tail.read_line_batches():
            for line in lines:
                ended = self._take(line)
                self._tail.skip_line(line)
                if ended is not None:
                    yield ended

    def _take(self, encoded: bytes) -> tuple[TrialRecord, DocumentedRun] | None:
        """Process one line of the journal. Return the run that is complete with this line, or None."""
        try:
            line = decode_line(encoded)
        except DECODE_ERRORS as error:
            raise JournalError(f"{self._tail.path}: this is not a journal record ({error}).") from None
        if isinstance(line, TrialRecord) and is_counted(line.status):
            if line.status in FAILED_STATUSES:
                return line, documented_run(line, {}, {}, model_tag_of(line, self._manifest))
            self._under_way[line.key] = line, {}, {}
        elif isinstance(line, ScoreRecord) and line.scorer in self._names and line.trial in self._under_way:
            record, scores, unscored = self._under_way[line.trial]
            state = state_of_score(line.status, line.value)
            scores[line.scorer] = (line.value or 0.0) if state is ScoreState.SCORED else 0.0
            unscored.pop(line.scorer, None)
            if state is not ScoreState.SCORED:
                unscored[line.scorer] = state
            if len(scores) == len(self._names):
                del self._under_way[line.trial]
                return record, documented_run(record, scores, unscored, model_tag_of(record, self._manifest))
        return None
