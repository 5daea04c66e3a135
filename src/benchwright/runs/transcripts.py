"""The conversations of a run, found in its journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchwright.errors import UserError
from benchwright.records import ScoreRecord, TrialRecord
from benchwright.runs.journal import Body, read_body, read_lines


class Transcript(msgspec.Struct, omit_defaults=True):
    """One attempt at a trial: its line, its body and its scores."""

    trial: TrialRecord
    body: Body
    scores: list[ScoreRecord] = []


def transcripts(directory: Path, sample: str) -> list[Transcript]:
    """Every attempt at a sample, by target, repeat and attempt.

    Raises:
        UserError: the run has no such sample.
    """
    found = sorted(_transcripts(directory, sample), key=_place)
    if not found:
        raise UserError(f"The run {directory.name} has no trial of row {sample} (yet).")
    return found


def _place(transcript: Transcript) -> tuple[str, int, int]:
    trial = transcript.trial
    return trial.target, trial.repeat, trial.attempt


def _transcripts(directory: Path, sample: str) -> Iterator[Transcript]:
    latest: dict[str, Transcript] = {}
    for line in read_lines(directory):
        if isinstance(line, TrialRecord) and line.sample == sample:
            transcript = Transcript(line, read_body(directory, line), [])
            latest[line.key] = transcript
            yield transcript
        elif isinstance(line, ScoreRecord) and line.trial in latest:
            latest[line.trial].scores.append(line)
