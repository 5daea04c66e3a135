"""The samples of a level come round and round: read once where they fit in memory, the same ones in each round."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engine.engine_kit import TARGET, FunctionTask, plan_of

from benchwright.app.load import level_task
from benchwright.app.load.level_task import LevelTask
from benchwright.engine.plan import Plan
from benchwright.records import Outcome, Sample, Trial


class Counted(FunctionTask):
    """Three samples, and how many were read."""

    def __init__(self) -> None:
        async def solve(trial: Trial, session: object) -> Outcome:
            return Outcome()

        super().__init__([Sample(str(place), {"prompt": "x" * 100}) for place in range(3)], solve, [])
        self.read = 0

    def samples(self) -> Iterator[Sample]:
        for sample in super().samples():
            self.read += 1
            yield sample


def test_samples_that_come_again_are_read_once() -> None:
    task = Counted()
    assert [sample.id for sample in LevelTask(task, 3, 8).samples()] == list("01201201")
    assert task.read == 3


def test_samples_too_large_to_be_kept_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_task, "MAX_CACHED_CHARACTERS", 200)
    task = Counted()
    assert [sample.id for sample in LevelTask(task, 3, 8).samples()] == list("01201201")
    assert task.read == 8


def test_without_another_round_nothing_is_read_beyond_the_last_request() -> None:
    task = Counted()
    assert [sample.id for sample in LevelTask(task, 3, 2).samples()] == list("01")
    assert task.read == 2


def test_the_keys_of_samples_that_come_again_are_those_of_samples_read_again() -> None:
    again = list(LevelTask(Counted(), 3, 8).samples())
    asked = Plan(LevelTask(Counted(), 3, 8), 8, [TARGET]).trials()
    assert [trial.key for trial in asked] == [trial.key for trial in plan_of(again).trials()]
