"""Prompt volume of a benchmark: number of requests and of prompt characters, counted while sending gold answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.scripted_checks import ScriptedSession
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.answers import content_text
from benchwright.errors import BenchwrightError
from benchwright.pictures import find_pictures
from benchwright.records import Message, Record, Sample, Target, Trial

PLACEHOLDER_TARGET = Target("primary", "nobody", "http://nobody.invalid/v1")


class PromptVolume(Record, frozen=True):
    """Mean prompt volume per sample: requests to the model, prompt characters, and image tokens.

    `samples`: number of samples over which the mean is taken. `picture_tokens`: image tokens, approximate
    (see `Picture.tokens`).
    """

    samples: int
    requests: float
    prompt_characters: float
    picture_tokens: float = 0.0


async def measure_prompt_volume(benchmark: Benchmark, samples: Iterable[Sample]) -> PromptVolume | None:
    """Return the mean prompt volume per sample. Return None if no sample has a gold answer to be sent."""
    played = []
    async with benchmark.open() as solver:
        for sample in samples:
            check = next(iter(benchmark.checks(sample)), None)
            if check is None:
                continue
            session = _CountingSession(ScriptedSession(check, PLACEHOLDER_TARGET))
            try:
                await solver.solve(Trial("", sample, PLACEHOLDER_TARGET), session)
            except BenchwrightError:  # a role for which the check has no line
                continue
            played.append((session.requests, session.characters, session.picture_tokens))
    if not played:
        return None
    return PromptVolume(len(played), *(sum(counts) / len(played) for counts in zip(*played, strict=True)))


class _CountingSession:
    """A scripted session that counts the requests to the model and their prompt characters.

    Requests of other roles (judge, simulated user) are not counted.
    """

    def __init__(self, scripted: ScriptedSession) -> None:
        self._scripted = scripted
        self.target = PLACEHOLDER_TARGET
        self.requests = 0
        self.characters = 0
        self.picture_tokens = 0

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        if role == "model":
            self.requests += 1
            for one in messages:
                self.characters += len(content_text(one.get("content")))
                self.picture_tokens += sum(seen.tokens for _, seen in find_pictures(one.get("content")))
            self.characters += len(msgspec.json.encode(params["tools"])) if params.get("tools") else 0
        return await self._scripted.chat(messages, role=role, slot=slot, **params)

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        return await self.chat([{"role": "user", "content": prompt}], role=role)

    async def count_tokens(self, text: str) -> int | None:
        return None

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        return self._scripted.relay(relay, names)

    def progress(self, text: str) -> None:
        """Do nothing."""
