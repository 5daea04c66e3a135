"""The memory categories: conversations that fill a model's memory, and questions that use the memory.

The order is that of bfcl_eval at commit 6ea5797. The conversations of a scenario run one after the other,
each with the memory that the previous one left. Every question then starts with the memory as it is after the
last conversation, and does not change it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.catalog.bfcl.calls import Mistake
from benchwright.catalog.bfcl.categories import MEMORY_CLASSES
from benchwright.catalog.bfcl.execution import EXECUTION_FAILED_KIND, Executor
from benchwright.catalog.bfcl.memory_prompts import memory_prompt
from benchwright.catalog.bfcl.memory_rows import Conversations, ConversationTurns
from benchwright.catalog.bfcl.multi_turn import MAX_STEPS, play_turns
from benchwright.catalog.bfcl.solver import CallMode
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Trial, TrialRecord
from benchwright.runs.journal import TrialBody

MemorySnapshot = dict[str, Any]
"""The content of a memory, as JSON."""


class MemoryKey(NamedTuple):
    """The key of a memory. Each scenario, model and repeat has a separate memory."""

    slot: str
    repeat: int
    category: str
    scenario: str


class _Memory:
    """A memory that is being filled. `played`: number of conversations held; `snapshot`: its content after them."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.played = 0
        self.snapshot: MemorySnapshot | None = None


class Memories:
    """All memories of a run, by key."""

    def __init__(self) -> None:
        self._of: dict[MemoryKey, _Memory] = {}

    def get_memory(self, whose: MemoryKey) -> _Memory:
        """Return the memory for a key. Create it if it does not exist."""
        return self._of.setdefault(whose, _Memory())

    def restore_memories(
        self,
        conversations: Conversations,
        trials: Iterable[TrialRecord],
        read: Callable[[TrialRecord], TrialBody],
    ) -> None:
        """Load memories from earlier trials of the run, so that later questions start with the same memories."""
        for trial in trials:
            category, scenario = trial.labels.get("category", ""), trial.labels.get("scenario", "")
            memory = self.get_memory(MemoryKey(trial.target, trial.repeat, category, scenario))
            if category in MEMORY_CLASSES and not memory.played:
                kept = read(trial).artifacts.get("memory")
                if kept is not None:
                    memory.snapshot = kept
                    memory.played = len(conversations.by_scenario.get(scenario, ()))


class MemorySolver:
    """A solver for questions about a memory. It fills the memory before a scenario's first question.

    The outcome's artifacts are `turns` (the calls), `memory` (its content when the question was asked), and
    `conversations` (messages of the conversations that this trial held).
    """

    def __init__(
        self, mode: CallMode, executor: Executor, conversations: Conversations, memories: Memories
    ) -> None:
        self._mode = mode
        self._executor = executor
        self._conversations = conversations
        self._memories = memories

    async def ask(self, trial: Trial, session: Session) -> Outcome:
        """Fill the memory unless it is filled already. Then ask the question, and return the outcome."""
        content = trial.sample.content
        whose = MemoryKey(trial.target.slot, trial.repeat, content["category"], content["scenario"])
        memory = self._memories.get_memory(whose)
        played: list[list[Message]] = []
        async with memory.lock:
            turns = self._conversations.by_scenario[whose.scenario]
            while memory.played < len(turns):
                session.progress(f"conversation {memory.played + 1} of {len(turns)} before the questions")
                outcome, memory.snapshot = await self._converse(
                    content, turns[memory.played], memory.snapshot, session, asks=False
                )
                memory.played += 1
                played.append(outcome.messages)
        outcome, _ = await self._converse(content, content["question"], memory.snapshot, session, asks=True)
        outcome.artifacts["memory"] = memory.snapshot
        if played:
            outcome.artifacts["conversations"] = played
        return outcome

    async def _converse(
        self,
        content: Mapping[str, Any],
        turns: ConversationTurns,
        snapshot: MemorySnapshot | None,
        session: Session,
        *,
        asks: bool,
    ) -> tuple[Outcome, MemorySnapshot | None]:
        """Hold a conversation. Return its outcome, and the memory's content afterwards."""
        name = MEMORY_CLASSES[content["category"]]
        opening = {
            "category": content["category"],
            "functions": content["functions"],
            "missed": {},
            "classes": [name],
            "initial_config": {name: {"snapshot": snapshot}},
        }
        async with self._executor.start(opening) as execution:
            seen = await execution.read_memory()
            first = memory_prompt(content["category"], content["scenario"], seen["shown"], asks=asks)
            question = [[first, *turns[0]], *turns[1:]]
            outcome = await play_turns(self._mode, {**opening, "question": question}, session, execution)
            if asks or "failed" in outcome.artifacts:
                return outcome, snapshot
            try:
                return outcome, (await execution.read_memory())["snapshot"]
            except (
                ExecutionError
            ):  # replacements can make it grow without bounds; the earlier snapshot is kept
                return outcome, snapshot


def check_answer(
    messages: Sequence[Message], artifacts: Mapping[str, Any], answers: Sequence[str]
) -> Mistake | None:
    """Return the reason why the last message does not answer the question. Return None if it does.

    Source: agentic_checker.py.
    """
    if "failed" in artifacts:
        return Mistake(EXECUTION_FAILED_KIND, artifacts["failed"])
    said = last_response(messages, artifacts)
    if not said:
        return Mistake("agentic:no_last_message", "Nothing was said that is not a function call.")
    text = normalize(said)
    if any(re.search(rf"\b{re.escape(normalize(answer))}\b", text) for answer in answers):
        return None
    return Mistake("agentic:answer_not_found", "None of the possible answers is in the last message.")


def last_response(messages: Sequence[Message], artifacts: Mapping[str, Any]) -> str | None:
    """Return the model's last message as text. Return None if the limit of steps was reached.

    As in the official code, a call with invalid arguments ends the conversation. In this case, the first call
    of the last message is returned as text.
    """
    turns = artifacts.get("turns") or [[]]
    if len(turns[-1]) > MAX_STEPS:
        return None
    last = next((one for one in reversed(messages) if one.get("role") == "assistant"), None)
    if last is None:
        return None
    if calls := last.get("tool_calls"):
        function = calls[0]["function"]
        return str({function["name"]: function["arguments"]})
    content = last.get("content")
    return content if isinstance(content, str) else None


_LEFT_OUT = re.compile(r"[,./\-_*^()]")


def normalize(text: str) -> str:
    """Return a text normalised for comparison: in lower case, with less punctuation, with double quotes only."""
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')
