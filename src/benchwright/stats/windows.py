"""Steady-state window of a load test: which requests count, and how many are in flight.

A load test has a beginning, in which the server fills up, and an end, in which it empties; neither represents
its behaviour under the load. Requests count by their intended start: a request that is still in flight when
the last one is sent counts with its latency, and no rate includes the time in which the server drains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, require_same_length, to_vector


class WindowTrim(NamedTuple):
    """The cut at one end of a load level: the number of requests to leave out there, or the number of
    seconds.
    """

    requests: int = 0
    seconds: float = 0.0


class Window(NamedTuple):
    """The requests that count: from `first` to `last` (both included, in order of intended start).

    `begin`, `end`: the time span of these requests in seconds. `is_burst`: True if all requests were sent
    within less time than a typical (median) request took. In a burst, there is no steady state, and the time
    span extends to the end of the last answer. See `cut_window`.
    """

    first: int
    last: int
    begin: float
    end: float
    is_burst: bool

    @property
    def seconds(self) -> float:
        """Length of the time span in seconds."""
        return self.end - self.begin


def cut_window(
    intended: ArrayLike,
    starts: ArrayLike,
    ends: ArrayLike,
    warmup: WindowTrim,
    cooldown: WindowTrim,
    answered: ArrayLike | None = None,
    *,
    may_grow: bool = False,
) -> Window | None:
    """Return the window of requests that remains between the cuts `warmup` and `cooldown`.

    None if no request remains. The requests are sorted by intended start. Seconds of `warmup` count from the
    first intended start. Seconds of `cooldown` count back from the last. `answered` (n,) is True for the
    answered requests. If given, only these decide whether the window is a burst, because a refusal takes no
    time. `may_grow` is True if response times may grow as long as the load lasts, as in an open loop. Then the
    first requests also show how long requests take while nothing waits (`slice_of_first_requests`).

    Raises:
        ValueError: If lengths differ, intended starts are out of order, or a value is not finite.
    """
    due, begun, ended = to_vector(intended, "intended"), to_vector(starts, "starts"), to_vector(ends, "ends")
    require_same_length("intended", due.size, "starts", begun.size)
    require_same_length("intended", due.size, "ends", ended.size)
    if (np.diff(due) < 0).any():
        raise ValueError("requests come in the order of their intended starts")
    if not due.size:
        return None
    early = int(np.searchsorted(due, due[0] + warmup.seconds, side="left")) if warmup.seconds else 0
    late = (
        int(np.searchsorted(due, due[-1] - cooldown.seconds, side="right")) if cooldown.seconds else due.size
    )
    first, last = max(early, warmup.requests), min(late, due.size - cooldown.requests) - 1
    if first > last:
        return None
    begin, end = float(due[first]), float(due[last])
    took = ended - begun
    well = np.ones(took.size, np.bool_) if answered is None else np.asarray(answered)
    taken = _usual(took[first : last + 1], well[first : last + 1])
    if may_grow:
        first_few = slice_of_first_requests(took.size)
        taken = min(taken, _usual(took[first_few], well[first_few]))
    burst = bool(end <= begin or end - begin < taken)
    if burst:
        end = float(ended[first : last + 1].max())
    return Window(first, last, begin, end, burst)


MAX_FIRST_REQUESTS = 5
"""Maximum number of initial requests that show how long an answer takes while nothing waits in the queue.

In a queue that grows fast, the first tenth of the requests would already include waiting requests.
"""


def slice_of_first_requests(number: int) -> slice:
    """Return the slice of the first tenth of `number` requests: at most five requests and at least one."""
    return slice(0, max(1, min(number // 10, MAX_FIRST_REQUESTS)))


def _usual(took: Vector, answered: np.ndarray) -> float:
    """Return the median time of the answered requests; of all requests if none was answered."""
    return float(np.median(took[answered] if answered.any() else took))


def mean_concurrency(starts: ArrayLike, ends: ArrayLike, begin: float, end: float) -> float:
    """Return the mean number of intervals [start, end] that are active within [begin, end].

    0 for an empty span. The mean number, divided by the mean length of the intervals, is the rate of a closed
    loop by Little's law (1961, "A proof for the queuing formula L = λW"): k requests in flight that take d
    seconds each are answered at the rate k / d, wherever the window is cut. The number of answers that happen
    to end within the window would depend on its edges.

    Raises:
        ValueError: If lengths differ, an end precedes its start, or a value is not finite.
    """
    begun, ended = to_vector(starts, "starts"), to_vector(ends, "ends")
    require_same_length("starts", begun.size, "ends", ended.size)
    if (ended < begun).any():
        raise ValueError("an interval ends before it starts")
    if end <= begin:
        return 0.0
    inside = np.minimum(ended, end) - np.maximum(begun, begin)
    return float(np.clip(inside, 0.0, None).sum()) / (end - begin)


def mean_concurrency_between(starts: ArrayLike, ends: ArrayLike, edges: ArrayLike) -> Vector:
    """Return the mean number (n,) of active intervals [start, end] between each edge and the next.

    The result is `mean_concurrency` for each of the n bins, computed together. `edges` (n + 1,) are ascending.

    Raises:
        ValueError: If lengths differ, an end precedes its start, edges do not rise, or a value is not finite.
    """
    begun, ended, at = to_vector(starts, "starts"), to_vector(ends, "ends"), to_vector(edges, "edges")
    require_same_length("starts", begun.size, "ends", ended.size)
    if (ended < begun).any():
        raise ValueError("an interval ends before it starts")
    if (np.diff(at) <= 0).any():
        raise ValueError("edges rise")
    spent = _time_since(begun, at) - _time_since(ended, at)
    mean: Vector = np.clip(np.diff(spent) / np.diff(at), 0.0, None)
    return mean


def _time_since(moments: Vector, at: Vector) -> Vector:
    """Return, for each time of `at`, the sum of the times since each earlier moment of `moments`."""
    ordered = np.sort(moments)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    passed = np.searchsorted(ordered, at, side="right")
    together: Vector = passed * at - sums[passed]
    return together


def peak_concurrency(starts: ArrayLike, ends: ArrayLike) -> int:
    """Return the largest number of intervals that are active at the same moment.

    An interval that starts at the moment when another ends does not overlap it.

    Raises:
        ValueError: If lengths differ, or a value is not finite.
    """
    begun, ended = to_vector(starts, "starts"), to_vector(ends, "ends")
    require_same_length("starts", begun.size, "ends", ended.size)
    if not begun.size:
        return 0
    moments = np.concatenate([begun, ended])
    changes = np.concatenate([np.ones(begun.size), -np.ones(ended.size)])
    order = np.lexsort((changes, moments))
    return int(np.cumsum(changes[order]).max())
