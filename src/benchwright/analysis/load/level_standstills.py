"""Finds the stretch of a level that counts if our own process stood still: the longest stretch without a
standstill.

Requests that were due or in flight during a standstill have times that do not show the server's speed. After a
standstill, all due requests are sent at once, so that the level starts anew. Therefore only one stretch can
represent the level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.load.figure_records import LevelStandstill
from benchwright.analysis.load.requests import LevelRequests
from benchwright.runs.process_delays import Standstill


def longest_undisturbed_requests(requests: LevelRequests, standstills: Sequence[Standstill]) -> LevelRequests:
    """Return the requests of the longest stretch without a standstill. Its length is measured by intended starts."""
    met = standstill_mask(requests, standstills)
    if not met.any():
        return requests
    edges = np.flatnonzero(np.diff(np.concatenate([[True], met, [True]])))
    stretches = [slice(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]
    if not stretches:
        return requests.select(slice(0, 0))
    due = requests.intended
    return requests.select(max(stretches, key=lambda one: (due[one.stop - 1] - due[one.start], one.start)))


def standstill_mask(requests: LevelRequests, standstills: Sequence[Standstill]) -> NDArray[np.bool_]:
    """Return a mask (n,) of the requests that were due or in flight during a standstill of our process."""
    met = np.zeros(requests.ok.size, np.bool_)
    for one in standstills_of_level(requests, standstills):
        met |= (requests.intended <= one.at + one.seconds) & (requests.end >= one.at)
    return met


def standstills_of_level(requests: LevelRequests, standstills: Sequence[Standstill]) -> list[LevelStandstill]:
    """Return the standstills as records, with times in seconds from the level's first intended start."""
    began = requests.began_at
    return [LevelStandstill((one.began - began) / 1e9, one.ns / 1e9, one.cause) for one in standstills]
