"""Collects facts while the trials of another program are written into a run.

The facts are duplicate trials, missing trials, and the scales of scores.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import msgspec
import xxhash

from benchwright.formats import count_with_noun
from benchwright.interop.foreign_results import ForeignRun, ForeignScale, ForeignTrial, UnreadableResults
from benchwright.text import one_line

MEAN_TOLERANCE = 6e-5
"""Largest difference of two means that count as equal. Programs round the means that they report to four digits."""

MAX_NAME_LENGTH = 60


class ImportTally:
    """Receives the trials of an imported run one by one. At the end, it yields scales and notes.

    If a trial occurs twice with equal contents, it counts once. If the contents differ, it is an error, because
    nothing shows which of the two counts.
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
    def trial_count(self) -> int:
        """Number of trials that count."""
        return len(self._seen)

    def add_trial(self, trial: ForeignTrial, key: str, content: bytes) -> bool:
        """Add a trial, whose encoded form is `content`.

        Return False if the same trial was added before with equal content.

        Raises:
            UnreadableResults: If a trial of the same sample, repeat and target was added before with other
                content.
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
        if trial.is_damaged:
            self._unread.append(trial.reason or "")
        for remark in trial.remarks:
            self._remarks[remark] += 1
            self._examples.setdefault(remark, trial.sample)
        for name, score in trial.scores.items():
            self._scores.setdefault(name, _Values(ForeignScale())).add(score.value)
        return True

    def require_readable_trial(self) -> None:
        """Check that at least one trial could be read.

        Raises:
            UnreadableResults: If the record of every trial is damaged.
        """
        if self._unread and len(self._unread) == self.trial_count:
            raise UnreadableResults(self._unread[0])

    def score_scales(self) -> dict[str, ForeignScale]:
        """Return the scale of each score: its range, the lowest value that passes, and its direction.

        If the format states a passing value or that lower values are better, or if a value is neither 0 nor
        1, the scale is the one that the format states. Otherwise the range is 0 to 1, and 1 passes.

        If a scorer returns several values, each value is a score named `scorer.part`. A scorer that produced
        only such scores has no score of its own.
        """
        whole = {name.rpartition(".")[0] for name, values in self._scores.items() if values.are_there}
        return {
            name: values.known_scale()
            for name, values in self._scores.items()
            if values.are_there or name not in whole
        }

    def notes(self) -> Iterator[str]:
        """Yield facts that a reader of the imported data should know, one sentence each.

        They are about missing, duplicate and damaged trials, and about means that differ from the program's
        own.
        """
        planned, count = self._run.planned_trials, self.trial_count
        if (
            self._run.state == "finished"
            and planned is not None
            and count + self._run.absent_trials < planned
        ):
            yield f"It tells of {count_with_noun(planned, 'trial')}; {count:,} are in its files."
        if self._twice:
            yield f"{count_with_noun(self._twice, 'trial')} stood twice, word for word; each counts once."
        if self._unread:
            yield f"The records of {count_with_noun(len(self._unread), 'trial')} are damaged: {self._unread[0]}"
        for remark, times in self._remarks.items():
            example = one_line(self._examples[remark], MAX_NAME_LENGTH)
            yield f"{remark}: {count_with_noun(times, 'trial')}, such as {example}."
        for name, values in self._scores.items():
            if values.disagrees(self.trial_count):
                yield (
                    f"{name}: the program itself gives a mean of {values.scale.mean:.4f}, the values in its files have "
                    f"one of {values.mean:.4f}."
                )


class _Values:
    """The values of one score, and the scale that the format states for this score."""

    def __init__(self, scale: ForeignScale) -> None:
        self.scale = scale
        self._sum = 0.0
        self._count = 0
        self._graded = False

    def add(self, value: float | None) -> None:
        """Add a value. None is ignored."""
        if value is not None:
            self._sum += value
            self._count += 1
            self._graded |= value not in (0, 1)

    @property
    def are_there(self) -> bool:
        """True if any trial has a value."""
        return self._count > 0

    @property
    def mean(self) -> float:
        """The mean of the values. There must be at least one."""
        return self._sum / self._count

    def disagrees(self, trials: int) -> bool:
        """Return True if every trial has a value, but the mean of the values differs from the mean that the
        program reports.
        """
        theirs = self.scale.mean
        return (
            theirs is not None
            and self._count == trials > 0
            and not math.isclose(self.mean, theirs, abs_tol=MEAN_TOLERANCE)
        )

    def known_scale(self) -> ForeignScale:
        """Return the scale in the form in which a run's manifest stores it: without the mean that the program
        reports.
        """
        scale = msgspec.structs.replace(self.scale, mean=None)
        if self._graded or scale.passing is not None or scale.lower_is_better:
            return scale
        return msgspec.structs.replace(scale, low=0.0, high=1.0, passing=1.0)
