"""Selection of the conversations (bodies) that a load level keeps, because all of a large load would fill the disk."""

from __future__ import annotations

from benchwright.analysis.load.cached_prompts import MAX_PROMPTS_READ
from benchwright.records import FAILED_STATUSES, TrialRecord


class BodySelector:
    """Decides which conversations of a load level are stored. An instance is called with each trial's record.

    Stored are the conversations of failed trials, of the first trials, and of a `share` of all other trials (chosen
    by trial key). The first trials show whether the server's cache was warm.
    """

    def __init__(self, share: float) -> None:
        self._below = round(share * 2**32)
        self._first = MAX_PROMPTS_READ

    def __call__(self, record: TrialRecord) -> bool:
        """Return True if the conversation of this trial is to be stored. Call it once for each trial, in order."""
        self._first -= 1
        return self._first >= 0 or record.status in FAILED_STATUSES or int(record.key[:8], 16) < self._below
