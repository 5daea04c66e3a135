"""Selection of the conversations that a level's journal keeps. A large load would fill the disk with them."""

from __future__ import annotations

from benchwright.analysis.load.cached_prompts import LOOKED_AT
from benchwright.records import FAILED, TrialRecord


class KeptBodies:
    """Keeps the bodies of a share of trials, chosen by their keys, of failed trials, and of the first ones.

    The first ones show whether the server's cache was warm.
    """

    def __init__(self, share: float) -> None:
        self._below = round(share * 2**32)
        self._first = LOOKED_AT

    def __call__(self, record: TrialRecord) -> bool:
        """Return True if the body of this trial is kept."""
        self._first -= 1
        return self._first >= 0 or record.status in FAILED or int(record.key[:8], 16) < self._below
