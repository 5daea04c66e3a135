"""Preview of a trial for display: the input, the expected answer, and the model's answer, each truncated."""

from __future__ import annotations

from pathlib import Path

from benchwright.analysis.report.conversations import MAX_BODY_BYTES
from benchwright.analysis.report.records import TrialTexts
from benchwright.analysis.report.text_pieces import find_span, shorten_to_pieces
from benchwright.analysis.trial_preview import read_preview, trial_preview
from benchwright.runs.attempts import ScoredTrial

MAX_TEXT_LENGTH = 600
"""Maximum number of characters of each text in a preview. The conversation has the full text."""


def read_trial_texts(directory: Path, trial: ScoredTrial) -> TrialTexts:
    """Return the preview of an attempt, reading its body from the run's directory."""
    small = trial.record.body[1] <= MAX_BODY_BYTES
    told = read_preview(directory, trial) if small else trial_preview(trial, None)
    answer = (told.answer or "").strip("\n")
    spans = (find_span(answer, score.span) for score in trial.scores.values())
    return TrialTexts(
        input=shorten_to_pieces((told.input or "").strip("\n"), MAX_TEXT_LENGTH),
        target=shorten_to_pieces((told.target or "").strip("\n"), MAX_TEXT_LENGTH),
        answer=shorten_to_pieces(answer, MAX_TEXT_LENGTH, next(filter(None, spans), None)),
    )
