"""The lowest and highest possible value of a trial. They are equal for a scored trial and different for a
failed one.
"""

from __future__ import annotations

from typing import NamedTuple

from benchwright.analysis.scores import score_scale_of
from benchwright.errors import UserError
from benchwright.records import FAILED_STATUSES
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

ACCURACY_SCORE = "accuracy"
"""Name of the score that is a benchmark's share of right answers.

A trial has the value 1 if its grader found it correct, and 0 otherwise.
"""


class ScoreBounds(NamedTuple):
    """The lowest and the highest possible value of a score from 0 to 1."""

    lowest: float
    highest: float


class ScoreOutOfRange(UserError):
    """Error: a score has no known range, or a value is outside of its range.

    The mean of such a score cannot be bounded before all its values are known.
    """


def score_range(manifest: Manifest, score: str) -> tuple[float, float]:
    """Return the range of a score. It is 0 to 1 if the range is unknown."""
    return score_scale_of(manifest, score).value_range or (0.0, 1.0)


def is_trial_complete(manifest: Manifest, table: RunTable, row: int) -> bool:
    """Return True if a trial is done and no more scores will follow."""
    if not table.is_counted(row):
        return False
    if table.status_of(row) in FAILED_STATUSES:
        return True
    return all(table.is_scored(row, scorer.name) for scorer in manifest.scorers)


def score_bounds_of(manifest: Manifest, table: RunTable, row: int, score: str) -> ScoreBounds:
    """Return the lowest and highest possible value of a trial by a score, by the rule of `runs.counting`.

    A failed trial may have any value.

    Raises:
        ScoreOutOfRange: If the score is outside of its range.
    """
    name = manifest.scorers[0].name if manifest.kind == "benchmark" else score
    column = table.scores.get(name)
    state = ScoreState.FAILED if column is None else ScoreState(column.state(row))
    if state is ScoreState.FAILED or column is None:
        return ScoreBounds(0.0, 1.0)
    if state is ScoreState.NO_ANSWER:
        return ScoreBounds(0.0, 0.0)
    if manifest.kind == "benchmark" and score == ACCURACY_SCORE:
        right = float(table.correct[name][row] == 2)
        return ScoreBounds(right, right)
    value = column.value(row)
    assert value is not None
    return scale_score(value, score_range(manifest, score), score)


def scale_score(value: float, ends: tuple[float, float], score: str) -> ScoreBounds:
    """Return a score's value, mapped linearly from its range `ends` to the range from 0 to 1.

    Raises:
        ScoreOutOfRange: If the value is outside of the range.
    """
    low, high = ends
    if not low <= value <= high:
        raise ScoreOutOfRange(
            f"The score {score!r} is {value:g}, beyond {low:g} to {high:g}: --until needs scores with known bounds."
        )
    place = (value - low) / (high - low)
    return ScoreBounds(place, place)
