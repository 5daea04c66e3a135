"""Plays a failed trial of a gold answer again, alone, because a busy machine can make it fail."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.catalog.shared_lock import SharedLock
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import FAILED_STATUSES, Outcome, Sample, Trial
from benchwright.sandbox.docker.time_limits import extend_limits_if_busy


class SecondTry:
    """A solver that wraps another. If a trial that `must_pass` does not score 1, it is played again, alone.

    Only the second outcome counts. If the machine is still busy with other work, time limits of programs in
    containers are extended.
    """

    def __init__(self, solver: Solver, scorer: Scorer, must_pass: Callable[[Sample], bool]) -> None:
        self._solver = solver
        self._scorer = scorer
        self._must_pass = must_pass
        self._turns = SharedLock()

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Play the trial. Play it a second time if it must pass and did not.

        Raises:
            ExecutionError: If it failed twice, or failed and need not pass.
        """
        must_pass = self._must_pass(trial.sample)
        async with self._turns.shared():
            try:
                outcome = await self._solver.solve(trial, session)
                if not must_pass or await self._is_right(trial.sample, outcome, session):
                    return outcome
            except ExecutionError:
                if not must_pass:
                    raise
        async with self._turns.exclusive():
            with extend_limits_if_busy():
                return await self._solver.solve(trial, session)

    async def _is_right(self, sample: Sample, outcome: Outcome, session: Session) -> bool:
        if outcome.status in FAILED_STATUSES:
            return False
        return (await self._scorer.score(sample, outcome, session)).value == 1.0
