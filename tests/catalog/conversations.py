"""A session whose models say what they are told to, and what a benchmark makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.catalog.catalog_kit import benchmark

from benchwright.catalog.benchmark import Benchmark, GradedTrial
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Score
from benchwright.records import NO_USAGE, Message, Outcome, Sample, Status, Target, Trial, Usage


class Talk:
    """The model and the judge answer in turn; every question is remembered. `count` stands for /tokenize."""

    def __init__(
        self,
        replies: Sequence[str] = (),
        *,
        judge: Sequence[str] = (),
        usage: Usage = NO_USAGE,
        count: Callable[[str], int | None] = lambda text: None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.target = Target("primary", "some-model", "http://127.0.0.1:1/v1", dict(settings or {}))
        self.asked: list[tuple[str, list[Message], dict[str, Any]]] = []
        self.counted: list[str] = []
        self._lines = {"model": list(replies), "judge": list(judge)}
        self._usage = usage
        self._count = count

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append((role, list(messages), params | ({"slot": slot} if slot else {})))
        text = self._lines[role].pop(0)
        return Reply(
            {"role": "assistant", "content": text}, text=text, usage=self._usage, model=f"the {role}"
        )

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise AssertionError("these benchmarks chat")

    async def count_tokens(self, text: str) -> int | None:
        self.counted.append(text)
        return self._count(text)

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        raise AssertionError("these benchmarks ask themselves")

    def progress(self, text: str) -> None:
        raise AssertionError("these benchmarks show no progress")


async def solved(task: Benchmark, sample: Sample, talk: Talk) -> Outcome:
    """What the benchmark's solver makes of a sample."""
    async with task.open() as solver:
        return await solver.solve(Trial("t", sample, talk.target), talk)


async def scored(
    name: str | Benchmark, content: Mapping[str, Any], answer: str, talk: Talk | None = None
) -> Score:
    """What a benchmark's first scorer says of an answer to a sample with this content."""
    task = benchmark(name) if isinstance(name, str) else name
    return await task.scorers[0].score(Sample("s", dict(content)), Outcome(answer=answer), talk or Talk())


async def asked(task: Benchmark, sample: Sample) -> tuple[list[Message], dict[str, Any]]:
    """The first question to the model: its messages and parameters."""
    talk = Talk(["An answer."] * 2)
    await solved(task, sample, talk)
    return talk.asked[0][1], talk.asked[0][2]


def graded(
    value: float | None,
    detail: Mapping[str, Any] | None = None,
    *,
    sample: str = "s",
    status: Status | None = None,
    labels: Mapping[str, str] | None = None,
) -> GradedTrial:
    """One score as a benchmark's figures see it."""
    known = Status.UNPARSED if value is None else Status.SCORED
    return GradedTrial(sample, 0, None, labels or {}, status or known, value, detail or {})


def figures(task: Benchmark, scores: Sequence[GradedTrial]) -> dict[str, float | None]:
    """A benchmark's figures by name."""
    return {figure.name: figure.value for figure in task.figures(scores)}
