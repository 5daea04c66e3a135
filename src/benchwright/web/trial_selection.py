"""Selects and sorts the trials for the table on a run's page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchwright.analysis.scores import passing_score
from benchwright.records import FAILED_STATUSES, Status
from benchwright.runs.counting_rules import FAILURE_STATUSES, ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from benchwright.runs.columns import Rows

    Mask = NDArray[np.bool_]

SLOW_TRIALS_SHARE = 0.05


class TrialQuery(msgspec.Struct, frozen=True):
    """The query of a table of trials.

    `filter`: the name of a filter in `TRIAL_FILTERS`. `search_words`: words, each of which must occur in a trial's id,
    cluster or labels.
    """

    filter: str = "all"
    search_words: str = ""
    target: str = ""
    order: str = "begun"
    page: int = 1


class TrialSelection(NamedTuple):
    """The trials on one page of the table.

    It has their row numbers, the number of all matching trials, and the number of trials per filter.
    """

    row_numbers: list[int]
    total: int
    counts: dict[str, int]


class _Columns:
    """Copies of the columns of a run's table, as arrays. The copies stay as they are while the table grows."""

    def __init__(self, manifest: Manifest, table: RunTable) -> None:
        assert table.effort is not None
        self.table = table
        self.status = table.status.numbers()
        self.took = table.effort.took.numbers()
        self.value, self.answered = self._score(next(iter(table.scores), None))
        passing = passing_score(manifest, table)
        value, answered = self._score(None if passing is None else passing.name)
        passed = passing.passes(value) if passing is not None else value >= 0
        self.passed = answered & passed
        self.failed = answered & ~passed

    def _score(self, name: str | None) -> tuple[NDArray[np.float64], Mask]:
        """Return the scores of all trials, and a mask of the trials that have a score.

        A trial without an answer scores 0. A failed trial has no score.
        """
        import numpy as np

        if name is None:
            return np.zeros(len(self.status)), np.zeros(len(self.status), bool)
        column, rows = self.table.scores[name], np.arange(len(self.table))
        return column.values(rows), column.states(rows) != ScoreState.FAILED

    def is_one_of(self, statuses: Iterable[Status]) -> Mask:
        import numpy as np

        return np.isin(self.status, [STATUSES.index(status) for status in statuses])

    def flagged(self) -> Mask:
        """Return a mask of the trials with flags."""
        import numpy as np

        flagged = np.zeros(len(self.status), bool)
        flagged[self.table.flagged.flagged_rows()] = True
        return flagged

    def slow(self) -> Mask:
        """Return a mask of the slowest 5 % of the trials with an answer.

        The mask is empty if fewer than 20 trials have an answer.
        """
        import numpy as np

        answered = ~self.is_one_of(FAILED_STATUSES)
        if np.count_nonzero(answered) < 1 / SLOW_TRIALS_SHARE:
            return np.zeros(len(self.status), bool)
        slow: Mask = answered & (self.took >= np.quantile(self.took[answered], 1 - SLOW_TRIALS_SHARE))
        return slow

    def flipped(self) -> Mask:
        """Return a mask of the trials of samples with both passes and failures, over repeats and targets."""
        import numpy as np

        if len(self.table.targets) < 2 and not self.table.repeat.numbers().any():
            return np.zeros(len(self.status), bool)
        _, sample = np.unique(self.table.sample.numbers(), return_inverse=True)
        passed, failed = np.bincount(sample, self.passed), np.bincount(sample, self.failed)
        flips: Mask = ((passed > 0) & (failed > 0))[sample]
        return flips


TRIAL_FILTERS: dict[str, tuple[str, Callable[[_Columns], Any]]] = {
    "all": ("All", lambda columns: columns.status >= 0),
    "failed": ("Failed", lambda columns: columns.failed),
    "passed": ("Passed", lambda columns: columns.passed),
    "flagged": ("Flagged", _Columns.flagged),
    "unparsed": ("Unparsed", lambda columns: columns.is_one_of([Status.UNPARSED])),
    "truncated": ("Truncated", lambda columns: columns.is_one_of([Status.TRUNCATED, Status.LIMIT])),
    "thinking": ("Cut off in thinking", lambda columns: columns.is_one_of([Status.CUT_OFF_IN_THINKING])),
    "refused": ("Refused", lambda columns: columns.is_one_of([Status.REFUSED])),
    "errors": ("Errors", lambda columns: columns.is_one_of(FAILURE_STATUSES)),
    "cut-off": ("Cut off", lambda columns: columns.is_one_of([Status.CANCELLED])),
    "slow": ("Slow", _Columns.slow),
    "flipped": ("Flipped", _Columns.flipped),
}
"""Filters of the table: name in the address -> (name on the page, function that returns the mask).

The filters `failed` and `passed` depend on the passing score.
"""

FILTER_EXPLANATIONS = {
    "failed": "scored below the pass threshold; no answer counts as 0",
    "flagged": "may have been passed without solving the task; the score stands",
    "unparsed": "no answer could be extracted from the model's output",
    "truncated": "stopped by the token limit or another limit",
    "thinking": "the token limit was reached before any answer: the model was still thinking",
    "errors": "provider, agent or grader failed; neither passed nor failed",
    "cut-off": "in flight when the run was stopped, or lost; not counted, and asked again on resume",
    "slow": "the slowest 5 % of those with an answer",
    "flipped": "repeats or models disagree on the sample",
}

SORT_ORDERS = {
    "begun": "as they came",
    "newest": "newest first",
    "worst": "lowest score first",
    "slowest": "slowest first",
    "sample": "by sample",
}


def select_trials(manifest: Manifest, table: RunTable, wanted: TrialQuery, size: int) -> TrialSelection:
    """Select the trials for one page of `size` trials. The table must not grow during the call."""
    import numpy as np

    columns = _Columns(manifest, table)
    common = _common(columns, wanted)
    counts = {
        name: int(np.count_nonzero(mask(columns) & common)) for name, (_, mask) in TRIAL_FILTERS.items()
    }
    rows = _chosen(columns, wanted, common)
    start = (max(1, wanted.page) - 1) * size
    return TrialSelection(rows[start : start + size].tolist(), len(rows), counts)


class TrialNeighbours(NamedTuple):
    """The neighbours of a trial: row numbers of the trials before and after it, and of the nearest failed trials.

    The number is None for a neighbour that does not exist.
    """

    before: int | None = None
    after: int | None = None
    failing_before: int | None = None
    failing_after: int | None = None


def find_neighbours(manifest: Manifest, table: RunTable, wanted: TrialQuery, number: int) -> TrialNeighbours:
    """Find the neighbours of a trial in a table.

    Failed neighbours are found even if the filter of the table hides failed trials.
    """
    columns = _Columns(manifest, table)
    common = _common(columns, wanted)
    everything = _in_order(columns, _places(common), wanted.order)
    _, mask = TRIAL_FILTERS.get(wanted.filter, TRIAL_FILTERS["all"])
    shown = _beside(everything, mask(columns), number)
    return TrialNeighbours(*shown, *_beside(everything, columns.failed, number))


def _beside(rows: Rows, mask: Mask, number: int) -> tuple[int | None, int | None]:
    """Return the nearest rows before and after `number` that the mask selects.

    A value is None if there is no such row.
    """
    places = _places(rows == number)
    if not places.size:
        return None, None
    before, after = rows[: places[0]], rows[places[0] + 1 :]
    before, after = before[mask[before]], after[mask[after]]
    return int(before[-1]) if before.size else None, int(after[0]) if after.size else None


def _places(mask: Mask) -> Rows:
    import numpy as np

    return np.flatnonzero(mask)


def _common(columns: _Columns, wanted: TrialQuery) -> Mask:
    """Return a mask of the trials that match the target and the words of the query. The query's filter is ignored."""
    import numpy as np

    common = np.ones(len(columns.status), bool)
    target = columns.table.targets.find_code(wanted.target)
    if target is not None:
        common &= columns.table.target.equal_mask(target)
    for word in wanted.search_words.lower().split():
        common &= _with_word(columns.table, word)
    return common


def _chosen(columns: _Columns, wanted: TrialQuery, common: Mask) -> Rows:
    import numpy as np

    _, mask = TRIAL_FILTERS.get(wanted.filter, TRIAL_FILTERS["all"])
    return _in_order(columns, np.flatnonzero(mask(columns) & common), wanted.order)


def _with_word(table: RunTable, word: str) -> Mask:
    """Return a mask of the trials whose id, cluster or labels contain a word.

    Each distinct id, cluster and set of labels is searched once.
    """
    import numpy as np

    codes, sample = np.unique(table.sample.numbers(), return_inverse=True)
    samples = [word in table.sample.sample_id(code).lower() for code in codes.tolist()]
    groups = [False, *(word in name.lower() for name in table.groups.names)]
    labels = [word in " ".join((*named, *named.values())).lower() for named in table.label_sets]
    found: Mask = np.array(samples, bool)[sample]
    found |= np.array(groups)[table.group.numbers()] | np.array(labels)[table.labels.numbers()]
    return found


def _in_order(columns: _Columns, rows: Rows, order: str) -> Rows:
    import numpy as np

    if order == "newest":
        return rows[::-1]
    if order == "worst":
        value = np.where(columns.answered, columns.value, np.inf)
        return rows[np.argsort(value[rows], kind="stable")]
    if order == "slowest":
        return rows[np.argsort(-columns.took[rows], kind="stable")]
    if order == "sample":
        return rows[np.argsort(_ranks(columns.table)[rows], kind="stable")]
    return rows


def _ranks(table: RunTable) -> Rows:
    """Return the rank of each trial.

    The rank is the position of the trial's sample when all samples are in natural order.
    """
    import numpy as np

    codes, sample = np.unique(table.sample.numbers(), return_inverse=True)
    keys = [natural_sort_key(table.sample.sample_id(code)) for code in codes.tolist()]
    ranks = np.empty(len(keys), np.intp)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    placed: Rows = ranks[sample]
    return placed


def natural_sort_key(text: str) -> tuple[int, int, str]:
    """Return a sort key for natural order, in which 2 comes before 10, and q_2 before q_10."""
    head = text.rstrip("0123456789")
    digits = text[len(head) :]
    return (0 if not head else 1, int(digits) if digits and not head else 0, f"{head}{digits:>12}")
