"""The trials of one level: prompts taken round and round, for so many requests or so long, each when it is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import islice
from typing import Any

import msgspec

from benchwright.engine.protocols import Scorer, Solver, Task
from benchwright.records import Sample, TaskSpec, Trial
from benchwright.runs.keys import SampleContent

KEPT_CHARACTERS = 50_000_000
"""Characters of prompts that are kept in memory, so that they need not be read again for each round."""

DIGEST_CHARACTERS = 700
"""As many take about as much memory as the beginning of a digest, which is kept with each of them."""


class LevelTask:
    """A task of which the samples come round and round: at most `requests` of them.

    With more than one round the requests of one sample are not independent trials of the model: they share a group,
    unless the sample is in one already, which the statistics respect.
    """

    def __init__(self, task: Task, size: int | None, requests: int | None) -> None:
        self._task = task
        self._size = size
        self._requests = requests
        self.spec: TaskSpec = task.spec
        self.scorers: Sequence[Scorer] = task.scorers

    @property
    def _repeats(self) -> bool:
        """Whether a sample may come twice."""
        return self._size is not None and (self._requests is None or self._requests > self._size)

    def samples(self) -> Iterator[Sample]:
        """The samples, until there are enough."""
        return (sample for sample, _ in self.contents())

    def contents(self) -> Iterator[tuple[Sample, SampleContent]]:
        """See `RecurringTask.contents`."""
        return islice(self._round_and_round(), self._requests)

    def _round_and_round(self) -> Iterator[tuple[Sample, SampleContent]]:
        """The samples; those of the first round are kept for the next ones, as long as they are not too large."""
        kept, room, repeats = list[tuple[Sample, SampleContent]](), KEPT_CHARACTERS, self._repeats
        while True:
            for sample in self._task.samples():
                if repeats and sample.group is None:
                    sample = msgspec.structs.replace(sample, group=sample.id)
                found = sample, SampleContent(sample.content)
                if repeats and room > 0:
                    kept.append(found)
                    room -= _characters(sample.content) + DIGEST_CHARACTERS
                yield found
            while repeats and room > 0:
                yield from kept

    def size(self) -> int:
        """How many requests there will be; where only the time says it, how many prompts there are."""
        return self._requests or self._size or 1

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Starts what the task needs."""
        return self._task.open()


class Rounds:
    """Puts trials in order of time: `repeat` is the round in which a sample comes, `due` says when each is due."""

    def __init__(self, size: int | None, due: Sequence[float] | None) -> None:
        self._size = size
        self._due = due

    def __call__(self, trials: Iterator[Trial]) -> Iterator[Trial]:
        """See `Plan.arrange`."""
        for place, trial in enumerate(trials):
            repeat = place // self._size if self._size else 0
            due = None if self._due is None else round(self._due[place] * 1e9)
            if (trial.repeat, trial.due_ns) != (repeat, due):
                trial = msgspec.structs.replace(trial, repeat=repeat, due_ns=due)
            yield trial


def _characters(content: Any) -> int:
    """About how long a content is: its text, and a little for each value."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, Mapping):
        content = content.values()
    elif not isinstance(content, Sequence):
        return 8
    return 8 + sum(map(_characters, content))
