"""Validation: a benchmark's gold answers must score 1 and its decoys must not, through its own solver and scorers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.scripted import EXPECTED_TO_FAIL, MUST_NOT_PASS, ScriptedTask
from benchwright.catalog.selection import Selection
from benchwright.data.datasets import Source
from benchwright.endpoint.client import NO_PURPOSE, Purpose
from benchwright.endpoint.reply import Reply
from benchwright.engine.aside import run_aside
from benchwright.engine.plan import Plan
from benchwright.errors import ExecutionError
from benchwright.records import FAILED, Record, RequestRecord, ScoreRecord, Target, TrialRecord
from benchwright.runs.table import RunTable

AT_ONCE = 8


class Failure(Record, frozen=True):
    """A check that did not come out as it must. `check` is `sample/name of the check`."""

    check: str
    said: str


class ValidationResult(Record, frozen=True):
    """What was validated: how many checks, those that failed, and the listed exceptions with their reasons."""

    name: str
    samples: int
    checks: int
    failures: list[Failure]
    exceptions: dict[str, str] = {}


async def validate(
    benchmark: Benchmark,
    source: Source,
    selection: Selection = Selection(),  # noqa: B008  # frozen
) -> ValidationResult:
    """Plays all checks of the selected samples.

    Raises:
        DatasetError: a row is not as it should be.
        UserError: no sample is selected, or the selection names what no sample has.
    """
    task = ScriptedTask(benchmark, source, selection)
    count = task.size()
    plan = Plan(task, count, (_Nobody.target,))
    with tempfile.TemporaryDirectory() as directory:
        await run_aside(plan, {"primary": _Nobody()}, AT_ONCE, Path(directory))
        return _judge(benchmark.about.full_name, Path(directory))


class _Nobody:
    """A client for a task that asks nobody."""

    target = Target("primary", "scripted", "http://scripted.invalid/v1")

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        purpose: Purpose = NO_PURPOSE,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Refuses."""
        raise ExecutionError("a scripted check asked a model")

    async def count_tokens(self, text: str) -> int | None:
        """Nobody counts."""
        return None

    def hurry(self) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing is open."""


def _judge(name: str, directory: Path) -> ValidationResult:
    table = RunTable(directory, effort=True)
    table.advance()
    failures: list[Failure] = []
    exceptions: dict[str, str] = {}
    for trial in table.trials(table.in_order(table.counted())):
        record = trial.record
        if record.status in FAILED:
            failures.append(Failure(record.sample, record.reason or record.status))
        for score in trial.scores.values():
            said = _complaint(record, score)
            reason = record.labels.get(EXPECTED_TO_FAIL)
            if reason is not None:
                exceptions[record.sample] = reason
                said = None if said else "passes, although it is listed as an exception"
            if said:
                failures.append(Failure(record.sample, said))
    samples = {sample.rpartition("/")[0] for sample in table.sample}
    return ValidationResult(name, len(samples), len(table), failures, exceptions)


def _complaint(trial: TrialRecord, score: ScoreRecord) -> str | None:
    passed = score.value == 1.0
    if MUST_NOT_PASS in trial.labels:
        return "scores 1, although it is wrong" if passed else None
    if passed:
        return None
    why = (score.detail or {}).get("error")
    return f"scores {score.value}, although it is correct" + (f" ({why})" if why else "")
