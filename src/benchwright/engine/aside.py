"""Runs inside a program of the user's: its signals are left alone, and the journal lies where the caller wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult, run
from benchwright.engine.worker import Result, Scored, Solved
from benchwright.runs.journal import Journal

OnTrialDone = Callable[[int, int, Scored], None]
"""Is called with (trials done, trials in the plan, the last one) as each trial is done."""


async def run_aside(
    plan: Plan,
    clients: Mapping[str, ModelClient],
    concurrency: int,
    directory: Path,
    tell: OnTrialDone | None = None,
) -> RunResult:
    """Does a plan with a journal in this directory; an error that every request must meet stops what has not begun.

    Raises:
        UserError: a sample cannot be read, or a scorer needs a target that is not there.
    """
    journal = Journal(directory)
    listeners = [] if tell is None else [_ProgressListener(tell)]
    try:
        return await run(
            plan,
            LocalExecutor(clients, concurrency),
            journal,
            [_SystemicError()],
            listeners,
            signals=False,
        )
    finally:
        journal.close()


class _ProgressListener:
    """Counts what is done."""

    def __init__(self, tell: OnTrialDone) -> None:
        self._tell = tell
        self._total = self._done = 0

    def started(self, total: int, done: int, again: int) -> None:
        self._total = total

    def delivered(self, result: Result) -> None:
        if isinstance(result, Scored):
            self._done += 1
            self._tell(self._done, self._total, result)

    def said(self, text: str) -> None:
        pass

    def ended(self) -> None:
        pass


class _SystemicError:
    """Stops at an error that every further request would meet, and at nothing else."""

    def update(self, result: Result) -> str | None:
        return result.record.reason if isinstance(result, Solved) and result.systemic else None
