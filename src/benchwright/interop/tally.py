"""What is found out about a foreign run while its trials are written: doubles, scales, and missing parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import msgspec
import xxhash

from benchwright.formats import counted
from benchwright.interop.foreign import ForeignRun, ForeignScale, ForeignTrial, UnreadableResults
from benchwright.text import one_line

CLOSE = 6e-5
"""How far two means of the same values may lie apart: programs round theirs to four digits."""

LONGEST_NAME = 60


class Tally:
    """Takes the trials of a run one by one, and says at the end what a reader of the run should know.

    A trial that stands twice, word for word, counts once. Two that differ are refused: nothing tells which counts.
    """

    def __init__(self, run: ForeignRun) -> None:
        self._run = run
        self._seen: dict[str, int] = {}
        self._twice = 0
        self._unread: list[str] = []
        self._remarks: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._scores = {name: _Values(scale) for name, scale in run.scores.items()}

    @property
    def count(self) -> int:
        """The number of trials that count."""
        return len(self._seen)

    def add(self, trial: ForeignTrial, key: str, content: bytes) -> bool:
        """Take a trial in, which is written as `content`; return False if it is known already, word for word.

        Raises:
            UnreadableResults: If a trial of the same sample, repeat and target has another content.
        """
        digest = xxhash.xxh3_64_intdigest(content)
        if key in self._seen:
            if self._seen[key] != digest:
                raise UnreadableResults(
                    f"{self._run.path}: sample {trial.sample!r}, repeat {trial.repeat + 1}, "
                    "appears twice, and the two differ."
                )
            self._twice += 1
            return False
        self._seen[key] = digest
        if trial.unread:
            self._unread.append(trial.reason or "")
        for remark in trial.remarks:
            self._remarks[remark] += 1
            self._examples.setdefault(remark, trial.sample)
        for name, score in trial.scores.items():
            self._scores.setdefault(name, _Values(ForeignScale())).add(score.value)
        return True

    def check_any_read(self) -> None:
        """Refuse a run of which no trial could be read.

        Raises:
            UnreadableResults: If the record of every trial is damaged.
        """
        if self._unread and len(self._unread) == self.count:
            raise UnreadableResults(self._unread[0])

    def scales(self) -> dict[str, ForeignScale]:
        """Return what is known of each score: what the format says; of one that is 0 or 1 everywhere, 1 passes.

        A scorer that gave only parts (`scorer.part`) has no score of its own.
        """
        whole = {name.rpartition(".")[0] for name, values in self._scores.items() if values.are_there}
        return {
            name: values.known_scale()
            for name, values in self._scores.items()
            if values.are_there or name not in whole
        }

    def notes(self) -> Iterator[str]:
        """Yield what a reader should know, a sentence each."""
        planned, count = self._run.planned, self.count
        if self._run.state == "finished" and planned is not None and count + self._run.absent < planned:
            yield f"It tells of {counted(planned, 'trial')}; {count:,} are in its files."
        if self._twice:
            yield f"{counted(self._twice, 'trial')} stood twice, word for word; each counts once."
        if self._unread:
            yield f"The records of {counted(len(self._unread), 'trial')} are damaged: {self._unread[0]}"
        for remark, times in self._remarks.items():
            example = one_line(self._examples[remark], LONGEST_NAME)
            yield f"{remark}: {counted(times, 'trial')}, such as {example}."
        for name, values in self._scores.items():
            if values.disagrees(self.count):
                yield (
                    f"{name}: the program itself gives a mean of {values.scale.mean:.4f}, the values in its files have "
                    f"one of {values.mean:.4f}."
                )


class _Values:
    """The values of one score, and what the format says of it."""

    def __init__(self, scale: ForeignScale) -> None:
        self.scale = scale
        self._sum = 0.0
        self._count = 0
        self._graded = False

    def add(self, value: float | None) -> None:
        """Take a value in."""
        if value is not None:
            self._sum += value
            self._count += 1
            self._graded |= value not in (0, 1)

    @property
    def are_there(self) -> bool:
        """Whether any trial has a value."""
        return self._count > 0

    @property
    def mean(self) -> float:
        """The mean of the values; there must be some."""
        return self._sum / self._count

    def disagrees(self, trials: int) -> bool:
        """Return whether the program gives another mean, although every trial has a value."""
        theirs = self.scale.mean
        return (
            theirs is not None
            and self._count == trials > 0
            and not math.isclose(self.mean, theirs, abs_tol=CLOSE)
        )

    def known_scale(self) -> ForeignScale:
        """Return the scale as a manifest holds it."""
        scale = msgspec.structs.replace(self.scale, mean=None)
        if self._graded or scale.passing is not None or scale.lower_is_better:
            return scale
        return msgspec.structs.replace(scale, low=0.0, high=1.0, passing=1.0)
