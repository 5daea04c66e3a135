"""Many questions at once: p-values and e-values adjusted so that one false alarm is as unlikely as in a single test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, same_length, vector

LARGEST = 1e300
"""Evidence beyond it is cut off, so that sums of it remain finite."""


def holm(p_values: ArrayLike) -> Vector:
    """Adjusted p-values (m,): reject those <= alpha, and the chance of any false rejection is <= alpha.

    The i-th smallest becomes max over j <= i of min(1, (m - j + 1) p_(j)), whatever the dependence:
    Holm (1979), "A simple sequentially rejective multiple test procedure".

    Raises:
        ValueError: a p-value that is not in [0, 1].
    """
    p = vector(p_values, "p_values")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted


def mean_e_value(e_values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """One e-value for "none of these m claims is false": their mean, whatever the dependence.

    Vovk and Wang (2021), "E-values: calibration, combination and applications", Ann. Stat. 49:1736, section 3: no other
    symmetric way of merging them is better. `weights` (m,), if any, are fixed beforehand.

    Raises:
        ValueError: no e-values, a negative one, weights that are negative or add up to nothing, lengths that differ.
    """
    e = _e_values(e_values)
    shares = np.ones(e.size) if weights is None else vector(weights, "weights")
    same_length("e_values", e.size, "weights", shares.size)
    if e.size == 0 or (shares < 0).any() or shares.sum() == 0:
        raise ValueError("a mean needs e-values, and weights that are not negative and not all 0")
    return float((e * shares).sum() / shares.sum())


def e_holm(e_values: ArrayLike) -> Vector:
    """Adjusted e-values (m,): reject those >= 1 / alpha, and the chance of any false rejection is <= alpha.

    The adjusted one is the least mean of it with any of those that are smaller: Vovk and Wang (2021), algorithm 1, as
    Holm's procedure is the closure of Bonferroni's. With e-values that grow over time (`RunningInterval.evidence`) this
    holds at all moments at once, where each is valid given all that has been seen of every question.

    Raises:
        ValueError: an e-value that is negative.
    """
    e = _e_values(e_values)
    order = np.argsort(e, kind="stable")
    ordered = e[order]
    below = np.concatenate([[0.0], np.cumsum(ordered)])
    adjusted = np.empty_like(e)
    for place, value in enumerate(ordered):
        adjusted[order[place]] = np.min((value + below[: place + 1]) / np.arange(1, place + 2))
    return adjusted


def _e_values(e_values: ArrayLike) -> Vector:
    """As an array (m,); infinity is the strongest evidence that there is, and becomes the largest number."""
    e = vector(np.nan_to_num(np.asarray(e_values, np.float64), nan=-1.0, posinf=LARGEST), "e_values")
    e = np.minimum(e, LARGEST)
    if (e < 0).any():
        raise ValueError("e-values are numbers that are not negative")
    return e
