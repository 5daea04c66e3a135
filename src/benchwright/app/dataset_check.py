"""Detects that the dataset file changes during an evaluation."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

from benchwright.data.manifest import file_fingerprint
from benchwright.engine.worker import ScoredWork, WorkResult

RESULTS_PER_CHECK = 100
SECONDS_PER_CHECK = 300.0


class DatasetUnchangedRule:
    """Stop rule: ends the run if its dataset file has changed.

    Every 100 trials or 5 minutes, the file's status (size and times) is checked. If the status has changed,
    the file is read again, and its fingerprint is compared.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self._stamp = _stamp(path)
        self._results = 0
        self._next = monotonic() + SECONDS_PER_CHECK

    def update(self, result: WorkResult) -> str | None:
        """Return a reason to stop if a check is due and the dataset has changed. Return None otherwise."""
        if not isinstance(result, ScoredWork):
            return None
        self._results += 1
        if self._results < RESULTS_PER_CHECK and monotonic() < self._next:
            return None
        self._results, self._next = 0, monotonic() + SECONDS_PER_CHECK
        return self.reason()

    def reason(self) -> str | None:
        """Return a reason to stop if the dataset has changed. Return None otherwise."""
        what = self._changed()
        if what is None:
            return None
        return f"Dataset {what} during evaluation. Results may be inconsistent. Use --fresh to restart."

    def _changed(self) -> str | None:
        try:
            stamp = _stamp(self._path)
            if stamp == self._stamp:
                return None
            if file_fingerprint(self._path) != self._fingerprint:
                return "was modified"
            self._stamp = stamp
        except FileNotFoundError:
            return "was deleted"
        except OSError:
            return "became unreadable"
        return None


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
