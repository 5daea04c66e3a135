"""Arguments that make no sense are refused, with what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchwright.stats.rank_tests import quantile_buckets, within_sample_association
from benchwright.stats.ratios import share_overlapping_time
from benchwright.stats.trend import paired_trend
from benchwright.stats.windows import mean_concurrency


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: quantile_buckets([]), "no quantiles"),
        (lambda: within_sample_association([0.5], [1.0], ["a"], [None]), "must all be 0 or 1"),
        (lambda: share_overlapping_time(np.array([2]), np.array([1])), "ends before it starts"),
        (lambda: mean_concurrency([2.0], [1.0], 0.0, 3.0), "ends before it starts"),
        (lambda: paired_trend([[1.0, 2.0]], [1.0, 1.0]), "two different points"),
        (lambda: paired_trend([[1.0, 2.0]], [1.0, 2.0, 3.0]), r"of shape \(n, 3\)"),
    ],
)
def test_it_is_a_value_error(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
