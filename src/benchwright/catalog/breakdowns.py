"""Breakdowns of scores by label, such as subject, category or length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.records import Record
from benchwright.runs.counting_rules import FAILURE_STATUSES
from benchwright.statistic import NoScore, Statistic, numeric_statistics


class Breakdown(Record, frozen=True):
    """The mean score of the trials that share one value of a label, such as one subject.

    `n`: number of these trials. `mean`: mean over all of them; failed trials count as 0, as in
    llm-benchmarker's accuracy. `mean_scored`: mean over the `n_scored` trials that did not fail. In both
    means, a trial without an answer counts as 0. If all trials failed, both means are the same `NoScore`.
    """

    label: str
    value: str
    n: int
    mean: Statistic
    n_scored: int = 0
    mean_scored: Statistic = None


class _Sum:
    """Running totals for one value of a label: trials, scored trials, and the sum of their scores."""

    def __init__(self) -> None:
        self.n = self.n_scored = 0
        self.total = 0.0

    def add(self, score: float | None) -> None:
        self.n += 1
        if score is not None:
            self.n_scored += 1
            self.total += score

    def entry(self, label: str, value: str) -> Breakdown:
        if not self.n_scored:
            none = NoScore(self.n)
            return Breakdown(label, value, self.n, none, 0, none)
        means = self.total / self.n, self.total / self.n_scored
        return Breakdown(label, value, self.n, means[0], self.n_scored, means[1])


class Breakdowns:
    """Sums of scores for each value of each label, updated trial by trial."""

    def __init__(self, labels: Iterable[str]) -> None:
        self._sums: dict[str, dict[str, _Sum]] = {label: {} for label in labels}

    def add(self, labels: Mapping[str, str], score: float | None) -> None:
        """Count one trial. `score`: 0 if the trial has no answer, None if it failed."""
        for label, sums in self._sums.items():
            value = labels.get(label)
            if value is not None:
                sums.setdefault(value, _Sum()).add(score)

    def entries(self, label: str) -> list[Breakdown]:
        """Return one breakdown per value of a label, sorted by value."""
        return [one.entry(label, value) for value, one in sorted(self._sums[label].items())]


def mean(values: Sequence[float]) -> float | None:
    """Return the mean. Return None if there are no values."""
    return sum(values) / len(values) if values else None


def macro_average(graded: Iterable[GradedTrial], label: str) -> Figure:
    """Return the macro average over a label's values: the unweighted mean of their mean scores.

    Failed trials are left out. A value whose trials all failed is left out, too. The figure's note states how
    many trials and values are left out.
    """
    breakdowns = Breakdowns([label])
    for one in graded:
        breakdowns.add(one.labels, None if one.status in FAILURE_STATUSES else one.value or 0.0)
    entries = breakdowns.entries(label)
    means = numeric_statistics(entry.mean_scored for entry in entries)
    return Figure(f"macro_{label}", mean(means), _left_out(entries, len(means)))


def _left_out(entries: Sequence[Breakdown], scored: int) -> str | None:
    """Describe how many trials failed, and for how many values of the label all trials failed.

    Return None if no trial failed, or if all trials failed.
    """
    failed = sum(entry.n - entry.n_scored for entry in entries)
    if not failed or not scored:
        return None
    some = f", and with them {len(entries) - scored:,} of {len(entries):,}" if scored < len(entries) else ""
    return f"{failed:,} failed and left out{some}"
