"""External agents over a dataset. They have a client of their own, and reach the model through the metered relay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from benchwright.agents.rows import ContentConverter, RowsTask, SampleRows
from benchwright.data.columns import documented_row
from benchwright.data.rows import Row
from benchwright.endpoint.relay import Relay
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Scorer, Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Record, Status, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

TASK_VERSION = "1"
"""Version of the task. Increase it when the same agent's input for the same row would change."""


class AgentAnswer(Record, frozen=True):
    """The result of an agent on one row.

    `messages`: the conversation; if None, the conversation that passed through the relay is used. `failure`:
    the reason why there is no answer; None if there is an answer. `notes`: remarks for people who read the
    trial.
    """

    answer: str = ""
    messages: list[Message] | None = None
    artifacts: dict[str, Any] = {}
    failure: str | None = None
    notes: list[str] = []


class ExternalAgent(Protocol):
    """An agent that sends requests to the model with its own client."""

    @property
    def name(self) -> str:
        """The name of the task that runs this agent."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest of the agent's code, as far as Benchwright can find the code."""
        ...

    async def run(self, row: Row, trial: Trial, calls: AgentAccess) -> AgentAnswer:
        """Run the agent on one row, and return the agent's answer.

        Until this method returns, the agent may send requests to the model as described by `calls`.

        Raises:
            Exception: Any error raised by the agent. If the agent gave up because the model failed or a limit
                was reached, that failure or limit becomes the trial's status.
        """
        ...


class ExternalAgentTask(RowsTask):
    """Engine task that runs an external agent on each row of the dataset at `path`.

    The results are scored with `scorers`. The agent gets the row as converted by `content`, by default with
    the column names that osmosis_ai documents. The row has two additional columns: `row_index`, the row's
    index in the file, and `run_index`, the repeat. Both count from 0.
    """

    def __init__(
        self,
        path: Path,
        agent: ExternalAgent,
        scorers: Sequence[Scorer],
        *,
        limit: int | None = None,
        offset: int = 0,
        group_by: str | None = None,
        content: ContentConverter = documented_row,
    ) -> None:
        spec = TaskSpec(
            name=agent.name,
            version=TASK_VERSION,
            fingerprint=fingerprint("outside", TASK_VERSION, agent.fingerprint),
            group_by=group_by,
        )
        super().__init__(SampleRows(path, limit, offset, group_by), spec, scorers, content)
        self._agent = agent

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ExternalAgentSolver]:
        """Start the relay, which all trials share, and yield the solver."""
        async with Relay() as relay:
            yield ExternalAgentSolver(self._agent, relay)


class ExternalAgentSolver:
    """Solver that runs one external agent (an `ExternalAgent`) once per trial, through the metered relay."""

    def __init__(self, agent: ExternalAgent, relay: Relay) -> None:
        self._agent = agent
        self._relay = relay

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run the agent on the trial's row, and return the outcome.

        Raises:
            TrialError: If the agent gave up because the endpoint failed or a limit was reached.
            Exception: Any error raised by the agent itself.
        """
        row = trial.sample.content | {"row_index": trial.sample.row_index, "run_index": trial.repeat}
        async with session.relay(self._relay) as calls:
            try:
                said = await self._agent.run(row, trial, calls)
            except Exception as error:  # clients wrap the model's failures in their own exceptions
                if calls.failure is not None:
                    raise calls.failure from error
                raise
        limit = calls.ended_by or (calls.failure if said.failure and calls.limit_told.is_set() else None)
        if limit is not None:
            return Outcome(
                Status.LIMIT,
                calls.messages,
                final_answer(calls.messages),
                str(limit),
                artifacts=said.artifacts,
                notes=said.notes,
            )
        if calls.failure is not None and (said.failure is not None or calls.reply is None):
            raise calls.failure  # also if the agent answers although the model never did
        if said.failure is None:
            return _answered(said, calls)
        return Outcome(
            Status.EXECUTION_ERROR,
            calls.messages,
            reason=said.failure,
            artifacts=said.artifacts,
            notes=said.notes,
        )


def _answered(said: AgentAnswer, calls: AgentAccess) -> Outcome:
    """Return the outcome of an agent that answered.

    If the conversation does not end with the answer, append the answer.
    """
    messages = calls.messages if said.messages is None else said.messages
    if final_answer(messages) != said.answer:
        messages = [*messages, {"role": "assistant", "content": said.answer}]
    status, reason = answer_status(calls.reply)
    return Outcome(status, messages, said.answer, reason, artifacts=said.artifacts, notes=said.notes)


def read_answer(value: Mapping[str, Any]) -> AgentAnswer:
    """Convert an object with `answer`, `messages` or both into an agent's answer.

    Without `answer`, the answer is the last assistant message.

    Raises:
        ExecutionError: If both are missing, if `answer` is not text, or if `messages` is not a list of
            messages.
    """
    answer, messages = value.get("answer"), value.get("messages")
    if answer is None and messages is None:
        raise ExecutionError("the agent's result has neither 'answer' nor 'messages'")
    if messages is not None and not (
        isinstance(messages, list) and all(isinstance(each, dict) and "role" in each for each in messages)
    ):
        raise ExecutionError("the agent's 'messages' must be a list of messages, each with a role")
    if answer is not None and not isinstance(answer, str):
        raise ExecutionError(f"the agent's 'answer' must be text, not {type(answer).__name__}")
    return AgentAnswer(final_answer(messages or []) if answer is None else answer, messages)
