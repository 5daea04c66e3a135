"""Runs a benchmark's solver and scorers on its checks (scripted conversations), without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Benchmark, Check
from benchwright.catalog.second_try import RetryingSolver
from benchwright.catalog.selection import Selection, count_selected, select_samples
from benchwright.data.datasets import Source
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Score, Scorer, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Sample, Target, TaskSpec, Trial

DECOY_LABEL = "must_not_pass"
"""The label of samples that are a decoy."""

EXPLOIT_LABEL = "exploit"
"""The label of samples that are an exploit. Its value is the exploit's class."""

NOT_APPLICABLE_EXIT_CODE = 69
"""Exit code of an exploit's command that cannot be tried in this container: EX_UNAVAILABLE of sysexits(3)."""

KNOWN_FAILURE_LABEL = "expected_to_fail"
"""The label of gold answers that are known to fail. Its value is the reason."""


class ScriptedSession:
    """A session that answers requests with a check's scripted messages for the model, the user or the judge.

    Raises:
        ExecutionError: If a request goes to a role for which the check has no messages.
    """

    def __init__(self, check: Check, target: Target) -> None:
        self.target = target
        self._lines: dict[str, Sequence[Message]] = {
            "model": check.replies,
            "user": [_said(line) for line in check.user_replies],
            "judge": [_said(line) for line in check.judge_replies],
        }
        self._asked: dict[str, int] = {}

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        """Return the role's next scripted message. When all have been used, return the last message again."""
        lines = self._lines.get(role)
        if not lines:
            raise ExecutionError(f"the check has no line for the role {role!r}")
        turn = self._asked[role] = self._asked.get(role, -1) + 1
        return _reply(lines[min(turn, len(lines) - 1)])

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        """Return the role's next scripted message. `prompt` is ignored."""
        return await self.chat([], role=role)

    async def count_tokens(self, text: str) -> int | None:
        """Return None: there is no tokenizer."""
        return None

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        """Raise ExecutionError, because scripted agents need no relay."""
        raise ExecutionError("a scripted check cannot be relayed")

    def progress(self, text: str) -> None:
        """Do nothing."""


def _said(line: str | Message) -> Message:
    return {"role": "assistant", "content": line} if isinstance(line, str) else line


def _reply(message: Message) -> Reply:
    calls = message.get("tool_calls") or []
    kept = {name: value for name, value in message.items() if name != "logprobs"}
    return Reply(
        message=kept,
        text=message.get("content") or "",
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        logprobs=message.get("logprobs"),
    )


class ScriptedTask:
    """An engine task whose samples are the checks of the selected samples of a benchmark."""

    def __init__(
        self,
        benchmark: Benchmark,
        source: Source,
        selection: Selection = Selection(),  # noqa: B008  # frozen
    ) -> None:
        self._benchmark = benchmark
        self._source = source
        self._selection = selection
        self.scorers: Sequence[Scorer] = [ScriptedScorer(scorer) for scorer in benchmark.scorers[:1]]
        self.spec = TaskSpec(f"validate-{benchmark.about.full_name}", benchmark.about.version, "scripted")

    def samples(self) -> Iterator[Sample]:
        """Yield one sample per check. Its content holds the original sample and the check."""
        for sample in select_samples(self._benchmark, self._source, self._selection):
            for check in self._benchmark.checks(sample):
                content = {"sample": msgspec.to_builtins(sample), "check": msgspec.to_builtins(check)}
                yield Sample(f"{sample.id}/{check.name}", content, labels=_labels(check))

    def size(self) -> int:
        """Return the number of checks.

        Raises:
            UserError: If no sample is selected, or the selection names an id, label or value that no sample
                has.
        """
        count_selected(self._benchmark, self._source, self._selection)
        return sum(1 for _ in self.samples())

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Start whatever the benchmark's solver needs, and yield a solver that runs it on checks.

        On exit, stop what was started.
        """
        async with self._benchmark.open() as solver:
            yield RetryingSolver(ScriptedSolver(solver), self.scorers[0], _must_pass)


def original_sample(trial: Trial) -> Sample:
    """Return the benchmark's sample whose check is solved in this trial."""
    return _parts(trial.sample)[0]


def _must_pass(sample: Sample) -> bool:
    check = _parts(sample)[1]
    return check.passes and check.reason is None


def _labels(check: Check) -> dict[str, str]:
    labels = {} if check.passes else {DECOY_LABEL: check.name}
    labels |= {EXPLOIT_LABEL: check.name} if check.is_exploit else {}
    return labels if check.reason is None else labels | {KNOWN_FAILURE_LABEL: check.reason}


class ScriptedSolver:
    """Runs the benchmark's solver with a scripted session."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run the benchmark's solver on the check's original sample, with a scripted session."""
        sample, check = _parts(trial.sample)
        inner = msgspec.structs.replace(trial, sample=sample)
        return await self._solver.solve(inner, ScriptedSession(check, session.target))


class ScriptedScorer:
    """Runs a scorer of the benchmark with a scripted session."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.name = scorer.name
        self.fingerprint = scorer.fingerprint

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Score the original sample with the benchmark's scorer."""
        inner, check = _parts(sample)
        return await self._scorer.score(inner, outcome, ScriptedSession(check, session.target))


def _parts(sample: Sample) -> tuple[Sample, Check]:
    content = sample.content
    return msgspec.convert(content["sample"], Sample), msgspec.convert(content["check"], Check)
