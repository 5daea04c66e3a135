"""What the tests of scorers share: scoring one answer, and a session whose judge says what it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Score, Scorer
from benchwright.records import Message, Outcome, Sample, Target

Scoring = Callable[..., Score]


class ScriptedJudge:
    """A session that answers every chat with the same text and remembers what it was asked."""

    def __init__(self, verdict: str = "", finish_reason: str = "stop") -> None:
        self.verdict = verdict
        self.finish_reason = finish_reason
        self.target = Target("primary", "some-model", "http://127.0.0.1:1/v1")
        self.asked: list[tuple[Sequence[Message], dict[str, Any]]] = []

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append((messages, {"role": role, "slot": slot, **params}))
        return Reply(
            {"role": "assistant", "content": self.verdict},
            text=self.verdict,
            finish_reason=self.finish_reason,
            model="judge-1",
        )

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise AssertionError("a judge is asked by chat")

    async def count_tokens(self, text: str) -> int | None:
        raise AssertionError("scoring counts no tokens")

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        raise AssertionError("scoring asks by itself")

    def progress(self, text: str) -> None:
        raise AssertionError("scoring shows no progress")


@pytest.fixture(scope="session")
def score() -> Scoring:
    """Scores an answer against `ground_truth`, with more of the sample's content if given."""

    def score_answer(
        scorer: Scorer, answer: str, ground_truth: Any, session: ScriptedJudge | None = None, **content: Any
    ) -> Score:
        sample = Sample("s1", {"ground_truth": ground_truth, **content})
        return asyncio.run(scorer.score(sample, Outcome(answer=answer), session or ScriptedJudge()))

    return score_answer


@pytest.fixture(scope="session")
def judge_saying() -> Callable[..., ScriptedJudge]:
    """Makes a session whose judge gives the verdict that is passed."""
    return ScriptedJudge
