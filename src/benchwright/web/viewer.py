"""The state that all pages share: the runs, the trials of viewed runs, and cached summaries and results."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiohttp import web

from benchwright.runs.journal import TRIALS_FILE
from benchwright.web.pack_cells import LiveCellReader
from benchwright.web.run_trials import RunTrials
from benchwright.web.runs_index import RunsIndex

if TYPE_CHECKING:
    from benchwright.analysis.leaderboard.records import Leaderboard
    from benchwright.analysis.load.plot_data import DetailedLoad
    from benchwright.app.comparing import ComparisonWithTimes
    from benchwright.web.launched_commands import LaunchedCommands

MAX_CACHED_TRIALS = 400_000
"""Maximum number of trials that are kept in memory, over all runs.

The trials of the last viewed run are always kept.
"""

MAX_CACHED_FIGURES = 100
"""Maximum number of runs whose figures are cached."""

MAX_CACHED_RESULTS = 8
"""Maximum number of cached results of each kind: comparisons, load measurements, leaderboards."""

Result = TypeVar("Result")

RECOMPUTE_FACTOR = 10
"""The figures of a running run are computed again after a pause of this many times the last computation's duration."""


class ResultCache(Generic[Result]):
    """A cache of the latest results. The key of a result must contain all that the result depends on.

    Only one result is computed at a time.
    """

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = Lock()

    def get_or_compute(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result for a key. If the result is not cached, `make` computes it."""
        with self._lock:
            if key not in self._results:
                self._results[key] = make()
            self._results.move_to_end(key)
            while len(self._results) > MAX_CACHED_RESULTS:
                self._results.popitem(last=False)
            return self._results[key]


class _Figures:
    """The figures of a run, and the size of the journal from which the figures were computed."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.made: dict[str, Any] | None = None
        self.size = -1
        self.again_at = 0.0


class Viewer:
    """The state of the viewer, cached by run. If a journal has grown, only its new lines are read."""

    def __init__(self, started: LaunchedCommands) -> None:
        self.runs = RunsIndex()
        self.started = started
        self.closing = Event()
        self.comparisons: ResultCache[ComparisonWithTimes] = ResultCache()
        self.loads: ResultCache[list[DetailedLoad]] = ResultCache()
        self.leaderboards: ResultCache[Leaderboard] = ResultCache()
        self._lock = Lock()
        self._trials: OrderedDict[str, RunTrials] = OrderedDict()
        self._figures: OrderedDict[str, _Figures] = OrderedDict()
        self._cells: dict[str, LiveCellReader] = {}

    def trials(self, run: str) -> RunTrials:
        """Return the trials of a run, as far as its journal has been read.

        Raises:
            UserError: If there is no such run.
        """
        directory, manifest = self.runs.directory(run), self.runs.manifest(run)
        with self._lock:
            trials = self._trials.pop(run, None)
            if trials is None or trials.table.bytes_read > trials.table.journal_size():
                trials = RunTrials(directory, [scorer.name for scorer in manifest.scorers])
            self._trials[run] = trials
            while (
                len(self._trials) > 1
                and sum(len(one.table) for one in self._trials.values()) > MAX_CACHED_TRIALS
            ):
                self._trials.popitem(last=False)
        return trials

    def live_cells(self, run: str) -> LiveCellReader:
        """Return the reader of the progress messages in a pack's run.

        Raises:
            UserError: If there is no such run.
        """
        directory = self.runs.directory(run)
        with self._lock:
            return self._cells.setdefault(run, LiveCellReader(directory))

    def figures(
        self, run: str, make: Callable[[], dict[str, Any]], *, running: bool
    ) -> tuple[dict[str, Any], bool]:
        """Return the figures of a run, and True if these figures belong to the current journal. `make`: computes them.

        For a running run, recently computed figures may be returned instead.

        Raises:
            UserError: If there is no such run.
            JournalError: If the journal cannot be read.
        """
        directory = self.runs.directory(run)
        with self._lock:
            kept = self._figures.setdefault(run, _Figures())
            self._figures.move_to_end(run)
            if len(self._figures) > MAX_CACHED_FIGURES:
                self._figures.popitem(last=False)
        with kept.lock:
            size = _size(directory / TRIALS_FILE)
            rested = not running or time.monotonic() >= kept.again_at
            if kept.made is None or (size != kept.size and rested):
                begun = time.monotonic()
                kept.made, kept.size = make(), size
                ended = time.monotonic()
                kept.again_at = ended + RECOMPUTE_FACTOR * (ended - begun)
            return kept.made, kept.size == size


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


VIEWER_KEY: web.AppKey[Viewer] = web.AppKey("viewer", Viewer)
