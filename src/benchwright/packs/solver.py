"""Runs one cell (one scenario, one model, once) through the bridge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from benchwright.endpoint.relay import Relay
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Session
from benchwright.engine.seeds import with_repeat_seed
from benchwright.errors import ExecutionError, LimitReached, ProviderError, TrialError
from benchwright.packs.bridge import CellResult, PackProcess
from benchwright.packs.pack_interfaces import PackWatcher, RunningVerifiers
from benchwright.packs.types import (
    PASSED,
    SCORE,
    GenerationRequest,
    RegisteredModel,
    ScenarioResult,
    ScenarioRunInput,
)
from benchwright.records import Message, Outcome, Record, Status, Trial

RETRY_PAUSE_SECONDS = 0.75
"""Seconds before the first retry of a cell after a temporary provider error.

The pause doubles with each further retry.
"""


class CellSettings(Record, frozen=True):
    """Settings for running cells.

    `max_seconds`: the time limit of one attempt. `max_retries`: the maximum number of retries after temporary
    provider errors.
    """

    run_id: str
    pack_id: str
    generation: GenerationRequest
    max_seconds: float
    max_retries: int = 2


class PackSolver:
    """Runs cells in one process of the pack. Any number of cells can run concurrently.

    `relay`: None if the pack sends requests to its providers directly. `verifiers`: the programs that check
    answers. They are checked before each cell, and after each failed cell, so that a dead verifier does not
    count against the model.
    """

    def __init__(
        self,
        pack: PackProcess,
        models: Mapping[str, RegisteredModel],
        settings: CellSettings,
        relay: Relay | None,
        verifiers: RunningVerifiers,
        watcher: PackWatcher,
    ) -> None:
        self._pack = pack
        self._models = models
        self._settings = settings
        self._relay = relay
        self._verifiers = verifiers
        self._watcher = watcher

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run a trial's cell. `native` of the outcome is the pack's own result.

        Raises:
            ExecutionError: If the pack failed, or a verifier is no longer available.
            ProviderError: If the pack failed because the model's provider failed, or if every request of the
                cell failed.
            LimitReached: If the cell exceeded its time limit.
        """
        slot, scenario = trial.target.slot, trial.sample.id
        self._watcher.on_cell_start(slot, scenario, trial.repeat)
        for attempt in range(self._settings.max_retries + 1):
            last = attempt == self._settings.max_retries
            await self._verifiers.check()
            try:
                messages, cell = await self._attempt(trial, session)
            except ProviderError as error:
                if last or not error.retryable:
                    raise
                trouble = str(error)
            else:
                if cell.result.status == "fail" and (problems := await self._verifiers.recheck()):
                    raise ExecutionError(" ".join(problems))
                if last or not _worth_another_try(cell):
                    return cell_outcome(cell, messages)
                trouble = (
                    cell.result.summary if cell.provider_failure is None else cell.provider_failure.message
                )
            told = {"message": f"Provider trouble ({trouble}); trying again."}
            self._watcher.on_cell_progress(slot, scenario, told)
            await asyncio.sleep(RETRY_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, trial: Trial, session: Session) -> tuple[list[Message], CellResult]:
        if self._relay is None:
            return [], await self._run(trial, None)
        model = self._models[trial.target.slot]
        async with session.relay(self._relay, (model.id, model.model)) as calls:
            try:
                cell = await self._run(trial, calls)
            except TrialError:
                _raise_limit(calls)
                raise
            _raise_limit(calls)
            _raise_unanswered(calls, cell)
            messages = calls.messages
        return messages, cell

    async def _run(self, trial: Trial, calls: AgentAccess | None) -> CellResult:
        settings = self._settings
        given = ScenarioRunInput(
            run_id=settings.run_id,
            bench_pack_id=settings.pack_id,
            scenario=trial.sample.content,
            model=self._models[trial.target.slot],
            generation=with_repeat_seed(settings.generation, trial.repeat),
        )
        return await self._pack.run(
            f"{trial.key}-{trial.attempt}",
            given,
            seconds=settings.max_seconds,
            on_progress=lambda event: self._watcher.on_cell_progress(
                trial.target.slot, trial.sample.id, event
            ),
            token=None if calls is None else calls.token,
        )


def _raise_limit(calls: AgentAccess) -> None:
    """Raise LimitReached if the trial reached a limit.

    The limit overrides the pack's result, which only shows that a request was refused.
    """
    if isinstance(calls.failure, LimitReached):
        raise calls.failure


def _raise_unanswered(calls: AgentAccess, cell: CellResult) -> None:
    """Raise the provider's error if the cell sent requests, and none of them got a response.

    The cell's result is then no evidence about the model. Nothing is raised if the pack passed the cell, or
    if the pack itself reports a provider error.
    """
    failure, result = calls.failure, cell.result
    if result.status == "pass" or result.error_type == "provider_error":
        return
    if calls.reply is None and isinstance(failure, ProviderError):
        raise ProviderError(str(failure), http_status=failure.http_status, retryable=failure.retryable)


def _worth_another_try(cell: CellResult) -> bool:
    """Return True if the bridge or the pack says that a temporary provider error caused the cell's failure."""
    if cell.provider_failure is not None:
        return cell.provider_failure.retryable
    return cell.result.error_type == "provider_error" and bool(cell.result.retryable)


def cell_outcome(cell: CellResult, messages: list[Message]) -> Outcome:
    """Convert a cell's result into an outcome.

    Failures for which, according to the pack, the model is not responsible are errors, not wrong answers.
    """
    result = cell.result
    status = {
        "provider_error": Status.PROVIDER_ERROR,
        "execution_error": Status.EXECUTION_ERROR,
    }.get(result.error_type or "", Status.SCORED)
    return Outcome(
        status=status,
        messages=messages,
        answer="" if result.output is None else result.output.final_answer or "",
        reason=None if status is Status.SCORED else result.summary or str(result.error_type),
        scores=_scores(result) if status is Status.SCORED else {},
        native=result.raw,
    )


def _scores(result: ScenarioResult) -> dict[str, float]:
    scores = {PASSED: float(result.status == "pass")}
    value = result.score if result.score is not None else result.points
    return scores if value is None else {**scores, SCORE: value}


def failed_result(
    scenario: str, status: Status, reason: str | None, http_status: int | None = None
) -> dict[str, Any]:
    """Return a result for a cell whose run gave none: the status "fail", score 0 and the reason."""
    error_type = "provider_error" if status is Status.PROVIDER_ERROR else "execution_error"
    details = {"error": reason or str(status), "providerHttpStatus": http_status}
    return {
        "scenarioId": scenario,
        "status": "fail",
        "errorType": error_type,
        "retryable": status is Status.PROVIDER_ERROR,
        "score": 0,
        "summary": reason or str(status),
        "rawLog": reason or "",
        "verifier": {
            "status": "error",
            "summary": reason or str(status),
            "details": {name: value for name, value in details.items() if value is not None},
        },
    }
