"""Which conversations of a level the journal keeps: those of a large load take more disk than anyone reads."""

from __future__ import annotations

from benchwright.analysis.load.cached_prompts import LOOKED_AT
from benchwright.records import FAILED, TrialRecord


class KeptBodies:
    """Keeps a share of them, chosen by the keys of trials; besides, what failed, and the first ones.

    By the first ones it is known whether the server's cache was warm.
    """

    def __init__(self, share: float) -> None:
        self._below = round(share * 2**32)
        self._first = LOOKED_AT

    def __call__(self, record: TrialRecord) -> bool:
        """Whether the body of this trial is kept."""
        self._first -= 1
        return self._first >= 0 or record.status in FAILED or int(record.key[:8], 16) < self._below
