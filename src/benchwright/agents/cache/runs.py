"""The runs of an eval under their documented names, projected from its journal row by row.

The journal is read once into a few numbers per trial; the runs themselves are made one at a time, so that a
run of a million trials is written in the memory of one of ten.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import IO

import msgspec

from benchwright.errors import JournalError
from benchwright.records import FAILED, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import TRIALS, decode_line, read_placed_lines
from benchwright.runs.key_index import KeyIndex
from benchwright.runs.manifest import Manifest

NOWHERE = -1

NEAR = 65_536
"""Bytes that are read at a time: the lines of neighbouring rows are not far from each other."""


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


class DocumentedRuns:
    """The runs of a journal by row, model (primary first) and run; of several attempts the last.

    Raises:
        JournalError: the journal has more repeats than its manifest.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._path = directory / TRIALS
        self._slots = [target.slot for target in manifest.targets]
        self._repeats = manifest.repeats
        self._tagged = len(self._slots) > 1
        self._trials = _Offsets()
        self._scores = {scorer.name: _Offsets() for scorer in manifest.scorers}
        self._scored_later = KeyIndex()
        self._read(directory)

    def _read(self, directory: Path) -> None:
        """Notes where the lines of each run are; scores follow soon on their trial, but for those made again."""
        unscored: dict[str, int] = {}
        for offset, line in read_placed_lines(directory):
            if isinstance(line, ScoreRecord):
                place = unscored.get(line.trial)
                if place is None:
                    self._scored_later.add(line.trial, offset)
                elif line.scorer in self._scores:
                    self._scores[line.scorer].put(place, offset)
                    if all(place in offsets for offsets in self._scores.values()):
                        del unscored[line.trial]
            elif isinstance(line, TrialRecord) and line.status is not Status.CANCELLED:
                place = self._place(line)
                self._trials.put(place, offset)
                for offsets in self._scores.values():
                    offsets.put(place, NOWHERE)
                if line.status not in FAILED and self._scores:
                    unscored[line.key] = place

    def _place(self, record: TrialRecord) -> int:
        if record.repeat >= self._repeats:
            raise JournalError(
                f"{self._path} has repeat {record.repeat + 1} of {self._repeats}: its run.json is another run's."
            )
        row = int(record.sample) * len(self._slots) + self._slots.index(record.target)
        return row * self._repeats + record.repeat

    def __len__(self) -> int:
        return self._trials.count

    def __iter__(self) -> Iterator[DocumentedRun]:
        for place, record, file in self._placed():
            yield self._run(place, record, file)

    def records(self) -> Iterator[TrialRecord]:
        """The journal's own lines of these runs."""
        for _, record, _ in self._placed():
            yield record

    def tag(self, record: TrialRecord) -> str | None:
        """The documented `model_tag` of a line: only where there are several models."""
        return record.target if self._tagged else None

    def _placed(self) -> Iterator[tuple[int, TrialRecord, IO[bytes]]]:
        """Each run's place, its line, and the file that it is in."""
        if not len(self):
            return
        with self._path.open("rb", NEAR) as file:
            for place, offset in self._trials:
                record = _line_at(file, offset)
                assert isinstance(record, TrialRecord)
                yield place, record, file

    def _run(self, place: int, record: TrialRecord, file: IO[bytes]) -> DocumentedRun:
        success = record.status not in FAILED
        return DocumentedRun(
            row_index=int(record.sample),
            run_index=record.repeat,
            success=success,
            scores=self._scores_of(place, record, file) if success else {},
            duration_ms=round(record.duration / 1e6, 3),
            tokens=sum(request.usage.total_tokens for request in record.requests if request.role == "model"),
            model_tag=self.tag(record),
            error=None if success else (record.reason or str(record.status)),
        )

    def _scores_of(self, place: int, record: TrialRecord, file: IO[bytes]) -> dict[str, float]:
        """Every scorer's value; one that failed, or found no answer, counts as 0.0."""
        scores = dict.fromkeys(self._scores, 0.0)
        at_once = [offsets.at(place) for offsets in self._scores.values() if place in offsets]
        for offset in [*at_once, *self._scored_later.find(record.key)]:
            score = _line_at(file, offset)
            if not isinstance(score, ScoreRecord) or score.trial != record.key:
                continue  # an index knows only the beginning of a key
            if score.value is not None and score.scorer in scores:
                scores[score.scorer] = score.value
        return scores


class _Offsets:
    """Offsets by place, 8 bytes a place; places are filled about in their order."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self.count = 0

    def put(self, place: int, offset: int) -> None:
        """Sets the offset of a place, or takes it away with `NOWHERE`."""
        missing = place + 1 - len(self._offsets)
        if missing > 0:
            self._offsets.extend(repeat(NOWHERE, missing))
        self.count += (offset != NOWHERE) - (self._offsets[place] != NOWHERE)
        self._offsets[place] = offset

    def at(self, place: int) -> int:
        """The offset of a place that has one."""
        return self._offsets[place]

    def __contains__(self, place: int) -> bool:
        return place < len(self._offsets) and self._offsets[place] != NOWHERE

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((place, offset) for place, offset in enumerate(self._offsets) if offset != NOWHERE)


def _line_at(file: IO[bytes], offset: int) -> object:
    file.seek(offset)
    return decode_line(file.readline())
