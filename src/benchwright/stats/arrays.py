"""Argument checks, label codes and exact sums that the other modules of `stats` share.

Sums are exact: they are correctly rounded in whatever order the values come. NumPy's sums differ in the last
bit with the order of the values and with the processor.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
CodeVector = NDArray[np.intp]

VALUES_PER_BLOCK = 65_536
"""Number of values that are copied at a time while summing an array, to keep temporary copies small."""


def to_vector(values: ArrayLike, name: str = "values") -> Vector:
    """Return the values as a one-dimensional array of finite floats.

    Leave out unscored values before the call.

    Raises:
        ValueError: If the shape is not one-dimensional, or a value is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    for start in range(0, array.size, VALUES_PER_BLOCK):
        finite = np.isfinite(array[start : start + VALUES_PER_BLOCK])
        if not finite.all():
            where = start + int(np.argmin(finite))
            raise ValueError(f"{name} must be finite, but number {where} is {array[where]}: leave it out")
    return array


def require_same_length(first: str, one: int, second: str, other: int) -> None:
    """Check that two arguments have the same length: `one` and `other`.

    `first` and `second` are the names of the arguments.

    Raises:
        ValueError: If `one` and `other` differ.
    """
    if one != other:
        raise ValueError(f"{first} and {second} must be equally many, not {one} and {other}")


def label_codes(labels: Iterable[Hashable]) -> tuple[CodeVector, Sequence[Hashable]]:
    """Number the distinct labels from 0 in order of first appearance.

    Return (number of each label, distinct labels). An array of numbers is not converted to Python objects, so a
    million labels take little memory.
    """
    if isinstance(labels, range):
        return np.arange(len(labels)), labels
    if isinstance(labels, np.ndarray):
        distinct, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        order = first.argsort()
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return rank[codes], cast("Sequence[Hashable]", distinct[order])
    listed = list(labels)
    known = list(dict.fromkeys(listed))
    number = {label: code for code, label in enumerate(known)}
    return np.fromiter(map(number.__getitem__, listed), dtype=np.intp, count=len(listed)), known


def count_distinct(numbers: NDArray[Any]) -> int:
    """Return the number of distinct values, by sorting a copy.

    `np.unique` would build a hash table of ten times the memory.
    """
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(ordered.size)


def exact_sum(values: NDArray[Any]) -> float:
    """Return the correctly rounded sum of an array of numbers, which does not depend on their order.

    Infinite or NaN if a value is infinite or the sum exceeds the largest float.
    """
    try:
        return math.fsum(values.data)
    except (OverflowError, ValueError):
        return float(sum(values.data))


def exact_squared_deviation_sum(values: Vector, mean: float) -> float:
    """Return the correctly rounded sum of squared deviations from `mean`, copying one block at a time."""
    blocks = (
        values[start : start + VALUES_PER_BLOCK] - mean for start in range(0, values.size, VALUES_PER_BLOCK)
    )
    try:
        return math.fsum(square for block in blocks for square in (block * block).data)
    except OverflowError:
        return math.inf


def exact_mean(values: NDArray[Any]) -> float:
    """Return the mean from the correctly rounded sum; NaN for no values."""
    return exact_sum(values) / values.size if values.size else math.nan


def exact_std(values: NDArray[Any]) -> float:
    """Return the population standard deviation (ddof 0) from correctly rounded sums; NaN for no values."""
    return (
        math.sqrt(exact_squared_deviation_sum(values, exact_mean(values)) / values.size)
        if values.size
        else math.nan
    )


def sum_by_code(values: Vector, codes: CodeVector, n_codes: int) -> Vector:
    """Return the sum (n_codes,) of the values of each code. `codes` (n,) has the code of each value.

    The values of a code are added from the smallest to the largest. Whole numbers, as most scores are, add up
    exactly in any order.
    """
    if not (values == np.rint(values)).all():
        order = np.lexsort((values, codes))
        values, codes = values[order], codes[order]
    return np.bincount(codes, weights=values, minlength=n_codes).astype(np.float64, copy=False)


def are_binary(values: Vector) -> bool:
    """Return True if there are values and all of them are 0 or 1."""
    blocks = (values[start : start + VALUES_PER_BLOCK] for start in range(0, values.size, VALUES_PER_BLOCK))
    return values.size > 0 and all(((block == 0) | (block == 1)).all() for block in blocks)


def sample_std(values: Vector) -> float:
    """Return the standard deviation (ddof 1) of at least two values; 0 if they differ only by rounding noise."""
    deviation = math.sqrt(exact_squared_deviation_sum(values, exact_mean(values)) / (values.size - 1))
    return 0.0 if deviation <= 1e-13 * max(-float(values.min()), float(values.max())) else deviation
