"""The last attempt at every trial with its scores, in the order in which the trials were first begun.

The journal is read once into a few numbers per trial; the lines themselves are read again one at a time, so
that a run of a million trials is gone through in the memory of one of ten.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from benchwright.records import FAILED, Record, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import TRIALS, decode_line, read_placed_lines
from benchwright.runs.key_index import KeyIndex
from benchwright.runs.keys import key_prefix


class FinalTrial(Record, frozen=True):
    """A trial's last attempt, and its scores by the name of the scorer."""

    record: TrialRecord
    scores: dict[str, ScoreRecord]


class FinalTrials:
    """Goes through the trials of a run, of one `slot` or of all; may be gone through several times."""

    def __init__(self, directory: Path, slot: str | None = None) -> None:
        self._path = directory / TRIALS
        self._scores = KeyIndex()
        keys, begun, offsets = array("Q"), array("q"), array("q")
        for offset, line in read_placed_lines(directory):
            if isinstance(line, ScoreRecord):
                self._scores.add(line.trial, offset)
            elif (
                isinstance(line, TrialRecord)
                and line.status is not Status.CANCELLED
                and slot in (None, line.target)
            ):
                keys.append(key_prefix(line.key))
                begun.append(line.started_at)
                offsets.append(offset)
        self._offsets = _last_of_each(keys, begun, offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[FinalTrial]:
        if not len(self._offsets):
            return
        with self._path.open("rb") as file:
            for offset in self._offsets:
                record = _line_at(file, offset)
                assert isinstance(record, TrialRecord)
                yield FinalTrial(record, self._scores_of(record, file))

    def _scores_of(self, record: TrialRecord, file: IO[bytes]) -> dict[str, ScoreRecord]:
        found: dict[str, ScoreRecord] = {}
        if record.status in FAILED:
            return found  # scores of an earlier attempt are none of this one's
        for offset in self._scores.find(record.key):
            score = _line_at(file, offset)
            if (
                isinstance(score, ScoreRecord) and score.trial == record.key
            ):  # an index knows a key's beginning only
                found[score.scorer] = score
        return found


def _line_at(file: IO[bytes], offset: int) -> object:
    file.seek(offset)
    return decode_line(file.readline())


def _last_of_each(keys: array[int], begun: array[int], offsets: array[int]) -> Sequence[int]:
    """The last offset of each key, in the order of the first beginning of its attempts."""
    if not keys:
        return array("q")
    import numpy as np

    key, start, offset = (
        np.frombuffer(keys, np.uint64),
        np.frombuffer(begun, np.int64),
        np.frombuffer(offsets, np.int64),
    )
    order = np.lexsort((offset, key))
    key, start, offset = key[order], start[order], offset[order]
    changes = np.flatnonzero(key[1:] != key[:-1])
    first = np.concatenate([[0], changes + 1])
    last = np.concatenate([changes, [len(key) - 1]])
    chosen: Sequence[int] = offset[last][np.lexsort((offset[first], start[first]))].tolist()
    return chosen
