"""What each trial of a run took: when it was begun, how long it took, its tokens, the time that its model took."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchwright.records import PAID_ROLES, TrialRecord
from benchwright.runs.columns import IntColumn
from benchwright.runs.paces import SETTLING
from benchwright.runs.standstills import STOOD_STILL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.runs.columns import Rows


class EffortColumns:
    """Columns parallel to the rows of a table.

    Of the attempt that counts: `begun` (wall-clock ns) and `took` (ns); `latency`, the seconds that its answered
    requests took together, and `ttft`, the mean of theirs, NaN where there are none or an earlier run made them, or
    where they are in no timing, as the concurrency had not settled or our process stood still (`unsettled`);
    `first_prompt`, one more than the tokens of its first prompt, 0 for unknown. Of all attempts together, side requests
    included: `prompt_tokens` and `completion_tokens`.
    """

    def __init__(self, rows: Callable[[], int]) -> None:
        self.begun = array("q")
        self.took = IntColumn(rows)
        self.latency = array("f")
        self.ttft = array("f")
        self.unsettled = IntColumn(rows)
        self.first_prompt = IntColumn(rows)
        self.prompt_tokens = IntColumn(rows)
        self.completion_tokens = IntColumn(rows)
        self._former_rows, self._former_begun, self._former_took = array("Q"), array("q"), array("q")

    def append(self) -> None:
        """Adds a row."""
        self.begun.append(0)
        self.latency.append(math.nan)
        self.ttft.append(math.nan)

    def put(self, row: int, record: TrialRecord) -> None:
        """The attempt that counts from now on; what was there is a former one."""
        if self.begun[row]:
            self._add_former(row, self.begun[row], self.took[row])
        reused = record.reused_from is not None
        unsettled, first = False, None
        answered, total, ttfts = 0, 0, list[int]()
        for request in record.requests:
            unsettled = unsettled or SETTLING in request.flags or STOOD_STILL in request.flags
            if request.role != "model":
                continue
            if first is None:
                first = request
            if request.error is None:
                answered += 1
                total += request.total
                if request.ttft is not None:
                    ttfts.append(request.ttft)
        timed = not (reused or unsettled)
        self.begun[row] = record.started_at
        self.took[row] = record.duration
        self.latency[row] = total / 1e9 if timed and answered else math.nan
        self.ttft[row] = sum(ttfts) / len(ttfts) / 1e9 if timed and ttfts else math.nan
        self.unsettled[row] = unsettled and not reused
        prompt = None if first is None else first.usage.prompt_tokens
        self.first_prompt[row] = 0 if prompt is None else prompt + 1
        if not reused:
            self._add_tokens(row, record)

    def add_former(self, row: int, record: TrialRecord) -> None:
        """An attempt that does not count."""
        self._add_former(row, record.started_at, record.duration)
        self._add_tokens(row, record)

    def _add_tokens(self, row: int, record: TrialRecord) -> None:
        prompt = completion = 0
        for request in record.requests:
            if request.role not in PAID_ROLES:
                continue
            prompt += request.usage.prompt_tokens or 0
            completion += request.usage.completion_tokens or 0
        self.prompt_tokens[row] += prompt
        self.completion_tokens[row] += completion

    def _add_former(self, row: int, begun: int, took: int) -> None:
        self._former_rows.append(row)
        self._former_begun.append(begun)
        self._former_took.append(took)

    def in_order(self, rows: Rows) -> Rows:
        """The rows in the order in which their trials were first begun."""
        import numpy as np

        first = np.array(self.begun, np.int64)
        np.minimum.at(first, np.array(self._former_rows, np.intp), np.array(self._former_begun, np.int64))
        return rows[np.argsort(first[rows], kind="stable")]

    def seconds(self, rows: Rows) -> NDArray[np.float64] | None:
        """Each trial's share, (n,), of the time in which these trials were under way, all attempts together.

        None where the journal does not say when they were.
        """
        import numpy as np

        from benchwright.stats.ratios import shared_time

        place = np.full(len(self.begun), -1, np.int32)
        place[rows] = np.arange(rows.size)
        former = place[np.array(self._former_rows, np.intp)]
        there = former >= 0
        starts = np.frombuffer(self.begun, np.int64)[rows]
        starts = np.concatenate([starts, np.array(self._former_begun, np.int64)[there]])
        if starts.size and int(starts.min()) <= 0:
            return None
        ends = self.took.numbers(rows)
        ends = np.concatenate([ends, np.array(self._former_took, np.int64)[there]])
        ends += starts
        del place
        shared = shared_time(starts, ends)
        shared /= 1e9
        seconds = shared[: rows.size]
        np.add.at(seconds, former[there], shared[rows.size :])
        return seconds
