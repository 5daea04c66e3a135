"""The trials of one load level: prompts are repeated in cycles until a number of requests or a duration is reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import islice
from typing import Any

import msgspec

from benchwright.engine.protocols import Scorer, Solver, Task
from benchwright.records import Sample, TaskSpec, Trial
from benchwright.runs.keys import SampleContent

MAX_CACHED_CHARACTERS = 50_000_000
"""Maximum number of characters of samples that are kept in memory, so that later cycles do not read them again."""

CACHED_DIGEST_CHARACTERS = 700
"""Size of the partial digest that is kept with each sample, as the number of characters that use as much memory."""


class LevelTask:
    """Task of one load level: cycles through the samples of another task, for at most `requests` requests.

    If there is more than one cycle, the requests of one sample are not independent trials of the model. They then form
    one cluster (`Sample.group`) for the statistics. A sample that already belongs to a cluster stays in its cluster.
    """

    def __init__(self, task: Task, size: int | None, requests: int | None) -> None:
        self._task = task
        self._size = size
        self._requests = requests
        self.spec: TaskSpec = task.spec
        self.scorers: Sequence[Scorer] = task.scorers

    @property
    def _repeats(self) -> bool:
        """True if a sample may occur more than once, because there are fewer samples than requests."""
        return self._size is not None and (self._requests is None or self._requests > self._size)

    def samples(self) -> Iterator[Sample]:
        """Yield samples in cycles until there are `requests` of them."""
        return (sample for sample, _ in self.encoded_samples())

    def encoded_samples(self) -> Iterator[tuple[Sample, SampleContent]]:
        """Yield the samples with their contents; see `RecurringTask.encoded_samples`."""
        return islice(self._round_and_round(), self._requests)

    def _round_and_round(self) -> Iterator[tuple[Sample, SampleContent]]:
        """Yield samples in endless cycles.

        The first cycle keeps the samples in memory for the next cycles, if all of them fit into
        `MAX_CACHED_CHARACTERS`. Otherwise each cycle reads the samples again.
        """
        kept, room, repeats = list[tuple[Sample, SampleContent]](), MAX_CACHED_CHARACTERS, self._repeats
        while True:
            for sample in self._task.samples():
                if repeats and sample.group is None:
                    sample = msgspec.structs.replace(sample, group=sample.id)
                found = sample, SampleContent(sample.content)
                if repeats and room > 0:
                    kept.append(found)
                    room -= _characters(sample.content) + CACHED_DIGEST_CHARACTERS
                yield found
            while repeats and room > 0:
                yield from kept

    def size(self) -> int:
        """Return the number of requests. If only the duration is limited, return the number of prompts."""
        return self._requests or self._size or 1

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Return the context manager of the task whose samples are used. The context yields that task's solver."""
        return self._task.open()


class TrialScheduler:
    """Sets the number and the due time of each trial of a load level. It is called as `Plan.reorder_trials`.

    A trial's `repeat` becomes the number of its cycle, and its `due_ns` the time at which it is due.
    """

    def __init__(self, size: int | None, due: Sequence[float] | None) -> None:
        self._size = size
        self._due = due

    def __call__(self, trials: Iterator[Trial]) -> Iterator[Trial]:
        """Yield the trials, each with the number of its cycle and its due time; see `Plan.reorder_trials`."""
        for place, trial in enumerate(trials):
            repeat = place // self._size if self._size else 0
            due = None if self._due is None else round(self._due[place] * 1e9)
            if (trial.repeat, trial.due_ns) != (repeat, due):
                trial = msgspec.structs.replace(trial, repeat=repeat, due_ns=due)
            yield trial


def _characters(content: Any) -> int:
    """Return the approximate length of a content in characters: its text, and 8 for each other value."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, Mapping):
        content = content.values()
    elif not isinstance(content, Sequence):
        return 8
    return 8 + sum(map(_characters, content))
