"""A task that worker processes can make again: it echoes, sleeps, dies or complains, as the sample says."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.engine.engine_kit import FunctionScorer, FunctionTask

from benchwright.engine.protocols import Score, Session
from benchwright.engine.shards import ShardParts, WorkerSpec
from benchwright.errors import UserError
from benchwright.records import Outcome, Sample, Trial, TrialLimits


async def solve(trial: Trial, session: Session) -> Outcome:
    """Does what the content says: {"do": …}; the answer tells which process it was.

    With {"meet": [directory, count]} it waits first until so many processes have come there; with {"without": mark}
    besides, so many others than the one that died and left its mark.
    """
    content = trial.sample.content
    doing = content.get("do")
    if "meet" in content:
        await _meet(Path(content["meet"][0]), content["meet"][1], content.get("without"))
    if doing == "die once":
        mark = Path(content["mark"])
        if not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
    elif doing == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif doing == "sleep":
        Path(content["mark"]).touch()
        await asyncio.sleep(content.get("seconds", 60))
    elif doing == "complain":
        raise UserError("there is no such tool")
    elif doing == "print":
        print("printed by user code")
    await asyncio.sleep(0.005)
    return Outcome(answer=str(os.getpid()))


async def _meet(place: Path, count: int, mark: str | None) -> None:
    (place / str(os.getpid())).touch()
    while mark is not None and not Path(mark).exists():
        await asyncio.sleep(0.05)
    dead = None if mark is None else Path(mark).read_text()
    while len([one for one in place.iterdir() if one.name != dead]) < count:
        await asyncio.sleep(0.05)


def score(sample: Sample, outcome: Outcome) -> Score:
    """1, once the process that scores has not been told to die."""
    content = sample.content
    if content.get("do") == "die while scoring":
        mark = Path(content["mark"])
        if not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
    return Score(1.0)


def task_of(samples: list[Sample]) -> FunctionTask:
    """The task over these samples."""
    return FunctionTask(samples, solve, [FunctionScorer(score)])


def parts(concurrency: int) -> ShardParts:
    """What a shard needs; the samples come with the work."""
    return ShardParts(task_of([]), {}, TrialLimits())


class _Broken(FunctionTask):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[FunctionTask]:
        raise RuntimeError("there is no database")
        yield self


def broken(concurrency: int) -> ShardParts:
    """A task that cannot be opened, for a reason that nobody has thought of."""
    return ShardParts(_Broken([], solve), {}, TrialLimits())


def refuse(concurrency: int) -> ShardParts:
    """A recipe whose dataset is gone."""
    raise UserError("the dataset is not there any more")


def recipe(make: str = "parts") -> WorkerSpec:
    """The recipe of this module."""
    return WorkerSpec(f"{__name__}:{make}", (), tuple(sys.path))
