"""A solver written by a user, over a dataset, as an engine task."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.agents.loading import describe_error
from benchwright.agents.rows import RowsTask, SampleRows
from benchwright.engine.protocols import Scorer, Solver
from benchwright.errors import UserError
from benchwright.records import TaskSpec
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint

TASK_VERSION = "1"


def solver_task(
    path: Path,
    solver: Solver | type[Solver],
    scorers: Sequence[Scorer],
    *,
    module: str,
    limit: int | None = None,
    offset: int = 0,
    group_by: str | None = None,
) -> SolverTask:
    """Return the task of a user's solver. `module`: the `module:attribute` from which the solver was loaded.

    If the solver is a class, it is instantiated without arguments. The fingerprint covers the code of the
    solver's class (see `source_fingerprint`).

    Raises:
        UserError: If the class cannot be instantiated.
    """
    if isinstance(solver, type):
        try:
            solver = solver()
        except Exception as failure:  # a user's constructor may raise anything
            raise UserError(f"Cannot create the solver '{module}': {describe_error(failure)}") from failure
    source = fingerprint_or_unique(source_fingerprint(solver))
    spec = TaskSpec(
        name=module.rpartition(":")[2],
        version=TASK_VERSION,
        fingerprint=fingerprint("solver", TASK_VERSION, module, source),
        group_by=group_by,
    )
    return SolverTask(SampleRows(path, limit, offset, group_by), spec, scorers, solver)


class SolverTask(RowsTask):
    """Engine task that passes each row of a dataset to a user's solver.

    The row has the column names that osmosis_ai documents.
    """

    def __init__(self, rows: SampleRows, spec: TaskSpec, scorers: Sequence[Scorer], solver: Solver) -> None:
        super().__init__(rows, spec, scorers)
        self._solver = solver

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. Nothing needs to be started."""
        yield self._solver
