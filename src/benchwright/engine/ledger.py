"""The ledger: what a journal already holds, so that only the rest is done.

Finished keys are kept as sorted arrays of 64-bit prefixes: 16 bytes a trial and 8 a score.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

from benchwright.engine.journal import read_body
from benchwright.engine.keys import key_prefix
from benchwright.records import ASKED_AGAIN, JournalLine, Outcome, ScoreRecord, TrialRecord


class Ledger:
    """Answers, for a trial of the plan, what of it is already done."""

    def __init__(self, directory: Path, lines: Iterable[JournalLine]) -> None:
        self._directory = directory
        keys, offsets, scores = array("Q"), array("Q"), array("Q")
        self._attempts: dict[int, int] = {}
        for line in lines:
            if isinstance(line, ScoreRecord):
                scores.append(key_prefix(line.key))
            elif isinstance(line, TrialRecord):
                key = key_prefix(line.key)
                if line.status in ASKED_AGAIN:
                    self._attempts[key] = self._attempts.get(key, 0) + 1
                else:
                    keys.append(key)
                    offsets.append(line.body[0])
        self._keys, self._offsets = _sorted_pairs(keys, offsets)
        self._scores, _ = _sorted_pairs(scores, scores)

    @property
    def finished(self) -> int:
        """How many trials need no further request to their model."""
        return len(self._keys)

    def is_finished(self, trial_key: str) -> bool:
        """Whether the trial needs no further request to its model."""
        return _find(self._keys, trial_key) is not None

    def is_scored(self, score_key: str) -> bool:
        """Whether the score with this key is there."""
        return _find(self._scores, score_key) is not None

    def attempts(self, trial_key: str) -> int:
        """How many attempts at the trial failed and are to be made again."""
        return self._attempts.get(key_prefix(trial_key), 0)

    def outcome(self, trial_key: str) -> Outcome:
        """The outcome of a finished trial, read back from its body to be scored.

        Raises:
            JournalError: the body is gone.
        """
        position = _find(self._keys, trial_key)
        assert position is not None, "only the outcome of a finished trial can be read"
        body = read_body(self._directory, self._offsets[position])
        return Outcome(
            status=body.status,
            messages=body.messages,
            answer=body.answer,
            reason=body.reason,
            scores=body.scores,
            artifacts=body.artifacts,
            native=body.native,
        )


def _find(keys: array[int], key: str) -> int | None:
    prefix = key_prefix(key)
    position = bisect_left(keys, prefix)
    return position if position < len(keys) and keys[position] == prefix else None


def _sorted_pairs(keys: array[int], values: array[int]) -> tuple[array[int], array[int]]:
    if not keys:
        return keys, values
    import numpy

    columns = numpy.frombuffer(keys, numpy.uint64), numpy.frombuffer(values, numpy.uint64)
    order = columns[0].argsort(kind="stable")
    return array("Q", columns[0][order].tobytes()), array("Q", columns[1][order].tobytes())
