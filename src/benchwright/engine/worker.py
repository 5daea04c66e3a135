"""The worker: takes one piece of work through solving and scoring, and delivers the results.

The same code runs in this process, in another process, or on another machine. It needs a task, clients, and a
function to which it delivers encoded results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from math import isfinite
from time import perf_counter_ns
from typing import Any

import msgspec

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.error_boundary import ErrorBoundary, describe_error, ends_the_run
from benchwright.engine.loop_lag import reporting_standstills, running_sampler
from benchwright.engine.plan import ConversationFilter, keep_all_conversations
from benchwright.engine.precise_waits import START_LEAD_NS
from benchwright.engine.protocols import PREPARATION_LEAD_SECONDS, PreparingSolver, Scorer, Solver
from benchwright.engine.session import TrialSession
from benchwright.engine.standstills import extend_limit, flag_disturbed_requests
from benchwright.errors import ExecutionError, GraderError, LimitReached, RunStopped
from benchwright.records import (
    FAILED_STATUSES,
    Outcome,
    Record,
    RequestRecord,
    ScoreRecord,
    Status,
    Trial,
    TrialLimits,
    TrialRecord,
)
from benchwright.runs.journal import TrialBody, encode_json
from benchwright.runs.keys import score_key
from benchwright.runs.trial_prompt import stored_input, stored_target


class TrialWork(Record, frozen=True):
    """A trial to solve. If `outcome` is given, the trial is solved already and is only to be scored.

    `scored`: names of the scorers that have scored the trial already. `counted`: True if the run has already
    counted the trial as done.
    """

    trial: Trial
    outcome: Outcome | None = None
    scored: frozenset[str] = frozenset()
    counted: bool = False


class SolvedWork(Record, frozen=True):
    """A solved trial, to be journalled before it is scored: its record and encoded body.

    `body` is empty if the conversation is not stored. `is_systemic`: True if every further request would meet
    the same error. `earlier_in_flight`: number of trials of this worker that began before its first failure
    and are still in flight.
    """

    record: TrialRecord
    body: bytes
    is_systemic: bool = False
    earlier_in_flight: int = 0


class ScoredWork(Record, frozen=True):
    """A trial that is done, with all its scores.

    The scores are journalled together. `counted`: see `TrialWork`.
    """

    trial: Trial
    status: Status
    scores: tuple[ScoreRecord, ...] = ()
    counted: bool = False


_CANCELLED = Outcome(Status.CANCELLED)

WorkResult = SolvedWork | ScoredWork
DeliverResult = Callable[[WorkResult], Awaitable[None]]
"""Function that accepts a result at once. The returned awaitable is done when the result is in the journal."""


class Worker:
    """Does pieces of work, several of them concurrently.

    `origin`: the moment (`perf_counter_ns`) from which intended starts (`Trial.due_ns`) count. It is the moment
    at which the worker was created, plus the time that its solver needs to prepare the first trials. `seconds`:
    see `Plan`.
    """

    def __init__(
        self,
        solver: Solver,
        scorers: tuple[Scorer, ...],
        clients: Mapping[str, ModelClient],
        limits: TrialLimits,
        deliver: DeliverResult,
        show: Callable[[str, str], None] | None = None,
        keeps: ConversationFilter = keep_all_conversations,
        seconds: float | None = None,
    ) -> None:
        self._solver = solver
        self._scorers = scorers
        self._clients = clients
        self._limits = limits
        self._deliver = deliver
        self._show = show
        self._keeps = keeps
        self._seconds = seconds
        self._sampler = running_sampler()
        self._begun = self._under_way = self._begun_at_failure = self._earlier = 0
        self._preparing = solver if isinstance(solver, PreparingSolver) else None
        self.set_origin(perf_counter_ns())

    def set_origin(self, origin: int) -> None:
        """Set the origin from a moment that all worker processes share.

        Due times count from that moment, plus the time for preparation.
        """
        self._begun_at = origin
        self.origin = origin + round(self.lead_seconds * 1e9)

    def last_start(self, trial: Trial) -> int | None:
        """Return the moment (`perf_counter_ns`) from which no request of a trial may begin.

        Return None if there is no limit.
        """
        if self._seconds is None:
            return None
        return (self._begun_at if trial.due_ns is None else self.origin) + round(self._seconds * 1e9)

    def is_too_late(self, work: TrialWork) -> bool:
        """Return True if a piece of work may no longer begin, because the time of the run is over.

        A trial with an intended start may always begin, because it was due before the time was over.
        """
        last = self.last_start(work.trial)
        return last is not None and work.trial.due_ns is None and perf_counter_ns() >= last

    @property
    def lead_seconds(self) -> float:
        """Number of seconds before its due time at which the worker takes up a trial, so that it can be prepared."""
        return 0.0 if self._preparing is None else PREPARATION_LEAD_SECONDS

    async def prepare(self, work: TrialWork) -> None:
        """Let the solver prepare a trial that will be due soon. Do nothing if the solver does not prepare trials."""
        if self._preparing is not None and work.outcome is None:
            await self._preparing.prepare(work.trial)

    def seconds_until(self, work: TrialWork) -> float:
        """Return the seconds until a trial is to be taken up. The result is 0 or less if the trial has no due time."""
        return (self.start_moment(work) - perf_counter_ns()) / 1e9

    def start_moment(self, work: TrialWork) -> int:
        """Return the moment (`perf_counter_ns`) at which a trial is to be taken up. 0 if the trial has no due time."""
        return 0 if work.trial.due_ns is None else self.origin + work.trial.due_ns - START_LEAD_NS

    async def process_work(self, work: TrialWork) -> None:
        """Solve the trial unless its outcome is known. Then score it. Deliver the result of each step.

        If there is nothing to score, both results are delivered together.
        """
        outcome, solved = work.outcome, None
        if outcome is None:
            outcome, solved = await self._solve(work.trial)
        scores: tuple[ScoreRecord, ...] = ()
        if outcome.status not in FAILED_STATUSES:
            asked = [scorer for scorer in self._scorers if scorer.name not in work.scored]
            if asked and solved is not None:
                await solved
                solved = None
            found = [await self._score(scorer, work.trial, outcome) for scorer in asked]
            scores = tuple(score for score in found if score is not None)
        done = self._deliver(ScoredWork(work.trial, outcome.status, scores, work.counted))
        if solved is not None:
            await solved
        await done

    async def _solve(self, trial: Trial) -> tuple[Outcome, Awaitable[None]]:
        """Solve a trial and deliver the result.

        Return the outcome, and an awaitable that is done when the result is in the journal.
        """
        due = None if trial.due_ns is None else self.origin + trial.due_ns
        last_start = self.last_start(trial)
        session = TrialSession(trial, self._clients, self._limits, self._show, due=due, last_start=last_start)
        boundary, outcome = ErrorBoundary(), _CANCELLED
        self._under_way += 1
        self._begun = number = self._begun + 1
        try:
            with boundary:
                outcome = _checked(await self._limited(self._solver.solve(trial, session)))
        except BaseException:
            _, solved = self._solved(trial, session, boundary, outcome, number)
            await solved
            raise
        return self._solved(trial, session, boundary, outcome, number)

    def _solved(
        self, trial: Trial, session: TrialSession, boundary: ErrorBoundary, outcome: Outcome, number: int
    ) -> tuple[Outcome, Awaitable[None]]:
        if boundary.status is not None:
            outcome = Outcome(boundary.status, reason=boundary.reason)
        record = _record(trial, session, outcome, flag_disturbed_requests(session, self._sampler))
        body = encode_json(_body(trial, session, outcome)) if self._keeps(record) else b""
        self._ended(number, outcome.status)
        return outcome, self._deliver(SolvedWork(record, body, boundary.systemic, self._earlier))

    def _ended(self, number: int, status: Status) -> None:
        self._under_way -= 1
        if number <= self._begun_at_failure:
            self._earlier -= 1
        elif not self._begun_at_failure and status in FAILED_STATUSES:
            self._begun_at_failure, self._earlier = self._begun, self._under_way

    def _limited(self, solving: Coroutine[Any, Any, Outcome]) -> Coroutine[Any, Any, Outcome]:
        if self._limits.seconds is None:
            return solving
        return _within(self._limits.seconds, solving)

    async def _score(self, scorer: Scorer, trial: Trial, outcome: Outcome) -> ScoreRecord | None:
        """Score an outcome.

        Return None if the run was stopped before that. The score is then made when the run is resumed.
        """
        session = TrialSession(trial, self._clients, TrialLimits(), self._show, role="judge")
        value: float | None = None
        status, span, detail, explanation = Status.GRADER_ERROR, None, None, None
        try:
            score = await scorer.score(trial.sample, outcome, session)
            if score.value is not None:
                value = _finite(score.value)
            status, span, detail, explanation = score.status, score.span, score.detail, score.explanation
        except RunStopped:
            return None
        except BaseException as error:
            if ends_the_run(error):
                raise
            detail = {"error": describe_error(error)}
        return ScoreRecord(
            key=score_key(trial.key, scorer.name, scorer.fingerprint),
            trial=trial.key,
            scorer=scorer.name,
            value=value,
            status=status,
            span=span,
            detail=detail,
            requests=session.requests,
            explanation=explanation,
        )


async def _within(seconds: float, solving: Coroutine[Any, Any, Outcome]) -> Outcome:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            with reporting_standstills(lambda standstill: extend_limit(limit, standstill)):
                return await solving
    except TimeoutError:
        if limit.expired():
            raise LimitReached("seconds", seconds) from None
        raise


def _checked(outcome: Any) -> Outcome:
    """Return the solver's outcome, after checking that the journal can store it without loss.

    Raises:
        ExecutionError: If the result is not an outcome, or its reason, answer or scores have invalid types.
    """
    if not isinstance(outcome, Outcome):
        raise ExecutionError(f"the solver returned a {type(outcome).__name__}, not an Outcome")
    for text in (outcome.answer, outcome.reason):
        if text is not None and not isinstance(text, str):
            raise ExecutionError(f"answer and reason of an outcome are text, got {text!r}")
    if outcome.scores:
        try:
            scores = {name: _finite(value) for name, value in outcome.scores.items()}
        except (GraderError, TypeError) as error:
            raise ExecutionError(str(error)) from None
        return msgspec.structs.replace(outcome, scores=scores)
    return outcome


def _finite(value: Any) -> float:
    if not isfinite(value):
        raise GraderError(f"the score is {value}, which cannot be averaged")
    return float(value)


def _record(
    trial: Trial, session: TrialSession, outcome: Outcome, requests: list[RequestRecord]
) -> TrialRecord:
    elsewhere = [msgspec.structs.replace(one, slot=trial.target.slot) for one in outcome.requests]
    return TrialRecord(
        key=trial.key,
        sample=trial.sample.id,
        target=trial.target.slot,
        status=outcome.status,
        repeat=trial.repeat,
        attempt=trial.attempt,
        group=trial.sample.group,
        labels=trial.sample.labels,
        reason=outcome.reason,
        scores=outcome.scores,
        requests=[*elsewhere, *requests] if elsewhere else requests,
        started_at=session.started_at,
        duration=session.duration,
        late=session.lateness,
        row=trial.sample.row,
        notes=outcome.notes,
    )


def _body(trial: Trial, session: TrialSession, outcome: Outcome) -> TrialBody:
    return TrialBody(
        key=trial.key,
        attempt=trial.attempt,
        status=outcome.status,
        reason=outcome.reason,
        input=stored_input(trial.sample.input, outcome.messages),
        target=stored_target(trial.sample.target),
        messages=outcome.messages,
        answer=outcome.answer,
        scores=outcome.scores,
        exchanges=session.exchange_bodies(outcome),
        artifacts=outcome.artifacts,
        native=outcome.native,
        unanswered=[] if outcome.messages else session.unanswered,
    )
