"""What the repeats of a side say of the noise of its scores."""

from __future__ import annotations

import math

import numpy as np

from benchwright.analysis.comparison.sides import ERROR, Side
from benchwright.stats.noise import Noise, noise


def noise_of(side: Side, score: str) -> Noise | None:
    """The noise of a score; failures are left out, no answer is 0. None without repeats."""
    column, samples = side.trials.scores[score], side.trials.samples.codes
    there = np.flatnonzero((column.states != ERROR) & (samples >= 0))
    return noise(column.values[there], samples[there].tolist()) if there.size else None


def apart_by_chance(a: Side, b: Side, score: str) -> float | None:
    """How far the means of two runs of one model and agent lie apart by chance, 95 % of the time.

    None where they are of different ones, or one has no repeats. The two variances of `Noise.apart`, each half of the
    square of that, add up.
    """
    if a.facts.title != b.facts.title:
        return None
    found = [noise_of(side, score) for side in (a, b)]
    known = [one.apart for one in found if one is not None]
    return math.sqrt(sum(apart**2 for apart in known) / 2) if len(known) == 2 else None
