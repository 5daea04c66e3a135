from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.multiple_testing import holm_adjusted_p_values

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_four_p_values_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm_adjusted_p_values(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_closed_testing_with_bonferroni(p: list[float]) -> None:
    """A hypothesis falls when every set it is in falls: the principle that makes Holm valid."""
    expected = [
        max(
            min(1.0, len(chosen) * min(p[each] for each in chosen))
            for size in range(1, len(p) + 1)
            for chosen in combinations(range(len(p)), size)
            if hypothesis in chosen
        )
        for hypothesis in range(len(p))
    ]
    assert holm_adjusted_p_values(p) == pytest.approx(expected)


@given(p_values)
def test_adjusting_never_helps_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm_adjusted_p_values(p)
    assert (adjusted >= np.array(p) * (1 - 1e-12)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_a_single_p_value_stays_and_none_is_fine() -> None:
    assert holm_adjusted_p_values([0.03]).tolist() == [0.03]
    assert holm_adjusted_p_values([]).tolist() == []


@pytest.mark.parametrize("p", [[0.1, 1.2], [-0.1], [math.nan]])
def test_what_is_no_probability_is_refused(p: list[float]) -> None:
    with pytest.raises(ValueError, match=r"p[-_]values"):
        holm_adjusted_p_values(p)
