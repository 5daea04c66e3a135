"""Observer of a pack's run: writes its documented event and log files, and tracks the state of each cell."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.errors import BenchwrightError
from benchwright.packs.events import PackEvents
from benchwright.packs.execution_modes import DEFAULT_MODE
from benchwright.packs.results import (
    Attempt,
    CellState,
    PackResults,
    PackScore,
    group_attempts,
    make_attempt,
    read_attempts,
)
from benchwright.packs.run_files import PackFiles, read_events
from benchwright.packs.task import PackRunSetup, PackTask
from benchwright.records import RequestRecord, Status, TrialRecord
from benchwright.runs.journal import decode_body
from benchwright.runs.table import RunTable

LOGGER = logging.getLogger("benchwright.pack")


class PackObserver:
    """Listener of a pack's run, and watcher of the pack's process. It writes the documented event and log files.

    It keeps the last attempt at each cell (scenario, model, repeat), including attempts of earlier sessions, so that no
    result has to be read back from the journal. `table`: the run's table, None before there is one.
    """

    def __init__(self) -> None:
        self.setup: PackRunSetup | None = None
        self.table: RunTable | None = None
        self.cells: dict[tuple[str, str], CellState] = {}
        self.uncelled = 0
        self._attempts: dict[str, Attempt] = {}
        self._events: PackEvents | None = None
        self._files: PackFiles | None = None
        self._early: list[tuple[str, str, Any]] = []

    @contextmanager
    def write_files(
        self,
        table: RunTable,
        task: PackTask,
        repeats: int,
        mode: str,
        made_again: Callable[[TrialRecord], bool],
    ) -> Iterator[None]:
        """Open the event and log files while the run is in progress. Close them on exit.

        Raises:
            JournalError: If the journal cannot be read.
        """
        self.table, directory = table, table.directory
        task.set_run_directory(directory)
        setup = self.setup = task.setup
        with PackFiles(directory) as files:
            self._files = files
            for line in self._early:
                files.write_log_line(*line)
            grouped = mode == DEFAULT_MODE
            events = self._events = PackEvents(
                directory.name, setup.models, setup.scenarios, repeats, files.write_event, grouped=grouped
            )
            for record, attempt in read_attempts(table):
                self._attempts[record.key] = attempt
                if not made_again(record):
                    events.add_earlier_attempt(attempt.slot, attempt.scenario, attempt.repeat, attempt.result)
                    self._state(attempt.slot, attempt.scenario).add(attempt)
            events.read_earlier_events(read_events(directory))
            try:
                yield
            except BenchwrightError as error:
                events.run_error(str(error))
                raise
            finally:
                self.uncelled = files.requests
                self._files = None

    def current_results(self) -> PackResults:
        """Return the results so far: the last attempt at each cell (scenario, model, repeat)."""
        assert self.setup is not None
        scenarios = [scenario.id for scenario in self.setup.scenarios]
        return group_attempts(self._attempts.values(), list(self.setup.models), scenarios)

    def on_start(self, total: int, done: int, again: int) -> None:
        """Do nothing: the documented event is written when the pack is prepared. Called when the run starts."""

    def on_result(self, result: WorkResult) -> None:
        """Store a finished attempt and write its event. Called for each result of the run."""
        if not isinstance(result, SolvedWork) or self._events is None:
            return
        state = self._state(result.record.target, result.record.sample)
        if result.record.status is Status.CANCELLED:
            state.running_since = None
            return
        attempt = make_attempt(result.record, decode_body(result.body, result.record).native)
        self._attempts[result.record.key] = attempt
        state.add(attempt)
        self._events.cell_finished(attempt.slot, attempt.scenario, attempt.repeat, attempt.result)

    def on_message(self, text: str) -> None:
        """Do nothing: messages of the run are not in the documented files."""

    def on_end(self) -> None:
        """Do nothing: `write_last_event` writes the last event."""

    def on_prepared(self) -> None:
        """Write the event that the run has started. Called when the pack is prepared."""
        if self._events is not None:
            self._events.run_started()

    def on_cell_start(self, slot: str, scenario: str, repeat: int) -> None:
        """Record that a cell (scenario, model, repeat) is running, and write its event."""
        self._state(slot, scenario).running_since = monotonic()
        if self._events is not None:
            self._events.cell_started(slot, scenario, repeat)

    def on_cell_progress(self, slot: str, scenario: str, event: Mapping[str, Any]) -> None:
        """Record a progress message of a cell (scenario, model, repeat), and write its event."""
        message = str(event.get("message", ""))
        self._state(slot, scenario).message = message
        if self._events is not None:
            self._events.cell_progress(slot, scenario, message)

    def on_verifier_progress(self, **payload: Any) -> None:
        """Write the event that a verifier is being prepared."""
        if self._events is not None:
            self._events.verifier_preparing(**payload)

    def log(self, level: str, message: str, meta: Any) -> None:
        """Write a log line of the pack.

        Lines that come before the run has files are kept, and written once it has them.
        """
        LOGGER.debug("%s%s", message, "" if meta is None else f"\n{meta}")
        if self._files is not None:
            self._files.write_log_line(level, message, meta)
        elif self.table is None:
            self._early.append((level, message, meta))

    def on_request(self, record: RequestRecord) -> None:
        """Write a request that belongs to no cell, for example one during the preparation."""
        if self._files is not None:
            self._files.log_request(record)

    def write_last_event(self, directory: Path, scores: Mapping[str, PackScore], error: str | None) -> None:
        """Write the last event of the run."""
        if self._events is None:
            return
        with PackFiles(directory) as files:
            self._events.write = files.write_event
            if error is not None:
                self._events.run_error(error)
            else:
                given = {slot: one.score for slot, one in scores.items() if one.score is not None}
                self._events.run_finished(given)

    def _state(self, slot: str, scenario: str) -> CellState:
        return self.cells.setdefault((slot, scenario), CellState())
