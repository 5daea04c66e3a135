"""The window of a level: the requests that count, after warm-up and before cool-down.

If the user does not specify the warm-up, it is found from the latencies.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from benchwright.analysis.load.figure_records import WholeLevelFigures
from benchwright.analysis.load.records import LevelPlan, WindowRule
from benchwright.analysis.load.requests import LevelRequests
from benchwright.stats.arrays import Vector
from benchwright.stats.steady_state import MAX_DRIFT_P_VALUE, estimate_drift, warm_up_length
from benchwright.stats.windows import (
    Window,
    WindowTrim,
    cut_window,
    peak_concurrency,
    slice_of_first_requests,
)

MIN_DRIFT = 0.2
"""Largest change of the latency over the window, as a share of the mean latency, in a steady state.

A larger change counts as drift, if it is statistically significant.
"""


class FoundWindow(NamedTuple):
    """A measurement window, the rule by which it was found, and the drift of the latency.

    `drift`: the change of the latency over the window, as a share of the mean latency. None if the change is
    too small to matter or not statistically significant.
    """

    window: Window
    rule: WindowRule
    drift: float | None

    @property
    def is_steady(self) -> bool:
        """True if the server was in a steady state in the window: it is no burst, and the latency does not
        drift.
        """
        return not self.window.is_burst and self.drift is None


def find_window(requests: LevelRequests, plan: LevelPlan) -> FoundWindow | None:
    """Return the window of a level's requests.

    Return None if there are no requests, or if the cuts that the user specified leave none. If the user
    specified neither a window nor a warm-up, the window is found in these steps:

    - Closed loop: at the beginning, as many requests are dropped as are in flight. Open loop: the requests
      that were due before the server was full are dropped (`_filling`).
    - If the remaining requests are a burst (sent at once) or have no answer, all requests count, as one
      burst.
    - Otherwise, `stats.steady_state.warm_up_length` decides from the latencies how many more requests to
      drop. They are not dropped if the remaining requests would not be steady.

    If any requests were answered, only the latencies of answered requests are used.
    """
    number, level = int(requests.ok.size), plan.level
    if not number:
        return None
    taken = requests.latency if level.is_open_loop else requests.sent_latency
    latencies = np.where(requests.ok, taken, np.nan) if requests.ok.any() else taken
    cut = partial(_cut, requests, latencies, level.is_open_loop)
    if plan.window is not None:
        return cut(*_around(requests, *plan.window), "given")
    if plan.warmup is not None:
        return cut(plan.warmup, plan.cooldown, "given")
    rule: WindowRule = "default" if plan.cooldown == WindowTrim() else "given"
    least = _filling(requests) if level.concurrency is None else level.concurrency
    begin, end = float(requests.intended[0]), float(requests.end.max())
    whole = FoundWindow(Window(0, number - 1, begin, end, is_burst=True), rule, None)
    found = cut(WindowTrim(requests=least), plan.cooldown, rule)
    if found is None or found.window.is_burst or not _known(latencies, found.window).size:
        return whole
    answered = np.flatnonzero(np.isfinite(latencies[least:]))
    more = warm_up_length(latencies[least:][answered])
    first = least + int(answered[more])
    settled = cut(WindowTrim(requests=first), plan.cooldown, "found") if more else None
    return settled if settled is not None and settled.is_steady else found


def _filling(requests: LevelRequests) -> int:
    """Return the number of requests of an open loop that were due before the server was full.

    It is the larger of two numbers. The first is a tenth of all requests. The second is the number of
    requests that were due before half of the answered requests among the first requests (`slice_of_first_requests`)
    had ended.
    """
    first = slice_of_first_requests(requests.ok.size)
    ends = requests.end[first][requests.ok[first]]
    filled = int(np.searchsorted(requests.intended, np.median(ends))) if ends.size else 0
    return max(requests.ok.size // 10, filled)


def _around(requests: LevelRequests, begin: float, end: float) -> tuple[WindowTrim, WindowTrim]:
    """Return the warm-up and cool-down cuts between which the requests due from `begin` to `end` (in seconds)
    remain.
    """
    first = int(np.searchsorted(requests.intended, begin, side="left"))
    last = int(np.searchsorted(requests.intended, end, side="right"))
    return WindowTrim(requests=first), WindowTrim(requests=requests.ok.size - last)


def _cut(
    requests: LevelRequests,
    latencies: Vector,
    is_open: bool,
    warmup: WindowTrim,
    cooldown: WindowTrim,
    rule: WindowRule,
) -> FoundWindow | None:
    moments = requests.intended, requests.start, requests.end
    found = cut_window(*moments, warmup, cooldown, requests.ok, may_grow=is_open)
    if found is None:
        return None
    change = estimate_drift(_known(latencies, found))
    certain = change is not None and change.p_value < MAX_DRIFT_P_VALUE and abs(change.change) > MIN_DRIFT
    return FoundWindow(found, rule, change.change if change is not None and certain else None)


def _known(latencies: Vector, found: Window) -> Vector:
    inside = latencies[found.first : found.last + 1]
    return inside[np.isfinite(inside)]


MIN_LATENCIES_PER_LEVEL = 3
"""Minimum length of a level, as a multiple of its median latency.

The server is full after one latency, and the requests of two more latencies count.
"""


def needed_seconds(requests: LevelRequests, *, is_open: bool) -> float | None:
    """Return the number of seconds for which requests must be sent to get a steady rate.

    Return None if there is no answer. In an open loop, only the first requests show how long an answer takes,
    because later requests may have waited in the server's queue.
    """
    latencies = requests.latency[requests.ok]
    if is_open:
        latencies = latencies[slice_of_first_requests(latencies.size)]
    return MIN_LATENCIES_PER_LEVEL * float(np.median(latencies)) if latencies.size else None


def whole_level_figures(requests: LevelRequests) -> WholeLevelFigures | None:
    """Return the figures of the whole level, computed as other programs do. None if there is no answer."""
    ok = requests.ok
    seconds = float(requests.end.max() - requests.start.min()) if ok.size else 0.0
    if not ok.any() or seconds <= 0:
        return None
    tokens = requests.completion_tokens[ok]
    several = np.where((tokens > 1) & np.isfinite(requests.itl[ok]), tokens, np.nan)
    end, first, last = (column[ok] for column in (requests.latency, requests.ttft, requests.last_token))
    told = np.isfinite(tokens)
    return WholeLevelFigures(
        seconds=seconds,
        achieved=float(ok.sum()) / seconds,
        output_tokens=float(tokens[told].sum()) / seconds if told.all() else None,
        tpot=_mean((end - first) / (several - 1)),
        itl=_mean((last - first) / (several - 1)),
        tpot_with_ttft=_mean((last - requests.latency[ok] + requests.sent_latency[ok]) / several),
    )


def peak_in_flight(requests: LevelRequests) -> int:
    """Return the largest number of requests that were in flight at once."""
    return peak_concurrency(requests.start, requests.end)


def count_held_back_requests(requests: LevelRequests, limit: int) -> int:
    """Return the number of requests that were sent late because the maximum number was in flight."""
    due = requests.intended
    begun = np.searchsorted(np.sort(requests.start), due, side="left")
    ended = np.searchsorted(np.sort(requests.end), due, side="right")
    return int((begun - ended >= limit).sum())


def _mean(values: Vector) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None
