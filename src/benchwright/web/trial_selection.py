"""Which trials a table shows, and in which order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchwright.records import FAILED, Status
from benchwright.web.trial_index import STATUSES, TrialIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[Any]

SLOW_SHARE = 0.05


class Wanted(msgspec.Struct, frozen=True):
    """What a table is asked for. `only` is a name of FILTERS, `words` are parts of id, group or labels."""

    only: str = "all"
    words: str = ""
    target: str = ""
    order: str = "begun"
    page: int = 1


class Selection(NamedTuple):
    """The numbers of the trials of one page, how many pass, and how many pass each filter."""

    numbers: list[int]
    found: int
    counts: dict[str, int]


class _Columns:
    """The columns as arrays, copied: the index goes on growing meanwhile."""

    def __init__(self, index: TrialIndex, threshold: float) -> None:
        import numpy as np

        self.index = index
        self.status = np.frombuffer(bytes(index.status), np.uint8)
        self.target = np.frombuffer(bytes(index.target), np.uint8)
        self.latency = np.array(index.latency, np.float32)
        first = index.values[index.scorers[0]] if index.scorers else ()
        value = np.array(first, np.float64) if len(first) else np.full(len(self.status), math.nan)
        self.value = value
        self.passed = value >= threshold
        self.failed = value < threshold

    def is_one_of(self, *statuses: Status) -> Mask:
        import numpy as np

        return np.isin(self.status, [STATUSES.index(status) for status in statuses])

    def slow(self) -> Mask:
        """The slowest of those that have an answer."""
        import numpy as np

        answered = ~self.is_one_of(*FAILED)
        if np.count_nonzero(answered) < 1 / SLOW_SHARE:
            return np.zeros(len(self.status), bool)
        return answered & (self.latency >= np.quantile(self.latency[answered], 1 - SLOW_SHARE))

    def flipped(self) -> Mask:
        """Trials of samples of which some passed and some did not: repeats, or targets, that disagree."""
        import numpy as np

        if len(self.index.targets) < 2 and not any(self.index.repeat):
            return np.zeros(len(self.status), bool)
        codes: dict[str, int] = {}
        sample = np.array([codes.setdefault(name, len(codes)) for name in self.index.samples], np.int64)
        passed = np.bincount(sample, self.passed, len(codes))
        failed = np.bincount(sample, self.failed, len(codes))
        flips: Mask = ((passed > 0) & (failed > 0))[sample]
        return flips


FILTERS: dict[str, tuple[str, Callable[[_Columns], Any]]] = {
    "all": ("All", lambda columns: columns.status >= 0),
    "failed": ("Failed", lambda columns: columns.failed),
    "passed": ("Passed", lambda columns: columns.passed),
    "unparsed": ("Unparsed", lambda columns: columns.is_one_of(Status.UNPARSED)),
    "truncated": ("Truncated", lambda columns: columns.is_one_of(Status.TRUNCATED, Status.LIMIT)),
    "refused": ("Refused", lambda columns: columns.is_one_of(Status.REFUSED)),
    "errors": ("Errors", lambda columns: columns.is_one_of(*FAILED, Status.GRADER_ERROR)),
    "slow": ("Slow", _Columns.slow),
    "flipped": ("Flipped", _Columns.flipped),
}
"""Name in the address -> (name on the page, which trials). `failed` and `passed` go by the first score."""

EXPLAINED = {
    "failed": "scored below the pass threshold",
    "unparsed": "no answer could be extracted from the model's output",
    "truncated": "cut off by the token limit or another limit",
    "errors": "provider, agent or grader failed, or cancelled",
    "slow": "the slowest 5 % of those with an answer",
    "flipped": "repeats or models disagree on the sample",
}

ORDERS = {
    "begun": "as they came",
    "newest": "newest first",
    "worst": "lowest score first",
    "slowest": "slowest first",
    "sample": "by sample",
}


def select(index: TrialIndex, wanted: Wanted, threshold: float, size: int) -> Selection:
    """The trials of a page of `size`; call with the index's lock held."""
    import numpy as np

    columns = _Columns(index, threshold)
    masks = {name: mask(columns) for name, (_, mask) in FILTERS.items()}
    common = np.ones(len(columns.status), bool)
    if wanted.target in index.targets:
        common &= columns.target == index.targets.index(wanted.target)
    if wanted.words:
        common &= _with_words(index, wanted.words)
    counts = {name: int(np.count_nonzero(mask & common)) for name, mask in masks.items()}
    numbers = np.flatnonzero(masks.get(wanted.only, masks["all"]) & common)
    numbers = _in_order(columns, numbers, wanted.order)
    start = (max(1, wanted.page) - 1) * size
    return Selection(numbers[start : start + size].tolist(), len(numbers), counts)


def neighbours(
    index: TrialIndex, wanted: Wanted, threshold: float, number: int
) -> tuple[int | None, int | None]:
    """The trials before and after one in a table, None at its ends or where it is not in it."""
    chosen = select(index, msgspec.structs.replace(wanted, page=1), threshold, len(index)).numbers
    try:
        place = chosen.index(number)
    except ValueError:
        return None, None
    before = chosen[place - 1] if place else None
    return before, chosen[place + 1] if place + 1 < len(chosen) else None


def _with_words(index: TrialIndex, words: str) -> Mask:
    import numpy as np

    wanted = words.lower().split()
    groups = [name.lower() for name in index.groups]
    labels = [" ".join((*named.keys(), *named.values())).lower() for named in index.label_sets]

    def fits(number: int, sample: str) -> bool:
        group = index.group[number]
        text = f"{sample.lower()}\n{groups[group] if group >= 0 else ''}\n{labels[index.labels[number]]}"
        return all(word in text for word in wanted)

    return np.array([fits(number, sample) for number, sample in enumerate(index.samples)], bool)


def _in_order(columns: _Columns, numbers: Mask, order: str) -> Mask:
    import numpy as np

    if order == "newest":
        return numbers[::-1]
    if order == "worst":
        return numbers[np.argsort(columns.value[numbers], kind="stable")]
    if order == "slowest":
        return numbers[np.argsort(-columns.latency[numbers], kind="stable")]
    if order == "sample":
        samples = columns.index.samples
        return np.array(sorted(numbers.tolist(), key=lambda number: natural(samples[number])), np.int64)
    return numbers


def natural(text: str) -> tuple[int, int, str]:
    """A key by which 2 comes before 10, and q_2 before q_10."""
    head = text.rstrip("0123456789")
    digits = text[len(head) :]
    return (0 if not head else 1, int(digits) if digits and not head else 0, f"{head}{digits:>12}")
