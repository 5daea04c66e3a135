"""Runs the trials of a task with the worker of the engine, against a simulated endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchwright.agents.external_agent_task import ExternalAgentTask
from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint
from benchwright.engine.plan import Plan
from benchwright.engine.worker import SolvedWork, TrialWork, Worker, WorkResult
from benchwright.records import Target, TrialLimits, TrialRecord
from benchwright.runs.journal import TrialBody

_decode_body = msgspec.json.Decoder(TrialBody).decode


class Ran(NamedTuple):
    """A trial that was run: its line and its body, as they would be journalled."""

    record: TrialRecord
    body: TrialBody
    systemic: bool


async def run_trial(
    task: ExternalAgentTask,
    settings: Settings | None = None,
    *,
    limits: TrialLimits | None = None,
    key: str | None = None,
    **target_settings: Any,
) -> Ran:
    """Runs the trial of the first row."""
    delivered: list[WorkResult] = []

    async def deliver(result: WorkResult) -> None:
        delivered.append(result)

    async with SimulatedEndpoint(settings or Settings()) as endpoint:
        target = Target("primary", "the-model", endpoint.base_url, target_settings)
        plan = Plan(task, 1, (target,), limits=limits or TrialLimits())
        async with EndpointClient(target, access=Access(key)) as client, task.open() as solver:
            worker = Worker(solver, (), {"primary": client}, plan.limits, deliver)
            await worker.process_work(TrialWork(next(plan.trials())))
    (solved,) = (result for result in delivered if isinstance(result, SolvedWork))
    return Ran(solved.record, _decode_body(solved.body), solved.is_systemic)


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    """A dataset of these rows."""
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path
