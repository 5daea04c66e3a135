"""Converts another program's trial to lines of the journal and a body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.interop.foreign_results import ForeignScore, ForeignTrial
from benchwright.records import ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import TrialBody, encode_json
from benchwright.runs.keys import score_key
from benchwright.runs.trial_prompt import stored_input, stored_target


def trial_line(trial: ForeignTrial, key: str) -> tuple[TrialRecord, bytes]:
    """Return the journal line of a trial, and the trial's encoded body."""
    record = TrialRecord(
        key=key,
        sample=trial.sample,
        target=trial.slot,
        status=trial.status,
        repeat=trial.repeat,
        group=trial.group,
        labels=trial.labels,
        reason=trial.reason,
        requests=[msgspec.structs.replace(one, slot=trial.slot) for one in trial.requests],
        started_at=trial.started_at,
        duration=trial.duration,
    )
    body = TrialBody(
        key=key,
        status=trial.status,
        reason=trial.reason,
        input=stored_input(trial.input, trial.messages),
        target=stored_target(trial.target),
        messages=trial.messages,
        answer=trial.answer,
        artifacts={} if trial.sample_digest is None else {"identity": trial.sample_digest},
        native=trial.native,
    )
    return record, encode_json(body)


def score_lines(trial: ForeignTrial, key: str) -> Iterator[ScoreRecord]:
    """Yield the journal lines of a trial's scores."""
    for name, score in trial.scores.items():
        yield ScoreRecord(
            key=score_key(key, name, ""),
            trial=key,
            scorer=name,
            value=score.value,
            status=score.status,
            span=score.span,
            detail=_detail(score),
            explanation=score.explanation,
        )


def _detail(score: ForeignScore) -> dict[str, Any] | None:
    if score.status is Status.GRADER_ERROR:
        return {"error": score.explanation or "no value", **(score.detail or {})}
    return score.detail
