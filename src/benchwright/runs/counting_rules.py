"""The rules for counting in a run: which attempt of a trial counts, and how a missing score counts.

- **Which attempt counts.** The last attempt in the journal that was not cut off. An attempt is cut off if the
  run was stopped during it (`cancelled`), or if its body is lost (after a power failure). Such an attempt does
  not show anything about the model: the trial is not done, and the next command runs it again. Its requests
  were made all the same, so their tokens and times are counted as spent.
- **How a score counts.** `SCORED`: its value. `NO_ANSWER`: the model answered to the end, but there is nothing
  to score (a refusal, a truncation, a limit, or no answer found). The score counts as 0, because otherwise a
  model that refuses hard questions would win. `FAILED_STATUSES`: something else went wrong (provider, agent or
  pack, grader), or the trial is not scored yet. Then there is no score: the trial is left out of the mean, and
  bounds show how far off the mean could be.

File formats that document another rule (a failure counts as 0) use that rule, and state so.
"""

from __future__ import annotations

from enum import IntEnum

from benchwright.records import FAILED_STATUSES, Status

TOKEN_LIMIT_STATUSES = frozenset({Status.TRUNCATED, Status.CUT_OFF_IN_THINKING})
"""Statuses of a trial whose last response reached its token limit."""

NO_ANSWER_STATUSES = TOKEN_LIMIT_STATUSES | {Status.UNPARSED, Status.REFUSED, Status.LIMIT}
"""Statuses of a trial whose score counts as 0 because the model returned no answer that can be scored."""

FAILURE_STATUSES = FAILED_STATUSES - {Status.CANCELLED} | {Status.GRADER_ERROR}
"""Statuses of a finished trial that failed."""


class ScoreState(IntEnum):
    """How the score of a trial counts: by its value, as 0 because there is no answer, or not at all."""

    SCORED = 0
    NO_ANSWER = 1
    FAILED = 2


STATUS_BY_SCORE_STATE = {
    ScoreState.SCORED: Status.SCORED,
    ScoreState.NO_ANSWER: Status.UNPARSED,
    ScoreState.FAILED: Status.GRADER_ERROR,
}
"""Mapping from the state of a score to the status that an answered trial gets from it."""


def is_counted(status: Status) -> bool:
    """Return True if an attempt with this status counts, so that its trial is done."""
    return status is not Status.CANCELLED


def state_of_missing_score(trial: Status) -> ScoreState:
    """Return the state of a score that does not exist yet. It follows from the status of the trial."""
    return ScoreState.NO_ANSWER if trial in NO_ANSWER_STATUSES else ScoreState.FAILED


def state_of_score(status: Status, value: float | None) -> ScoreState:
    """Return the state of a score, given its status and value.

    A value that is not finite is a failure of the grader.
    """
    if value is not None:
        return ScoreState.SCORED if abs(value) < float("inf") else ScoreState.FAILED
    return ScoreState.FAILED if status is Status.GRADER_ERROR else ScoreState.NO_ANSWER


_WITH_SCORES = frozenset({Status.ANSWERED, Status.SCORED, Status.UNPARSED, Status.GRADER_ERROR})


def combine_statuses(status: Status, scores: list[Status]) -> Status:
    """Combine the status of a trial with the statuses of its scores.

    They may be given all at once or in several calls. A failed, refused, truncated or limited trial keeps its
    status. An answered trial becomes `grader_error` if any scorer failed. If no scorer failed, it becomes
    `unparsed` if any scorer found no answer, and `scored` if all found one. It stays `answered` while it has no
    scores.
    """
    if status not in _WITH_SCORES or not scores:
        return status
    for worst in (Status.GRADER_ERROR, Status.UNPARSED):
        if status is worst or worst in scores:
            return worst
    return Status.SCORED
