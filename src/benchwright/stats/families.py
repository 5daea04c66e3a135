"""Many p-values at once: Holm where one false alarm is one too many, Benjamini-Hochberg when exploring."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, vector


def holm(p_values: ArrayLike) -> Vector:
    """Adjusted p-values (m,): reject those <= alpha, and the chance of any false rejection is <= alpha.

    The i-th smallest becomes max over j <= i of min(1, (m - j + 1) p_(j)), whatever the dependence:
    Holm (1979), "A simple sequentially rejective multiple test procedure".

    Raises:
        ValueError: a p-value that is not in [0, 1].
    """
    p = _probabilities(p_values)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _in_original_order(raised, order)


def benjamini_hochberg(p_values: ArrayLike) -> Vector:
    """Adjusted p-values (m,): reject those <= alpha, and the expected share of false ones is <= alpha.

    The i-th smallest becomes min over j >= i of min(1, m p_(j) / j), for independent or positively dependent
    tests: Benjamini and Hochberg (1995), "Controlling the false discovery rate".

    Raises:
        ValueError: a p-value that is not in [0, 1].
    """
    p = _probabilities(p_values)
    order = np.argsort(p, kind="stable")
    raised = p[order] * p.size / np.arange(1, p.size + 1)
    lowered = np.minimum.accumulate(raised[::-1])[::-1]
    return _in_original_order(lowered, order)


def _probabilities(p_values: ArrayLike) -> Vector:
    p = vector(p_values, "p_values")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    return p


def _in_original_order(adjusted: Vector, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Vector:
    result = np.empty_like(adjusted)
    result[order] = np.minimum(adjusted, 1.0)
    return result
