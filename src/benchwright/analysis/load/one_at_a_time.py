"""Whether a server serves one request at a time, by its levels or by the streams of one level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.records import LevelResult
from benchwright.analysis.load.requests import Requests
from benchwright.runs.one_at_a_time import OneAtATime
from benchwright.stats.windows import most_at_once

ENOUGH = 10.0
"""So many answers should have begun while another one was being sent if the two had nothing to do with each other: that
none did then has a probability below 0.0001."""

TOLERANCE = 0.002
"""Seconds by which two streams may seem to overlap that came one after the other."""

SHORTEST = 10 * TOLERANCE
"""Shorter streams (seconds, the median) are too short to be seen to overlap."""


def streams_alone(requests: Requests) -> int | None:
    """Return how many answers were streamed, none while another one was; None if some were, or that may be chance.

    With independent answers, one that begins while c others are under way meets one of their streams with a probability
    of 1 - (1 - f)^c, where f is the share of its time that a request is being streamed. Servers that read prompts one
    after the other and write answers together are not taken for such that do one at a time, nor are those whose
    answers are so short that it cannot be told.
    """
    known = requests.ok & np.isfinite(requests.ttft) & np.isfinite(requests.itl)
    begun = (requests.intended + requests.ttft)[known]
    ended = (requests.intended + requests.last_token)[known]
    if begun.size < ENOUGH or np.median(ended - begun) < SHORTEST:
        return None
    share = min(1.0, float((ended - begun).sum()) / float(requests.sent_latency[known].sum()))
    others = _under_way(requests.start, requests.end, begun) - 1
    expected = float((1 - (1 - share) ** np.maximum(others, 0)).sum())
    long = ended - begun > 2 * TOLERANCE
    most = most_at_once(begun[long] + TOLERANCE, ended[long] - TOLERANCE)
    return int(begun.size) if expected >= ENOUGH and most < 2 else None


def _under_way(starts: np.ndarray, ends: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many of the intervals [start, end) hold each moment (n,)."""
    begun = np.searchsorted(np.sort(starts), at, side="right")
    under_way: np.ndarray = begun - np.searchsorted(np.sort(ends), at, side="right")
    return under_way


def levels_alone(results: Sequence[LevelResult]) -> OneAtATime | None:
    """Return how the highest level compares with that of one request, if it is as of a server that does one at a time;
    None if it is not, or there are no two such levels."""
    known = [
        one
        for one in results
        if one.achieved is not None
        and one.sent_latency is not None
        and not (one.failed or one.client_limited)
    ]
    alone = next((one for one in known if one.level.concurrency == 1), None)
    several = [one for one in known if (one.level.concurrency or 0) > 1]
    if alone is None or not several:
        return None
    compared = [found for one in several if (found := _compared(alone, one)) is not None]
    holds = len(compared) == len(several) and all(found.holds for found in compared)
    return max(compared, key=lambda one: one.in_flight) if holds else None


def _compared(alone: LevelResult, several: LevelResult) -> OneAtATime | None:
    assert alone.achieved is not None
    assert several.achieved is not None
    assert alone.sent_latency is not None
    assert several.sent_latency is not None
    if not alone.achieved.value or not alone.sent_latency.mean:
        return None
    return OneAtATime(
        several.level.concurrency or 0,
        several.achieved.value / alone.achieved.value,
        several.sent_latency.mean / alone.sent_latency.mean,
    )
