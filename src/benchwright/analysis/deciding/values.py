"""The least and the most that a trial is worth: they differ where it failed."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.analysis.scores import scale_of
from benchwright.errors import UserError
from benchwright.records import FAILED
from benchwright.runs.counting import ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

ACCURACY = "accuracy"
"""A benchmark's share of right answers: 1 where its grader says so."""


class Ends(NamedTuple):
    """The least and the most of a score from 0 to 1."""

    least: float
    most: float


class OutOfRange(UserError):
    """A score without known bounds: nothing can be said of its mean before all is known."""


def range_of(manifest: Manifest, score: str) -> tuple[float, float]:
    """The range of a score; 0 to 1 where nothing else is known."""
    return scale_of(manifest, score).range or (0.0, 1.0)


def is_complete(manifest: Manifest, table: RunTable, row: int) -> bool:
    """Whether a trial is done and scored as far as it will be."""
    if not table.is_done(row):
        return False
    if table.status_of(row) in FAILED:
        return True
    return all(table.is_scored(row, scorer.name) for scorer in manifest.scorers)


def ends_of(manifest: Manifest, table: RunTable, row: int, score: str) -> Ends:
    """What a trial is worth by a score, by the rule of `runs.counting`; a failure may be worth anything.

    Raises:
        OutOfRange: the score lies outside of its range.
    """
    name = manifest.scorers[0].name if manifest.kind == "benchmark" else score
    column = table.scores.get(name)
    state = ScoreState.FAILED if column is None else ScoreState(column.state(row))
    if state is ScoreState.FAILED or column is None:
        return Ends(0.0, 1.0)
    if state is ScoreState.NO_ANSWER:
        return Ends(0.0, 0.0)
    if manifest.kind == "benchmark" and score == ACCURACY:
        right = float(table.correct[name][row] == 2)
        return Ends(right, right)
    value = column.value(row)
    assert value is not None
    return scaled(value, range_of(manifest, score), score)


def scaled(value: float, ends: tuple[float, float], score: str) -> Ends:
    """A value on the scale from 0 to 1.

    Raises:
        OutOfRange: it is not on it.
    """
    low, high = ends
    if not low <= value <= high:
        raise OutOfRange(
            f"The score {score!r} is {value:g}, beyond {low:g} to {high:g}: --until needs scores with known bounds."
        )
    place = (value - low) / (high - low)
    return Ends(place, place)
