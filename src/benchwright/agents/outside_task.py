"""Agents built elsewhere, over a dataset: they reach the model by themselves, through the metered relay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from benchwright.agents.rows import Content, RowsTask, SampleRows
from benchwright.data.columns import documented_row
from benchwright.data.rows import Row
from benchwright.endpoint.relay import Relay
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Scorer, Session
from benchwright.engine.relayed import RelayedCalls
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Record, Status, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

VERSION = "1"
"""To be raised when the same agent would be given something else for the same row."""


class AgentAnswer(Record, frozen=True):
    """What an agent came to. Without `messages`, the conversation is the one that went through the relay;
    `failure` says why there is no answer, `notes` are sentences for whoever reads the trial."""

    answer: str = ""
    messages: list[Message] | None = None
    artifacts: dict[str, Any] = {}
    failure: str | None = None
    notes: list[str] = []


class OutsideAgent(Protocol):
    """An agent that asks the model with a client of its own."""

    @property
    def name(self) -> str:
        """What the task is called."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes with the agent's code, as far as it is known."""
        ...

    async def run(self, row: Row, trial: Trial, calls: RelayedCalls) -> AgentAnswer:
        """Runs the agent on one row. It may ask the model by what `calls` holds until this returns.

        Raises:
            Exception: whatever the agent raises; if it gave up because the model failed or a limit was
                reached, that becomes the trial's status.
        """
        ...


class OutsideTask(RowsTask):
    """The task: the rows of the dataset at `path`, each given to the agent, and the scorers.

    An agent gets its row as `content` makes it, with the documented column names, and two more: `row_index`, the row's
    place in the file from 0, and `run_index`, the repeat from 0.
    """

    def __init__(
        self,
        path: Path,
        agent: OutsideAgent,
        scorers: Sequence[Scorer],
        *,
        limit: int | None = None,
        offset: int = 0,
        group_by: str | None = None,
        content: Content = documented_row,
    ) -> None:
        spec = TaskSpec(
            name=agent.name,
            version=VERSION,
            fingerprint=fingerprint("outside", VERSION, agent.fingerprint),
            group_by=group_by,
        )
        super().__init__(SampleRows(path, limit, offset, group_by), spec, scorers, content)
        self._agent = agent

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OutsideSolver]:
        """Starts the relay, which all trials share."""
        async with Relay() as relay:
            yield OutsideSolver(self._agent, relay)


class OutsideSolver:
    """Runs the agent once per trial."""

    def __init__(self, agent: OutsideAgent, relay: Relay) -> None:
        self._agent = agent
        self._relay = relay

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Runs the agent on the trial's row.

        Raises:
            TrialError: the endpoint failed or a limit was reached, and the agent gave up for that reason.
            Exception: whatever the agent itself raises.
        """
        row = trial.sample.content | {"row_index": trial.sample.row_index, "run_index": trial.repeat}
        async with session.relay(self._relay) as calls:
            try:
                said = await self._agent.run(row, trial, calls)
            except Exception as error:  # clients wrap a failure of the model in exceptions of their own
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
            raise calls.failure  # also where an agent says something although the model never answered it
        if said.failure is None:
            return _answered(said, calls)
        return Outcome(
            Status.EXECUTION_ERROR,
            calls.messages,
            reason=said.failure,
            artifacts=said.artifacts,
            notes=said.notes,
        )


def _answered(said: AgentAnswer, calls: RelayedCalls) -> Outcome:
    """The outcome of an agent that answered; its answer is what its conversation ends with."""
    messages = calls.messages if said.messages is None else said.messages
    if final_answer(messages) != said.answer:
        messages = [*messages, {"role": "assistant", "content": said.answer}]
    status, reason = answer_status(calls.reply)
    return Outcome(status, messages, said.answer, reason, artifacts=said.artifacts, notes=said.notes)


def read_answer(value: Mapping[str, Any]) -> AgentAnswer:
    """What an agent said by an object with `answer`, `messages` or both; without the first, it is the last
    assistant message.

    Raises:
        ExecutionError: it has neither, or they are not text and a list of messages.
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
