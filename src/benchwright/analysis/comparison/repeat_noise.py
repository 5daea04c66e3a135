"""Noise of a side's scores, estimated from its repeats."""

from __future__ import annotations

import math

import numpy as np

from benchwright.analysis.comparison.sides import ERROR, Side
from benchwright.stats.noise_floor import Noise, estimate_noise


def noise_of(side: Side, score: str) -> Noise | None:
    """Return the noise of one score of a side. None without repeats.

    Failed trials are left out. Trials without an answer count as 0.
    """
    column, samples = side.trials.scores[score], side.trials.samples.codes
    there = np.flatnonzero((column.states != ERROR) & (samples >= 0))
    return estimate_noise(column.values[there], samples[there].tolist()) if there.size else None


def chance_difference(a: Side, b: Side, score: str) -> float | None:
    """Return the largest difference that chance alone causes, 95 % of the time, between the means of two runs
    of one model.

    Return None if the models or agents of the sides differ, or if one side has no repeats. The two variances
    add up: each contributes half of the square of its `Noise.apart`.
    """
    if a.facts.title != b.facts.title:
        return None
    found = [noise_of(side, score) for side in (a, b)]
    known = [one.apart for one in found if one is not None]
    return math.sqrt(sum(apart**2 for apart in known) / 2) if len(known) == 2 else None
