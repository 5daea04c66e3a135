"""A plan: the samples, targets, repeats, order and limits of a run's trials."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

import msgspec

from benchwright.engine.protocols import RecurringTask, Task
from benchwright.records import Sample, Target, Trial, TrialLimits, TrialRecord
from benchwright.runs.keys import SampleContent, TrialKeys

ConversationFilter = Callable[[TrialRecord], bool]


def keep_all_conversations(record: TrialRecord) -> bool:
    """Return True, so that every conversation is kept (the default of `Plan.keep_condition`)."""
    return True


class Plan(msgspec.Struct, frozen=True):
    """All trials of a run.

    `targets` are evaluated; `helper_targets` (judge, simulated user) are not, but solvers and scorers can ask them by
    their slots.

    - `sample_count`: number of samples, as counted by `Task.size`. If `open_ended` is True, the time limit may end
      the task before that many, or the task may yield more.
    - `max_requests_per_trial`: maximum number of requests in flight per trial.
    - `reorder_trials`: function that puts the trials into another order and into waves. It may hold all trials in
      memory.
    - `shares_clock`: True if all worker processes get ready before the first trial is drawn, and then share one
      clock that starts at that moment.
    - `max_seconds`: time on that clock after which no trial and no turn begins, except for trials that were due
      before.
    - `is_cancellable`: True if the solver can be cancelled. In this case the first signal cancels it.
    - `keep_condition`: function that returns True if the conversation of an ended trial is stored. Each
      worker process has its own copy of the function.
    - `shares_journal`: True if other plans use the same journal. In this case finished trials are counted one
      by one.
    """

    task: Task
    sample_count: int
    targets: Sequence[Target]
    helper_targets: Sequence[Target] = ()
    repeats: int = 1
    limits: TrialLimits = TrialLimits()
    reorder_trials: Callable[[Iterator[Trial]], Iterator[Trial]] | None = None
    open_ended: bool = False
    shares_clock: bool = False
    max_seconds: float | None = None
    max_requests_per_trial: int = 1
    is_cancellable: bool = False
    keep_condition: ConversationFilter = keep_all_conversations
    shares_journal: bool = False

    @property
    def trial_count(self) -> int:
        """Number of trials."""
        return self.sample_count * self.repeats * len(self.targets)

    def trials(self) -> Iterator[Trial]:
        """Yield the trials lazily: by sample, then by repeat, then by target, unless `reorder_trials` puts them into
        another order.
        """
        trials = self._in_turn()
        return trials if self.reorder_trials is None else self.reorder_trials(trials)

    def samples_with_digests(self) -> Iterator[tuple[Sample, bytes]]:
        """Yield the samples in the order of the task, each with the digest of its content.

        Samples are read as they are needed. Samples with equal content get different occurrence numbers, and
        thus different digests.
        """
        occurrences = _Occurrences()
        for sample, content in _contents(self.task):
            digest = content.digest(sample.occurrence)
            times = occurrences.count(digest)
            if times:
                sample = msgspec.structs.replace(sample, occurrence=times)
                digest = content.digest(times)
            yield sample, digest

    def _in_turn(self) -> Iterator[Trial]:
        solver = self.task.spec.fingerprint
        keys = [TrialKeys(target, solver, self.limits) for target in self.targets]
        for sample, digest in self.samples_with_digests():
            yield from self._trials_of(sample, digest, keys)

    def _trials_of(self, sample: Sample, digest: bytes, keys: list[TrialKeys]) -> Iterator[Trial]:
        for repeat in range(self.repeats):
            for target, maker in zip(self.targets, keys, strict=True):
                yield Trial(key=maker.trial_key(digest, repeat), sample=sample, target=target, repeat=repeat)


def _contents(task: Task) -> Iterator[tuple[Sample, SampleContent]]:
    if isinstance(task, RecurringTask):
        return task.encoded_samples()
    return ((sample, SampleContent(sample.content)) for sample in task.samples())


class _Occurrences:
    """Counts how often each content has occurred, by its 64-bit digest. It takes 11 to 16 bytes per sample.

    The digests are in 256 open-addressing tables. These are small, so that none takes long to grow.
    """

    def __init__(self) -> None:
        self._tables = [array("Q", [0]) * 16 for _ in range(256)]
        self._used = [0] * 256
        self._repeated: dict[int, int] = {}

    def count(self, digest: bytes) -> int:
        value = int.from_bytes(digest[:8], "big") or 1
        number = digest[8]
        if not _add(self._tables[number], value):
            times = self._repeated[value] = self._repeated.get(value, 0) + 1
            return times
        self._used[number] += 1
        if 4 * self._used[number] > 3 * len(self._tables[number]):
            self._tables[number] = _grown(self._tables[number])
        return 0


def _add(table: array[int], value: int) -> bool:
    """Add a value to a table. Return True if the value is new."""
    size = len(table)
    place = value % size
    while table[place]:
        if table[place] == value:
            return False
        place = (place + 1) % size
    table[place] = value
    return True


def _grown(table: array[int]) -> array[int]:
    larger = array("Q", [0]) * (len(table) * 3 // 2)
    for value in table:
        if value:
            _add(larger, value)
    return larger
