"""Runs a benchmark in containers against a scripted simulated model, as the program does."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.sandbox.docker.stand_ins import containers
from tests.simulated import simulated_endpoint

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.selection import Selection
from benchwright.catalog.task import BenchmarkTask
from benchwright.data.datasets import Source
from benchwright.endpoint.providers import connect_client, find_target
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.run import run
from benchwright.records import ScoreRecord
from benchwright.runs.journal import Journal, read_body
from benchwright.runs.table import RunTable
from benchwright.sandbox.docker.ownership import RUN_LABEL


class Played:
    """What came of a run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        table = RunTable(directory)
        table.read_journal()
        self.trials = {trial.record.sample: trial for trial in table.read_trials(table.counted_rows())}

    def score(self, sample: str) -> ScoreRecord:
        """The only score of a sample."""
        assert self.trials[sample].scores, self.trials[sample].record.reason
        (score,) = self.trials[sample].scores.values()
        return score

    def detail(self, sample: str) -> dict[str, Any]:
        """The details of its score."""
        detail = self.score(sample).detail
        assert detail is not None
        return dict(detail)

    def artifacts(self, sample: str) -> dict[str, Any]:
        """What its solver noted."""
        return read_body(self._directory, self.trials[sample].record).artifacts

    @property
    def values(self) -> dict[str, float | None]:
        """The scores by sample."""
        return {sample: self.score(sample).value for sample in self.trials}


async def played(
    benchmark: Benchmark,
    source: Source,
    directory: Path,
    scripts: Sequence[Mapping[str, Any]] = (),
    *options: str,
    ids: Sequence[str] = (),
) -> Played:
    """Runs it, or these samples of it; `scripts` are what the simulated model says, `options` those of `simulate`.

    Nothing may be left of its containers.
    """
    directory = directory / f"run-{secrets.token_hex(6)}"
    task = BenchmarkTask(benchmark, source, Selection(ids=ids))
    with simulated_endpoint("--policy=refusal", *options, scripts=[dict(one) for one in scripts]) as url:
        target = find_target("m", url)
        client = connect_client(target)
        journal = Journal(directory)
        try:
            plan = Plan(task, task.size(), [target])
            await run(plan, LocalExecutor({target.slot: client}, 4), journal, signals=False)
        finally:
            journal.close()
            client.close()
    assert containers(f"{RUN_LABEL}={directory.name}") == []
    return Played(directory)


def says(prompt: str, *replies: str) -> dict[str, Any]:
    """A script: what is replied, turn by turn, in a conversation that opens with this text."""
    return {"prompt": prompt, "replies": [{"role": "assistant", "content": text} for text in replies]}


def bash(command: str) -> str:
    """An answer that gives a command."""
    return f"```bash\n{command}\n```"
