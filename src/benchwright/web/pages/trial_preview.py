"""The short view of a trial at the top of its page. The other trials of the same sample are beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.analysis.report.records import TextPieces
from benchwright.analysis.report.text_pieces import find_span, shorten_to_pieces
from benchwright.analysis.suspicious_passes import kind_in_words
from benchwright.analysis.trial_preview import read_preview, score_explanation, trial_notes
from benchwright.runs.attempts import ScoredTrial
from benchwright.web.pages.trial_addresses import TrialPlace, row_address
from benchwright.web.run_trials import RunTrials
from benchwright.web.text import MAX_PAGE_TEXT_LENGTH

MAX_SIDE_BY_SIDE = 12
"""Maximum number of trials and attempts that are shown side by side."""

MAX_TEXT_LENGTH = 2_000
"""Maximum number of characters of one text of a trial, if the trial is shown beside others."""


def preview_values(directory: Path, trial: ScoredTrial, most: int = MAX_PAGE_TEXT_LENGTH) -> dict[str, Any]:
    """Return the short view of a trial: input, expected and given answer, scores with reasons, notes, flags.

    The extracted answer is marked. `most`: maximum number of characters of each text.
    """
    told = read_preview(directory, trial)
    native = {name: value for name, value in trial.record.scores.items() if name not in trial.scores}
    scores = [
        {
            "name": name,
            "value": score.value,
            "status": score.status,
            "why": _cut(score_explanation(score, told.target), most),
        }
        for name, score in trial.scores.items()
    ]
    scores += [{"name": name, "value": value, "status": None, "why": []} for name, value in native.items()]
    return {
        "input": _cut(told.input, most),
        "target": _cut(told.target, most),
        "answer": _marked(told.answer, trial, most),
        "answered": told.answer is not None,
        "scores": scores,
        "why": [] if trial.scores else _cut(told.explanation, most),
        "notes": [_cut(note, most) for note in trial_notes(trial.record)],
        "flags": [
            {"kind": kind_in_words(flag.kind), "evidence": _cut(flag.evidence, most)} for flag in trial.flags
        ],
    }


def same_sample_trials(trials: RunTrials, place: TrialPlace, number: int) -> list[dict[str, Any]]:
    """Return all trials of a sample (its repeats, models and attempts). Empty if the sample has only this trial."""
    found = []
    for row in trials.trials_of_sample(trials.table.sample[number])[:MAX_SIDE_BY_SIDE]:
        attempts = trials.table.read_attempts(row.number)
        counting = trials.table.read_trial(row.number)
        for turn, attempt in enumerate(attempts):
            found.append(
                {
                    "row": row,
                    "attempt": turn + 1 if len(attempts) > 1 else None,
                    "current": row.number == number and attempt == counting,
                    "status": attempt.status,
                    "trial": attempt,
                    "href": row_address(place, row),
                }
            )
    return found[:MAX_SIDE_BY_SIDE] if len(found) > 1 else []


def _marked(answer: str | None, trial: ScoredTrial, most: int) -> TextPieces:
    if not answer:
        return []
    spans = (find_span(answer, score.span) for score in trial.scores.values())
    whole = (0, len(answer))  # a mark over the whole answer means nothing
    return shorten_to_pieces(answer, most, next((span for span in spans if span not in (None, whole)), None))


def _cut(text: str | None, most: int) -> TextPieces:
    return shorten_to_pieces(text, most) if text else []
