"""Runs that a user's own program starts. The program keeps its signal handlers and chooses the run directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult, run
from benchwright.engine.worker import ScoredWork, SolvedWork, WorkResult
from benchwright.runs.journal import Journal

OnTrialDone = Callable[[int, int, ScoredWork], None]
"""Callback that is called whenever a trial is done, with (trials done, trials in the plan, the trial)."""


async def run_embedded(
    plan: Plan,
    clients: Mapping[str, ModelClient],
    concurrency: int,
    directory: Path,
    tell: OnTrialDone | None = None,
) -> RunResult:
    """Run a plan with a journal in `directory`. `tell`: called after each trial.

    The run stops at an error that every further request would meet too (such as a wrong key). Trials that
    have not begun are then left out.

    Raises:
        UserError: If a sample cannot be read, or a scorer needs a target that the run lacks.
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
    """Listener that counts the trials that are done and reports each to the user's callback."""

    def __init__(self, tell: OnTrialDone) -> None:
        self._tell = tell
        self._total = self._done = 0

    def on_start(self, total: int, done: int, again: int) -> None:
        self._total = total

    def on_result(self, result: WorkResult) -> None:
        if isinstance(result, ScoredWork):
            self._done += 1
            self._tell(self._done, self._total, result)

    def on_message(self, text: str) -> None:
        pass

    def on_end(self) -> None:
        pass


class _SystemicError:
    """Stop rule that reacts only to errors that every further request would meet too."""

    def update(self, result: WorkResult) -> str | None:
        return result.record.reason if isinstance(result, SolvedWork) and result.is_systemic else None
