"""The loop that executes every run: draws work, journals results, applies stop rules, informs listeners."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, islice
from time import perf_counter
from typing import Any, Protocol

import msgspec

from benchwright.clock import wall_ns
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.executor import ExecutionCost, Executor
from benchwright.engine.group_commits import GroupCommitter
from benchwright.engine.ledger import Ledger, RetryCondition
from benchwright.engine.loop_lag import LoopLagSampler
from benchwright.engine.offload import offload_processes
from benchwright.engine.plan import Plan
from benchwright.engine.run_context import set_current_run_id
from benchwright.engine.signals import SignalHandler
from benchwright.engine.stop_rules import DecisionRule, StopRequest, StopRule
from benchwright.engine.trial_reuse import NO_REUSE, Reuse, ReusedTrial
from benchwright.engine.worker import TrialWork, WorkResult
from benchwright.errors import JournalError
from benchwright.formats import count_with_noun
from benchwright.records import FAILED_STATUSES, STATUSES_RETRIED_ON_RESUME, Record, RunEvent, Status, Trial
from benchwright.runs.journal import Journal
from benchwright.runs.keys import score_key
from benchwright.runs.process_delays import LoopLag, Standstill
from benchwright.runs.standstills import combine_lags, standstill_text
from benchwright.runs.table import RunTable


class RunListener(Protocol):
    """Receives the events of a run. Its methods are plain functions, which must return at once."""

    def on_start(self, total: int, done: int, again: int) -> None:
        """Handle the beginning of the run. Called once.

        `total`: number of trials in the plan. `done`: number of trials done by earlier sessions. `again`:
        number of the done trials that are run again.
        """
        ...

    def on_result(self, result: WorkResult) -> None:
        """Handle a result. Called once when a trial was solved, and once when it was scored."""
        ...

    def on_message(self, text: str) -> None:
        """Show a line of text to the user."""
        ...

    def on_end(self) -> None:
        """Handle the end of the run. Called once."""
        ...


class RunResult(Record, frozen=True):
    """The result of a session, in which a process worked on a run.

    `is_finished`: True if the whole plan is done. `is_decided`: True if the statistical question was decided before
    the whole plan was done.
    """

    is_finished: bool
    is_interrupted: bool
    is_decided: bool
    stop_reason: str | None
    loop_lag: LoopLag
    seconds: float


async def run(
    plan: Plan,
    executor: Executor,
    journal: Journal,
    rules: Sequence[StopRule] = (),
    listeners: Sequence[RunListener] = (),
    *,
    until: DecisionRule | None = None,
    table: RunTable | None = None,
    again: frozenset[Status] = STATUSES_RETRIED_ON_RESUME,
    retry: RetryCondition | None = None,
    reuse: Reuse = NO_REUSE,
    signals: bool = True,
    clients: Sequence[ModelClient] = (),
) -> RunResult:
    """Run the trials of a plan that the journal lacks, and journal their results.

    - `rules`: stop rules. Each may give a reason to stop the run early.
    - `until`: rule that stops the run once the run's statistical question is decided.
    - `table`: the table of the journal, if the caller has read it. If it is None, the journal is read here.
    - `again`: statuses of trials that are run again.
    - `retry`: function that returns True for further trials that are run again.
    - `reuse`: earlier runs from which the remaining trials are copied if possible.
    - `signals`: True to handle SIGINT and SIGTERM. False inside a user's program that handles them itself.
    - `clients`: clients that no longer wait for stalled requests after the first signal.

    Raises:
        UserError: If a sample cannot be read, or a scorer needs a target that the run lacks.
        JournalError: If the journal cannot be written. Everything written before is complete.
    """
    if table is None:
        table = RunTable(journal.directory, [scorer.name for scorer in plan.task.scorers])
        table.read_journal()
    if table.bodies.torn:
        journal.write_body_loss_point()
    ledger = Ledger(table, again, retry)
    stop = StopRequest(clients)
    return await _Run(
        plan, executor, journal, rules, until, listeners, ledger, len(table.lost), reuse, stop, signals
    ).go()


class _Run:
    def __init__(
        self,
        plan: Plan,
        executor: Executor,
        journal: Journal,
        rules: Sequence[StopRule],
        until: DecisionRule | None,
        listeners: Sequence[RunListener],
        ledger: Ledger,
        lost: int,
        reuse: Reuse,
        stop: StopRequest,
        signals: bool,
    ) -> None:
        self._plan = plan
        self._executor = executor
        self._journal = journal
        self._commits = GroupCommitter(journal, self._committed)
        self._rules = rules
        self._until = until
        self._decided = False
        self._listeners = listeners
        self._ledger = ledger
        self._lost = lost
        self._reuse = reuse
        self._stop = stop
        self._signals = SignalHandler(self._stop, self._say) if signals else nullcontext()
        self._sync_error: JournalError | None = None

    async def go(self) -> RunResult:
        set_current_run_id(self._journal.directory.name)
        total = self._plan.trial_count
        done, finished = self._done_before()
        again = 0 if self._reuse.asks_no_model else done - finished
        started, cpu = perf_counter(), _cpu_seconds()
        self._event("started", total=None if self._plan.open_ended else total, finished=finished)
        for listener in self._listeners:
            listener.on_start(total, min(total, done), again)
        if self._lost:
            self._say(f"{count_with_noun(self._lost, 'conversation')} lost on the disk, and asked again.")
        sampler, spent = LoopLagSampler(), ExecutionCost()
        syncing = asyncio.create_task(self._sync_each_second())
        try:
            async with offload_processes():
                with self._signals, self._commits:
                    work = self._work() if self._plan.shares_clock else await _begun(self._work())
                    with sampler, sampler.reporting_standstills(self._say_stood_still):
                        spent = await self._executor.run(self._plan, work, self._commits.deliver, self._stop)
        except asyncio.CancelledError:
            if not self._stop.is_interrupted:
                raise
            _uncancel()
        finally:
            syncing.cancel()
            for listener in self._listeners:
                listener.on_end()
        if self._sync_error is not None:
            raise self._sync_error
        finished = self._stop.reason is None
        lag = combine_lags([sampler.loop_lag, spent.loop_lag])
        result = RunResult(
            finished,
            self._stop.is_interrupted,
            self._decided,
            self._stop.reason,
            lag,
            perf_counter() - started,
        )
        self._event(
            "finished" if finished else "decided" if self._decided else "stopped",
            reason=self._stop.reason,
            seconds=round(result.seconds, 3),
            cpu_seconds=round(_cpu_seconds() - cpu + spent.cpu_seconds, 3),
            lag=result.loop_lag,
            failed=self._ledger.count_failures(),
        )
        return result

    def _done_before(self) -> tuple[int, int]:
        """Return (number of trials done by earlier sessions, number of such trials that are not run again)."""
        if self._plan.shares_journal:
            return self._ledger.count_existing_trials(trial.key for trial in self._plan.trials())
        return self._ledger.counted, self._ledger.finished

    def _work(self) -> Iterator[TrialWork]:
        ledger = self._ledger
        for trial in self._plan.trials():
            if self._stop.reason is not None:
                return
            if ledger.finished and ledger.is_finished(trial.key):
                scored = ledger.finished_scorers(trial.key)
                if any(scorer.name not in scored for scorer in self._plan.task.scorers):
                    outcome = ledger.read_outcome(trial.key)
                    if outcome is None:
                        yield TrialWork(self._again(trial), counted=True)
                    elif outcome.status not in FAILED_STATUSES:
                        yield TrialWork(trial, outcome, scored, counted=True)
                continue
            taken = self._reuse.take_trial(trial) if self._reuse.earlier_runs else None
            if taken is not None:
                yield self._take_over(trial, taken)
            elif not self._reuse.asks_no_model:
                yield TrialWork(self._again(trial))

    def _again(self, trial: Trial) -> Trial:
        """Return the trial with the number of its next attempt."""
        attempts = self._ledger.next_attempt(trial.key)
        return msgspec.structs.replace(trial, attempt=attempts) if attempts else trial

    def _take_over(self, trial: Trial, taken: ReusedTrial) -> TrialWork:
        """Journal a reused trial. Return the work that remains for this trial: the scores that are not reused."""
        attempt = self._ledger.next_attempt(trial.key)
        self._journal.write_trial(msgspec.structs.replace(taken.record, attempt=attempt), taken.body)
        names = {
            score_key(trial.key, scorer.name, scorer.fingerprint): scorer.name
            for scorer in self._plan.task.scorers
        }
        scores = [score for score in taken.scores if score.key in names] if self._reuse.reuses_scores else []
        if scores:
            self._journal.write_lines(*scores)
        return TrialWork(trial, taken.outcome, frozenset(names[score.key] for score in scores))

    def _committed(self, result: WorkResult) -> None:
        for rule in self._rules:
            reason = rule.update(result)
            if reason is not None:
                self._stop.request_stop(reason)
        if self._until is not None and self._stop.reason is None:
            reason = self._until.update(result)
            if reason is not None:
                self._decided = self._until.is_decided
                self._stop.request_stop(reason)
        for listener in self._listeners:
            listener.on_result(result)

    def _say_stood_still(self, standstill: Standstill) -> None:
        self._say(
            f"This client stood still {standstill_text([standstill])}: requests that met it are in no timing."
        )

    def _say(self, text: str) -> None:
        for listener in self._listeners:
            listener.on_message(text)

    def _event(self, name: str, **detail: Any) -> None:
        kept = {key: value for key, value in detail.items() if value is not None}
        self._journal.write_lines(RunEvent(name, wall_ns(), kept))

    async def _sync_each_second(self) -> None:
        while True:
            await asyncio.sleep(1)
            try:
                await asyncio.to_thread(self._journal.sync)
            except JournalError as error:
                self._sync_error = error
                self._stop.request_stop(str(error))
                return


async def _begun(work: Iterator[TrialWork]) -> Iterator[TrialWork]:
    """Find the first piece of work in a thread, and return an iterator over all work.

    The thread keeps the event loop free while finished trials are skipped.
    """
    first = await asyncio.to_thread(list, islice(work, 1))
    return chain(first, work)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _uncancel() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
