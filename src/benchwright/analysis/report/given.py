"""Preview of a trial for display: its input, the expected answer, and the model's answer, truncated."""

from __future__ import annotations

from pathlib import Path

from benchwright.analysis.gists import gist, gist_on_disk
from benchwright.analysis.report.conversations import LARGEST_BODY
from benchwright.analysis.report.pieces import cut, find_span
from benchwright.analysis.report.records import Given
from benchwright.runs.scored import ScoredTrial

LONGEST = 600
"""Maximum number of characters of one text; the conversation has the full text."""


def given_on_disk(directory: Path, trial: ScoredTrial) -> Given:
    """Return the preview of an attempt, reading its body from the run's directory."""
    small = trial.record.body[1] <= LARGEST_BODY
    told = gist_on_disk(directory, trial) if small else gist(trial, None)
    answer = (told.answer or "").strip("\n")
    spans = (find_span(answer, score.span) for score in trial.scores.values())
    return Given(
        input=cut((told.input or "").strip("\n"), LONGEST),
        target=cut((told.target or "").strip("\n"), LONGEST),
        answer=cut(answer, LONGEST, next(filter(None, spans), None)),
    )
