"""The one rule of what counts in a run: which attempt of a trial, and what a missing score is worth.

- **Which attempt counts.** The last one in the journal that was not cut off. An attempt is cut off when the run was
  stopped while it was under way (`cancelled`), or when its body is gone (a power loss). Such an attempt says nothing of
  the model: the trial is not done, and the next command asks it again. Its requests were made all the same, and their
  tokens and times are counted as spent.
- **What a score is worth.** `SCORED`: its value. `NO_ANSWER`: the model was asked to the end and gave nothing to score
  (refused, truncated, at a limit, or no answer could be found): it counts 0, or else a model that refuses hard
  questions would win. `FAILED`: something else went wrong (provider, agent or pack, grader), or the trial is not
  scored yet: there is no score, it is left out of the mean, and bounds say how far off the mean could be.

Formats that document another rule (a failure counts 0) keep it, and say so.
"""

from __future__ import annotations

from enum import IntEnum

from benchwright.records import FAILED, Status

CUT_OFF = frozenset({Status.TRUNCATED, Status.CUT_OFF_IN_THINKING})
"""Statuses of a trial whose last answer reached its token limit."""

NO_ANSWER_STATUSES = CUT_OFF | {Status.UNPARSED, Status.REFUSED, Status.LIMIT}
"""Statuses of a trial whose model was asked to the end."""

FAILURES = FAILED - {Status.CANCELLED} | {Status.GRADER_ERROR}
"""Statuses of a finished trial that is a failure."""


class ScoreState(IntEnum):
    """What a trial is worth by one score."""

    SCORED = 0
    NO_ANSWER = 1
    FAILED = 2


STATUS_BY_SCORE = {
    ScoreState.SCORED: Status.SCORED,
    ScoreState.NO_ANSWER: Status.UNPARSED,
    ScoreState.FAILED: Status.GRADER_ERROR,
}
"""What a score in this state makes of a trial that was answered."""


def counts(status: Status) -> bool:
    """Whether an attempt with this status counts, so that its trial is done."""
    return status is not Status.CANCELLED


def state_without_score(trial: Status) -> ScoreState:
    """What a trial is worth by a scorer that has not scored it."""
    return ScoreState.NO_ANSWER if trial in NO_ANSWER_STATUSES else ScoreState.FAILED


def state_of_score(status: Status, value: float | None) -> ScoreState:
    """What a score of this status and value is worth; a value that is not finite is a failure of the grader."""
    if value is not None:
        return ScoreState.SCORED if abs(value) < float("inf") else ScoreState.FAILED
    return ScoreState.FAILED if status is Status.GRADER_ERROR else ScoreState.NO_ANSWER


_WITH_SCORES = frozenset({Status.ANSWERED, Status.SCORED, Status.UNPARSED, Status.GRADER_ERROR})


def trial_status(status: Status, scores: list[Status]) -> Status:
    """Folds the statuses of scores into that of their trial: all at once, or one after the other.

    A failed, refused, cut off or limited trial stays that; an answered one is `grader_error` if any scorer failed,
    else `unparsed` if any found no answer, else `scored` (or `answered` while unscored).
    """
    if status not in _WITH_SCORES or not scores:
        return status
    for worst in (Status.GRADER_ERROR, Status.UNPARSED):
        if status is worst or worst in scores:
            return worst
    return Status.SCORED
