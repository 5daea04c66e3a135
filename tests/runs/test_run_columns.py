"""Columns against plain lists: what is looked up a block at a time is what there is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.runs import columns
from benchwright.runs.columns import IntColumn, ScoreColumn, filter_rows, true_indices
from benchwright.runs.counting_rules import ScoreState

NUMBERS = st.lists(st.integers(0, 2**40) | st.integers(0, 3) | st.just(0), max_size=40)
VALUES = st.lists(st.none() | st.sampled_from([0.0, 0.5, 1.0, -2.5]) | st.floats(-9, 9), max_size=40)


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """So that a few rows are several blocks."""
    patch = pytest.MonkeyPatch()
    patch.setattr(columns, "ROWS_PER_BLOCK", 7)
    yield
    patch.undo()


def filled(numbers: list[int]) -> IntColumn:
    column = IntColumn(lambda: len(numbers))
    for place, number in enumerate(numbers):
        column[place] = number
    return column


@given(NUMBERS, st.data())
def test_numbers_of_rows_are_those_that_were_set(numbers: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(numbers) - 1))) if numbers else []
    found = filled(numbers).compact_numbers(np.array(rows, np.uint32))
    assert found.tolist() == [numbers[row] for row in rows]


@given(NUMBERS, st.integers(0, 2**40), st.integers(0, 2**40))
def test_a_range_has_the_numbers_in_it(numbers: list[int], low: int, high: int) -> None:
    column = filled(numbers)
    assert column.between_mask(low, high).tolist() == [low <= number < high for number in numbers]
    assert column.max_number == max(numbers, default=0)


@given(st.lists(st.booleans(), max_size=60))
def test_true_places_are_where_a_mask_is_true(mask: list[bool]) -> None:
    found = true_indices(np.array(mask, np.bool_))
    assert found.dtype == np.uint32
    assert found.tolist() == [place for place, one in enumerate(mask) if one]


@pytest.mark.parametrize("most", [2, 250], ids=["values as they are", "a byte each"])
@given(scores=VALUES, data=st.data())
def test_scores_of_rows_are_those_that_were_put(
    most: int, scores: list[float | None], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "MAX_DISTINCT_SCORES", most)
        column = ScoreColumn()
        for place, score in enumerate(scores):
            column.append_state(ScoreState.FAILED)
            if score is not None:
                column.set_score(place, ScoreState.SCORED, score)
    rows = data.draw(st.lists(st.integers(0, len(scores) - 1))) if scores else []
    numbers = np.array(rows, np.uint32)
    assert column.values(numbers).tolist() == [scores[row] or 0.0 for row in rows]
    states = [ScoreState.FAILED if scores[row] is None else ScoreState.SCORED for row in rows]
    assert column.states(numbers).tolist() == states


@given(VALUES, st.data())
def test_a_mask_means_the_rows_where_it_is_true(values: list[float | None], data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    column = ScoreColumn()
    for place, value in enumerate(values):
        column.append_state(ScoreState.FAILED)
        if value is not None:
            column.set_score(place, ScoreState.SCORED, value)
    mask = np.array(marks, np.bool_)
    rows = true_indices(mask)
    assert rows.tolist() == [place for place, mark in enumerate(marks) if mark]
    assert column.values(mask).tolist() == column.values(rows).tolist()
    assert column.states(mask).tolist() == column.states(rows).tolist()
    numbers = filled([place % 3 for place in range(len(values))])
    assert numbers.compact_numbers(mask).tolist() == numbers.compact_numbers(rows).tolist()
    kept = column.states(mask) == ScoreState.SCORED
    assert np.flatnonzero(filter_rows(mask, kept)).tolist() == filter_rows(rows, kept).tolist()
