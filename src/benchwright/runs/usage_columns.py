"""Times and tokens that each trial of a run took: start, duration, tokens, and the latency of its requests."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchwright.records import PAID_ROLES, TrialRecord
from benchwright.runs.columns import IntColumn
from benchwright.runs.concurrency_history import SETTLING_FLAG
from benchwright.runs.standstills import STANDSTILL_FLAG

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.runs.columns import Rows


class UsageColumns:
    """Columns of start, duration, latency and tokens, parallel to the rows of a run table.

    For the attempt that counts:

    - `begun`: its start, in wall-clock ns. `took`: its duration in ns.
    - `latency`: total seconds of its answered requests.
    - `ttft`: mean time to first token of its answered requests, in seconds. `latency` and `ttft` are NaN if no
      request was answered, if the attempt was reused from an earlier run, or if it is `unsettled`.
    - `unsettled`: True if its times are excluded because the concurrency had not settled or our process stood
      still.
    - `first_prompt`: the number of tokens of its first prompt plus one; 0 if unknown.

    For all attempts of the trial together, including side requests (titles and summaries by an agent):
    `prompt_tokens` and `completion_tokens`.
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

    def append_row(self) -> None:
        """Add a row."""
        self.begun.append(0)
        self.latency.append(math.nan)
        self.ttft.append(math.nan)

    def set_counted_attempt(self, row: int, record: TrialRecord) -> None:
        """Store the attempt that counts from now on. The attempt that counted before becomes a former attempt."""
        if self.begun[row]:
            self._add_former(row, self.begun[row], self.took[row])
        reused = record.reused_from is not None
        unsettled, first = False, None
        answered, total, ttfts = 0, 0, list[int]()
        for request in record.requests:
            unsettled = unsettled or SETTLING_FLAG in request.flags or STANDSTILL_FLAG in request.flags
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

    def add_former_attempt(self, row: int, record: TrialRecord) -> None:
        """Add the time and tokens of a former attempt: an attempt that was made but does not count."""
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

    def rows_in_start_order(self, rows: Rows) -> Rows:
        """Return the rows sorted by the start of each trial's first attempt."""
        import numpy as np

        first = np.array(self.begun, np.int64)
        np.minimum.at(first, np.array(self._former_rows, np.intp), np.array(self._former_begun, np.int64))
        return rows[np.argsort(first[rows], kind="stable")]

    def trial_seconds(self, rows: Rows) -> NDArray[np.float64] | None:
        """Return the seconds that each trial took, shape (n,). Return None if the journal lacks start times.

        Time in which several trials ran is divided among them (see `stats.ratios.share_overlapping_time`). So
        the sum is the time in which at least one of these trials ran. All attempts of a trial are included.
        """
        import numpy as np

        from benchwright.stats.ratios import share_overlapping_time

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
        shared = share_overlapping_time(starts, ends)
        shared /= 1e9
        seconds = shared[: rows.size]
        np.add.at(seconds, former[there], shared[rows.size :])
        return seconds
