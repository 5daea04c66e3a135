"""An agent over a dataset, as a task of the engine: each row becomes a rollout, its result an outcome."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import RolloutRequest
from benchwright.agents.rollout_requests import dataset_row_to_request, validate_tools
from benchwright.agents.rows import SampleRows
from benchwright.agents.session_llm import SessionLLM
from benchwright.agents.sources import known_or_unique, source_fingerprint
from benchwright.data.columns import documented_row
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.keys import fingerprint
from benchwright.engine.protocols import Scorer, Session, TaskSpec
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Sample, Status, Trial

VERSION = "1"
"""To be raised when the same agent would be asked differently for the same row."""


class AgentTask:
    """The task: the rows of the dataset at `path`, each run through the agent, and the scorers.

    `module` is the `module:attribute` that the agent was loaded from, if it was. `max_turns` is advice that
    the agent follows or not; `completion_params` are body fields that reach the model if the agent passes
    them on. The fingerprint covers both, and the source of the agent's class and of that module, but
    nothing that they import.
    """

    def __init__(
        self,
        path: Path,
        agent: RolloutAgentLoop,
        scorers: Sequence[Scorer],
        *,
        module: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        max_turns: int = 10,
        completion_params: Mapping[str, Any] | None = None,
        group_by: str | None = None,
    ) -> None:
        self._rows = SampleRows(path, limit, offset, group_by)
        self._solver = AgentSolver(agent, max_turns, completion_params or {})
        self._scorers = scorers
        self._spec = TaskSpec(
            name=agent.name,
            version=VERSION,
            fingerprint=fingerprint(
                "agent", VERSION, _sources(agent, module), max_turns, completion_params or {}
            ),
            group_by=group_by,
        )

    @property
    def spec(self) -> TaskSpec:
        """Name, version and fingerprint."""
        return self._spec

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers applied to every outcome."""
        return self._scorers

    def samples(self) -> Iterator[Sample]:
        """One sample per row; its content is the row with the documented column names."""
        return self._rows.samples(documented_row)

    def size(self) -> int:
        """The number of rows; reads and checks them all."""
        return self._rows.size(documented_row)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AgentSolver]:
        """The agent needs nothing to be started."""
        yield self._solver


class AgentSolver:
    """Runs the agent once per trial."""

    def __init__(self, agent: RolloutAgentLoop, max_turns: int, completion_params: Mapping[str, Any]) -> None:
        self._agent = agent
        self._max_turns = max_turns
        self._completion_params = completion_params

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Runs one rollout.

        Raises:
            TrialError: the endpoint failed or a limit was reached, and the agent gave up for that reason.
            ToolValidationError: the agent's tools cannot be offered to a model.
            ExecutionError: the agent returned something else than a `RolloutResult`.
            Exception: whatever the agent itself raises.
        """
        llm = SessionLLM(session)
        request = self._request(trial)
        tools = self._agent.get_tools(request)
        validate_tools(tools)
        llm.set_tools(tools)
        result = await self._agent.run(RolloutContext(request, tools, llm, _start_time=time.monotonic()))
        self._check(result)
        if result.status != "COMPLETED":
            if llm.failure is not None:
                raise llm.failure
            reason = result.error_message or "the agent gave no reason"
            return _outcome(result, Status.EXECUTION_ERROR, reason)
        return _outcome(result, *answer_status(llm.reply))

    def _request(self, trial: Trial) -> RolloutRequest:
        row_index, slot = int(trial.sample.id), trial.target.slot
        tag = "" if slot == "primary" else f"-{slot}"
        return dataset_row_to_request(
            trial.sample.content,
            row_index,
            max_turns=self._max_turns,
            completion_params=dict(self._completion_params),
            rollout_id=f"eval-{row_index}-run-{trial.repeat}{tag}",
            metadata_overrides={"execution_mode": "eval", "run_index": trial.repeat}
            | ({"model_tag": slot} if tag else {}),
        )

    def _check(self, result: Any) -> None:
        if not isinstance(result, RolloutResult):
            raise ExecutionError(
                f"the agent '{self._agent.name}' returned a {type(result).__name__}; "
                "its run must return ctx.complete(...) or ctx.error(...)"
            )
        messages: Any = result.final_messages
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise ExecutionError(
                f"the agent '{self._agent.name}' must return its messages as a list of dicts"
            )


def _outcome(result: RolloutResult, status: Status, reason: str | None) -> Outcome:
    artifacts: dict[str, Any] = {"finish_reason": result.finish_reason}
    if result.reward is not None:
        artifacts["reward"] = result.reward
    return Outcome(
        status=status,
        messages=result.final_messages,
        answer=final_answer(result.final_messages),
        reason=reason,
        artifacts=artifacts,
    )


def _sources(agent: RolloutAgentLoop, module: str | None) -> list[str]:
    """Fingerprints of the file that the agent's class is written in, and of the module it was named in."""
    places: list[object] = [type(agent)]
    if module is not None:
        places.append(sys.modules[module.rpartition(":")[0]])
    return [known_or_unique(source_fingerprint(place)) for place in places]
