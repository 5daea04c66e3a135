"""Arrival times of requests in an open loop: offsets in seconds from the start, in ascending order.

In an open loop, a request does not wait for the response to the previous one. Latency has to be counted from
the arrival times, the intended starts. A client that counts from the moment when it actually sent a request
leaves out exactly the time in which the server was slow ("coordinated omission", Tene 2013, "How NOT to measure
latency").
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import count
from math import isfinite


def constant_arrivals(rate: float) -> Iterator[float]:
    """Return evenly spaced arrivals without end: the first at 0, then 1 / rate seconds apart.

    Raises:
        ValueError: If the rate is not positive and finite.
    """
    _require_rate(rate)
    return (number / rate for number in count())


def poisson_arrivals(rate: float, seed: int) -> Iterator[float]:
    """Return the arrivals of a Poisson process without end: the arrivals that independent users cause.

    All gaps are exponential with mean 1 / rate, including the gap before the first arrival.

    Raises:
        ValueError: If the rate is not positive and finite.
    """
    _require_rate(rate)
    return _poisson(rate, random.Random(f"arrivals:{seed}"))


def _poisson(rate: float, rng: random.Random) -> Iterator[float]:
    moment = 0.0
    while True:
        moment += rng.expovariate(rate)
        yield moment


def trace_arrivals(offsets: Iterable[float]) -> list[float]:
    """Return recorded arrivals, shifted so that the first is at 0.

    Raises:
        ValueError: If there are no arrivals, an arrival is not finite, or an arrival precedes the one before
            it. The message names the arrival.
    """
    found = [float(offset) for offset in offsets]
    if not found:
        raise ValueError("there are no arrivals")
    for place, offset in enumerate(found):
        if not isfinite(offset):
            raise ValueError(f"arrival {place + 1} is {offset}, which is not a valid time")
        if place and offset < found[place - 1]:
            raise ValueError(f"arrival {place + 1} ({offset:g} s) lies before the one above it")
    return [offset - found[0] for offset in found]


def _require_rate(rate: float) -> None:
    if not (isfinite(rate) and rate > 0):
        raise ValueError(f"a rate of arrivals is positive and finite: {rate}")
