"""A `RolloutAgentLoop` over a dataset as an engine task: each row is one rollout, whose result is scored."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchwright.agents.rollout.context import RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import RolloutRequest
from benchwright.agents.rollout_requests import dataset_row_to_request, run_rollout
from benchwright.agents.rows import RowsTask, SampleRows
from benchwright.agents.session_llm import SessionLLM
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Scorer, Session
from benchwright.engine.seeds import with_repeat_seed
from benchwright.records import Outcome, Status, TaskSpec, Trial
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint

TASK_VERSION = "1"
"""Version of the task. Increase it when the requests of the same agent for the same row would change."""


class AgentTask(RowsTask):
    """Engine task that runs a `RolloutAgentLoop` on each row of the dataset at `path`.

    The results are scored with `scorers`. `module`: the `module:attribute` from which the agent was loaded,
    None if there is none. `max_turns`: a hint that agents may ignore. `completion_params`: body fields that
    reach the model if the agent passes them on. The fingerprint covers `max_turns` and `completion_params`,
    and also the code of the agent's class and of `module` (see `source_fingerprint`). `debug_dir`: the
    directory for files with the events that the agent logs by `ctx.log_event`.
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
        debug_dir: str | None = None,
    ) -> None:
        spec = TaskSpec(
            name=agent.name,
            version=TASK_VERSION,
            fingerprint=fingerprint(
                "agent", TASK_VERSION, _sources(agent, module), max_turns, completion_params or {}
            ),
            group_by=group_by,
        )
        super().__init__(SampleRows(path, limit, offset, group_by), spec, scorers)
        self._agent = agent
        self._solver = AgentSolver(agent, max_turns, completion_params or {}, debug_dir)

    def offers_tools(self) -> bool:
        """Return True if the agent offers tools for the dataset's first row.

        Return False if the agent raises an error.
        """
        try:
            sample = next(self.samples())
            return bool(self._agent.get_tools(dataset_row_to_request(sample.content, sample.row_index)))
        except Exception:  # an error in the user's code is reported with the trial
            return False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AgentSolver]:
        """Yield the solver. Nothing needs to be started."""
        yield self._solver


class AgentSolver:
    """Solver that runs a `RolloutAgentLoop` once per trial."""

    def __init__(
        self,
        agent: RolloutAgentLoop,
        max_turns: int,
        completion_params: Mapping[str, Any],
        debug_dir: str | None,
    ) -> None:
        self._agent = agent
        self._max_turns = max_turns
        self._completion_params = completion_params
        self._debug_dir = debug_dir

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run the agent on the trial's row (one rollout), and return the outcome.

        Raises:
            TrialError: If the agent gave up because the endpoint failed or a limit was reached.
            ToolValidationError: If the agent's tools cannot be offered to a model.
            ExecutionError: If the agent returned something other than a `RolloutResult`.
            Exception: Any error raised by the agent itself.
        """
        llm = SessionLLM(session)
        result = await run_rollout(self._agent, self._request(trial), llm, self._debug_dir)
        if result.status != "COMPLETED":
            if llm.failure is not None:
                raise llm.failure
            reason = result.error_message or "the agent gave no reason"
            return _outcome(result, Status.EXECUTION_ERROR, reason)
        return _outcome(result, *answer_status(llm.reply))

    def _request(self, trial: Trial) -> RolloutRequest:
        row_index, slot = trial.sample.row_index, trial.target.slot
        tag = "" if slot == "primary" else f"-{slot}"
        return dataset_row_to_request(
            trial.sample.content,
            row_index,
            max_turns=self._max_turns,
            completion_params=with_repeat_seed(self._completion_params, trial.repeat),
            rollout_id=f"eval-{row_index}-run-{trial.repeat}{tag}",
            metadata_overrides={"execution_mode": "eval", "run_index": trial.repeat}
            | ({"model_tag": slot} if tag else {}),
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
    """Return fingerprints: of the file that defines the agent's class and, if `module` is given, of the module.

    `module`: the `module:attribute` from which the agent was loaded.
    """
    places: list[object] = [type(agent)]
    if module is not None:
        places.append(sys.modules[module.rpartition(":")[0]])
    return [fingerprint_or_unique(source_fingerprint(place)) for place in places]
