"""Detects servers that process one request at a time, from several levels or from the streams of one level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.records import LevelResult
from benchwright.analysis.load.requests import LevelRequests
from benchwright.runs.serial_server import SerialServing
from benchwright.stats.windows import peak_concurrency

MIN_EXPECTED_OVERLAPS = 10.0
"""Number of overlaps of streams that would be expected if answers were independent.

From this number on, the absence of overlaps is evidence: the probability that none occurs is below 0.0001.
"""

OVERLAP_TOLERANCE_SECONDS = 0.002
"""Overlap of two consecutive streams, in seconds, up to which it is ignored because it may be apparent only."""

MIN_STREAM_SECONDS = 10 * OVERLAP_TOLERANCE_SECONDS
"""Minimum median length of streams in seconds. Overlaps of shorter streams cannot be detected."""


def count_sequential_streams(requests: LevelRequests) -> int | None:
    """Return the number of streamed answers if no two of them overlapped, as on a server that processes one
    request at a time.

    Return None if any two overlapped, or if the missing overlap may be chance. If answers are independent, an
    answer that begins while c other requests are in flight meets one of their streams with a probability of 1
    - (1 - f)^c. f is the share of a request's time in which its answer is being streamed. Two kinds of
    servers are therefore not mistaken for a server that processes one request at a time: servers that read
    prompts one after the other but write answers together, and servers whose answers are too short to decide.
    """
    known = requests.ok & np.isfinite(requests.ttft) & np.isfinite(requests.itl)
    begun = (requests.intended + requests.ttft)[known]
    ended = (requests.intended + requests.last_token)[known]
    if begun.size < MIN_EXPECTED_OVERLAPS or np.median(ended - begun) < MIN_STREAM_SECONDS:
        return None
    share = min(1.0, float((ended - begun).sum()) / float(requests.sent_latency[known].sum()))
    others = _under_way(requests.start, requests.end, begun) - 1
    expected = float((1 - (1 - share) ** np.maximum(others, 0)).sum())
    long = ended - begun > 2 * OVERLAP_TOLERANCE_SECONDS
    most = peak_concurrency(begun[long] + OVERLAP_TOLERANCE_SECONDS, ended[long] - OVERLAP_TOLERANCE_SECONDS)
    return int(begun.size) if expected >= MIN_EXPECTED_OVERLAPS and most < 2 else None


def _under_way(starts: np.ndarray, ends: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return, for each time `at` (n,), the number of intervals [start, end) that contain it."""
    begun = np.searchsorted(np.sort(starts), at, side="right")
    under_way: np.ndarray = begun - np.searchsorted(np.sort(ends), at, side="right")
    return under_way


def sequential_serving_evidence(results: Sequence[LevelResult]) -> SerialServing | None:
    """Return evidence that the server processes one request at a time. Return None if there is no such
    evidence.

    Every level with several requests in flight is compared with the level of one request in flight. All of
    these comparisons must show it. The evidence is the comparison with the highest level. Levels with failed
    requests, or limited by our own process, are not used.
    """
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
    holds = len(compared) == len(several) and all(found.is_serial for found in compared)
    return max(compared, key=lambda one: one.in_flight) if holds else None


def _compared(alone: LevelResult, several: LevelResult) -> SerialServing | None:
    assert alone.achieved is not None
    assert several.achieved is not None
    assert alone.sent_latency is not None
    assert several.sent_latency is not None
    if not alone.achieved.value or not alone.sent_latency.mean:
        return None
    return SerialServing(
        several.level.concurrency or 0,
        several.achieved.value / alone.achieved.value,
        several.sent_latency.mean / alone.sent_latency.mean,
    )
