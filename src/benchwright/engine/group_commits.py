"""Group commit: the results delivered in one turn of the event loop are journalled together, with one write
per file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchwright.engine.worker import ScoredWork, SolvedWork, WorkResult
from benchwright.runs.journal import Journal

MAX_GROUP_BYTES = 1_000_000
"""If the bodies that wait to be written reach this total of bytes, they are written at once.

This bounds the memory that waiting bodies take.
"""


class GroupCommitter:
    """Journals the results of many workers in batches. Then it calls `committed` with each result, in order.

    Use it as a context manager around the work. On exit, results that nobody awaits are journalled too.
    """

    def __init__(self, journal: Journal, committed: Callable[[WorkResult], None]) -> None:
        self._journal = journal
        self._committed = committed
        self._results: list[WorkResult] = []
        self._waiters: list[asyncio.Future[None]] = []
        self._size = 0
        self._failure: Exception | None = None

    def __enter__(self) -> GroupCommitter:
        return self

    def __exit__(self, *_: object) -> None:
        self._commit()
        if self._failure is not None:
            raise self._failure

    def deliver(self, result: WorkResult) -> asyncio.Future[None]:
        """Accept a result and return a future that is done once the result is in the journal.

        The result is journalled whether or not anybody awaits the future.

        Raises:
            JournalError: If the journal cannot be written. Awaiting the future raises this error too.
        """
        if self._failure is not None:
            raise self._failure
        loop = asyncio.get_running_loop()
        if not self._results:
            loop.call_soon(self._commit)
        waiter = loop.create_future()
        self._results.append(result)
        self._waiters.append(waiter)
        if isinstance(result, SolvedWork):
            self._size += len(result.body)
            if self._size > MAX_GROUP_BYTES:
                self._commit()
        return waiter

    def _commit(self) -> None:
        results, waiters = self._results, self._waiters
        self._results, self._waiters, self._size = [], [], 0
        try:
            self._write(results)
            for result in results:
                self._committed(result)
        except Exception as error:  # raised in every worker that waits
            self._failure = error
        for waiter in waiters:
            if waiter.done():  # its worker was cancelled
                continue
            if self._failure is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(self._failure)
                waiter.exception()  # mark as retrieved; the next `deliver` raises it

    def _write(self, results: list[WorkResult]) -> None:
        trials = [(result.record, result.body) for result in results if isinstance(result, SolvedWork)]
        scores = [score for result in results if isinstance(result, ScoredWork) for score in result.scores]
        self._journal.write_trials_and_scores(trials, scores)
