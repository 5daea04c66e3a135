"""What every other module does with its arguments first: refuse what is not a number, and number the labels.

Sums are exact: correctly rounded whatever the order of the values, where NumPy's differ in the last bit with the
order and with the processor.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Codes = NDArray[np.intp]

BLOCK = 65_536
"""Values of which copies are made at a time."""


def vector(values: ArrayLike, name: str = "values") -> Vector:
    """The values as a one-dimensional array of finite floats.

    Raises:
        ValueError: another shape, or NaN or infinity among them (what was not scored has to be left out).
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    for start in range(0, array.size, BLOCK):
        finite = np.isfinite(array[start : start + BLOCK])
        if not finite.all():
            where = start + int(np.argmin(finite))
            raise ValueError(f"{name} must be finite, but number {where} is {array[where]}: leave it out")
    return array


def same_length(first: str, one: int, second: str, other: int) -> None:
    """Raises ValueError where two arguments that belong together differ in length."""
    if one != other:
        raise ValueError(f"{first} and {second} must be equally many, not {one} and {other}")


def label_codes(labels: Iterable[Hashable]) -> tuple[Codes, Sequence[Hashable]]:
    """Numbers labels from 0 in the order of first appearance: (the number of each, the distinct labels).

    An array of numbers is never turned into Python objects: a million of them take a few arrays.
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
    """How many different numbers there are. Sorts a copy: `np.unique` makes a hash table of ten times the memory."""
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(ordered.size)


def exact_sum(values: NDArray[Any]) -> float:
    """The sum of an array of numbers, correctly rounded, so that their order does not matter.

    Infinite or NaN where there are infinities, or where the sum is beyond the largest float.
    """
    try:
        return math.fsum(values.data)
    except (OverflowError, ValueError):
        return float(sum(values.data))


def exact_squares(values: Vector, mean: float) -> float:
    """The sum of the squared deviations from a mean, correctly rounded; they are never all in memory at once."""
    blocks = (values[start : start + BLOCK] - mean for start in range(0, values.size, BLOCK))
    try:
        return math.fsum(square for block in blocks for square in (block * block).data)
    except OverflowError:
        return math.inf


def exact_mean(values: NDArray[Any]) -> float:
    """The mean (NaN of no values), from the exact sum."""
    return exact_sum(values) / values.size if values.size else math.nan


def exact_std(values: NDArray[Any]) -> float:
    """The standard deviation over all values (ddof 0; NaN of no values), from exact sums."""
    return math.sqrt(exact_squares(values, exact_mean(values)) / values.size) if values.size else math.nan


def sum_by_code(values: Vector, codes: Codes, n_codes: int) -> Vector:
    """The sums (n_codes,) of the values that share a code, added from the smallest to the largest.

    Whole numbers, as are most scores, add up exactly in any order.
    """
    if not (values == np.rint(values)).all():
        order = np.lexsort((values, codes))
        values, codes = values[order], codes[order]
    return np.bincount(codes, weights=values, minlength=n_codes).astype(np.float64, copy=False)


def only_zero_and_one(values: Vector) -> bool:
    """Whether there are values, and all of them are 0 or 1."""
    blocks = (values[start : start + BLOCK] for start in range(0, values.size, BLOCK))
    return values.size > 0 and all(((block == 0) | (block == 1)).all() for block in blocks)


def spread(values: Vector) -> float:
    """The standard deviation (n - 1), with rounding noise taken for what it is: 0. Needs two values."""
    deviation = math.sqrt(exact_squares(values, exact_mean(values)) / (values.size - 1))
    return 0.0 if deviation <= 1e-13 * max(-float(values.min()), float(values.max())) else deviation
