"""Scores by label: subjects, categories, lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchwright.catalog.benchmark import Figure, Graded
from benchwright.records import Record


class Breakdown(Record, frozen=True):
    """The mean score of the samples with one value of a label; what has no score counts as 0."""

    label: str
    value: str
    n: int
    mean: float


class Breakdowns:
    """Sums scores up by label while they pass by."""

    def __init__(self, labels: Iterable[str]) -> None:
        self._sums: dict[str, dict[str, list[float]]] = {label: {} for label in labels}

    def add(self, labels: Mapping[str, str], score: float) -> None:
        """Counts one score in."""
        for label, sums in self._sums.items():
            value = labels.get(label)
            if value is not None:
                entry = sums.setdefault(value, [0.0, 0.0])
                entry[0] += 1
                entry[1] += score

    def entries(self, label: str) -> list[Breakdown]:
        """The means by the values of a label, in alphabetical order."""
        sums = self._sums[label]
        return [Breakdown(label, value, int(n), total / n) for value, (n, total) in sorted(sums.items())]


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def macro_average(graded: Iterable[Graded], label: str) -> Figure:
    """The unweighted mean over the values of a label of their mean scores."""
    breakdowns = Breakdowns([label])
    for one in graded:
        breakdowns.add(one.labels, one.value or 0.0)
    return Figure(f"macro_{label}", mean([entry.mean for entry in breakdowns.entries(label)]))
