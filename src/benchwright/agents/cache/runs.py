"""The runs of an eval under their documented names, projected from its journal row by row.

The journal is read once into a few numbers per trial; the runs themselves are made one at a time, so that a
run of a million trials is written in the memory of one of ten.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

from benchwright.engine.journal import TRIALS, decode_line, read_placed_lines
from benchwright.engine.key_index import KeyIndex
from benchwright.engine.manifest import Manifest
from benchwright.records import FAILED, ScoreRecord, Status, TrialRecord

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
    """The runs of a journal by row, model (primary first) and run; of several attempts the last."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._path = directory / TRIALS
        self._scorers = [scorer.name for scorer in manifest.scorers]
        self._slots = [target.slot for target in manifest.targets]
        self._tagged = len(self._slots) > 1
        self._scores = KeyIndex()
        rows, slots, repeats, offsets = array("q"), array("q"), array("q"), array("q")
        for offset, line in read_placed_lines(directory):
            if isinstance(line, ScoreRecord):
                self._scores.add(line.trial, offset)
            elif isinstance(line, TrialRecord) and line.status is not Status.CANCELLED:
                rows.append(int(line.sample))
                slots.append(self._slots.index(line.target))
                repeats.append(line.repeat)
                offsets.append(offset)
        self._offsets = _in_order(rows, slots, repeats, offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[DocumentedRun]:
        for record, file in self._placed():
            yield self._run(record, file)

    def records(self) -> Iterator[TrialRecord]:
        """The journal's own lines of these runs."""
        for record, _ in self._placed():
            yield record

    def tag(self, record: TrialRecord) -> str | None:
        """The documented `model_tag` of a line: only where there are several models."""
        return record.target if self._tagged else None

    def _placed(self) -> Iterator[tuple[TrialRecord, IO[bytes]]]:
        """Each run's line, and the file that it is in."""
        if not len(self._offsets):
            return
        with self._path.open("rb", NEAR) as file:
            for offset in self._offsets:
                record = _line_at(file, offset)
                assert isinstance(record, TrialRecord)
                yield record, file

    def _run(self, record: TrialRecord, file: IO[bytes]) -> DocumentedRun:
        success = record.status not in FAILED
        return DocumentedRun(
            row_index=int(record.sample),
            run_index=record.repeat,
            success=success,
            scores=self._scores_of(record, file) if success else {},
            duration_ms=round(record.duration / 1e6, 3),
            tokens=sum(request.usage.total_tokens for request in record.requests if request.role == "model"),
            model_tag=self.tag(record),
            error=None if success else (record.reason or str(record.status)),
        )

    def _scores_of(self, record: TrialRecord, file: IO[bytes]) -> dict[str, float]:
        """Every scorer's value; one that failed, or found no answer, counts as 0.0."""
        scores = dict.fromkeys(self._scorers, 0.0)
        for offset in self._scores.find(record.key):
            score = _line_at(file, offset)
            if not isinstance(score, ScoreRecord) or score.trial != record.key:
                continue  # an index knows only the beginning of a key
            if score.value is not None and score.scorer in scores:
                scores[score.scorer] = score.value
        return scores


def _line_at(file: IO[bytes], offset: int) -> object:
    file.seek(offset)
    return decode_line(file.readline())


def _in_order(rows: array[int], slots: array[int], repeats: array[int], offsets: array[int]) -> Sequence[int]:
    """The offsets by row, slot and repeat, of equal ones the last."""
    if not rows:
        return array("q")
    import numpy as np

    columns = [np.frombuffer(column, np.int64) for column in (offsets, repeats, slots, rows)]
    order = np.lexsort(columns)
    sorted_offsets, *keys = (column[order] for column in columns)
    last = np.ones(len(order), bool)
    last[:-1] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return array("q", sorted_offsets[last].tobytes())
