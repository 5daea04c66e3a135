"""Solves a failed trial of a gold answer again, while no other trial runs, because a busy machine can make it fail."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.catalog.shared_lock import SharedLock
from benchwright.engine.protocols import Scorer, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import FAILED_STATUSES, Outcome, Sample, Trial
from benchwright.sandbox.docker.time_limits import extend_limits_if_busy


class RetryingSolver:
    """A solver that wraps another solver, and runs some failed trials a second time.

    A trial that `must_pass` and does not score 1 is solved again, while no other trial runs. Only the second
    outcome counts. If the machine is still busy with other work, the time limits of programs in containers
    are extended.
    """

    def __init__(self, solver: Solver, scorer: Scorer, must_pass: Callable[[Sample], bool]) -> None:
        self._solver = solver
        self._scorer = scorer
        self._must_pass = must_pass
        self._turns = SharedLock()

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Solve the trial. If it must pass and did not, solve it a second time.

        Raises:
            ExecutionError: If the second time fails, or if the first time fails and the trial need not pass.
        """
        must_pass = self._must_pass(trial.sample)
        async with self._turns.hold_shared():
            try:
                outcome = await self._solver.solve(trial, session)
                if not must_pass or await self._is_right(trial.sample, outcome, session):
                    return outcome
            except ExecutionError:
                if not must_pass:
                    raise
        async with self._turns.hold_exclusively():
            with extend_limits_if_busy():
                return await self._solver.solve(trial, session)

    async def _is_right(self, sample: Sample, outcome: Outcome, session: Session) -> bool:
        if outcome.status in FAILED_STATUSES:
            return False
        return (await self._scorer.score(sample, outcome, session)).value == 1.0
