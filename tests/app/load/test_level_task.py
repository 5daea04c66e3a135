"""The trials of a level: prompts come round and round, and the statistics know which belong together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from benchwright.app.load.level_task import LevelTask, Rounds
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample, Target, TaskSpec

TARGET = Target("primary", "m", "http://127.0.0.1:9/v1")


class Rows:
    """A task of so many samples, which nobody solves here."""

    def __init__(self, count: int, group: str | None = None) -> None:
        self.spec = TaskSpec("rows", "1", "f")
        self.scorers: tuple[Scorer, ...] = ()
        self._samples = [Sample(f"s{number}", number, group=group) for number in range(count)]

    def samples(self) -> Iterator[Sample]:
        return iter(self._samples)

    def size(self) -> int:
        return len(self._samples)

    def open(self) -> AbstractAsyncContextManager[Solver]:
        raise NotImplementedError


def plan(size: int, requests: int, due: list[float] | None = None) -> Plan:
    task = LevelTask(Rows(size), size, requests, None)
    return Plan(task, task.size(), [TARGET], arrange=Rounds(size, due))


@given(st.integers(1, 8), st.integers(1, 40))
def test_the_samples_come_in_turn_and_each_trial_has_a_key_and_a_place_of_its_own(
    size: int, requests: int
) -> None:
    trials = list(plan(size, requests).trials())
    assert [trial.sample.id for trial in trials] == [f"s{place % size}" for place in range(requests)]
    assert [trial.repeat for trial in trials] == [place // size for place in range(requests)]
    assert len({trial.key for trial in trials}) == requests
    assert len({(trial.sample.id, trial.repeat) for trial in trials}) == requests


def test_requests_of_one_sample_share_a_group_where_there_are_several() -> None:
    assert {trial.sample.group for trial in plan(3, 3).trials()} == {None}
    assert [trial.sample.group for trial in plan(3, 4).trials()] == ["s0", "s1", "s2", "s0"]


def test_a_group_of_the_data_stays() -> None:
    task = LevelTask(Rows(2, group="passage"), 2, 5, None)
    assert {sample.group for sample in task.samples()} == {"passage"}


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=20).map(sorted))
def test_each_trial_is_due_at_its_arrival(due: list[float]) -> None:
    trials = plan(3, len(due), due).trials()
    assert [trial.due_ns for trial in trials] == [round(moment * 1e9) for moment in due]


def test_none_is_begun_when_the_time_is_over() -> None:
    task = LevelTask(Rows(1), 1, None, 0.05)
    samples = task.samples()
    next(samples)
    time.sleep(0.06)
    assert list(islice(samples, 3)) == []
