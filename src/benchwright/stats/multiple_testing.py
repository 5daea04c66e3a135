"""Adjusts the p-values of several tests, so that one false alarm among all tests is as unlikely as in a single
test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, to_vector


def holm_adjusted_p_values(p_values: ArrayLike) -> Vector:
    """Return p-values (m,) adjusted by Holm's method for m tests.

    Reject each hypothesis whose adjusted p-value is <= alpha. The probability of any false rejection is then <=
    alpha, however the tests depend on each other. The i-th smallest p-value becomes max over j <= i of min(1,
    (m - j + 1) p_(j)): Holm (1979), "A simple sequentially rejective multiple test procedure".

    Raises:
        ValueError: If a p-value is not in [0, 1].
    """
    p = to_vector(p_values, "p_values")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted
