"""Every attempt at a trial, read from a run's journal."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchwright.errors import JournalError
from benchwright.records import ScoreRecord, TrialRecord
from benchwright.runs.journal import Body, decode_body, read_encoded_body, read_line
from benchwright.web.trial_index import TrialIndex


class Attempt(NamedTuple):
    """An attempt at a trial, as it is in the journal; `body` is None where it cannot be read."""

    record: TrialRecord
    scores: list[ScoreRecord]
    body: Body | None
    encoded: bytes


def attempts_of(directory: Path, index: TrialIndex, number: int) -> list[Attempt]:
    """Every attempt at a trial, the oldest first; call with the index's lock held."""
    found: list[Attempt] = []
    starts = index.attempts(number)
    scores = index.scores(number)
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else None
        record = read_line(directory, start)
        assert isinstance(record, TrialRecord)
        own = [
            line
            for offset in scores
            if offset > start and (end is None or offset < end)
            and isinstance(line := read_line(directory, offset), ScoreRecord)
        ]  # fmt: skip
        encoded = read_encoded_body(directory, record) if record.body[1] else b""
        try:
            body = decode_body(encoded, record)
        except JournalError:
            body = None
        found.append(Attempt(record, own, body, encoded))
    return found
