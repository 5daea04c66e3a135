"""Quantities: exact values with a unit, and when two of them are equal."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

TOLERANCE = Fraction(1, 10**9)
"""Relative difference up to which two numbers are equal, unless both are whole numbers."""

NEAR_WHOLE = Fraction(1, 10**6)
"""Absolute difference up to which another number equals a whole one."""


class Unit(NamedTuple):
    """A unit: what it measures and its size in the base unit of that dimension.

    A cent has two dimensions, for it is a part of a dollar and of a euro.
    """

    name: str
    dimensions: frozenset[str]
    factor: Fraction = Fraction(1)

    def fits(self, other: Unit) -> bool:
        """Return whether both measure the same, so that they can be converted."""
        return bool(self.dimensions & other.dimensions)


SHARE = frozenset({"share"})
PERCENT = Unit("%", SHARE, Fraction(1, 100))
EITHER_WAY = (SHARE, frozenset({"count"}))
"""Dimensions of units that only one of two equal numbers may have: percent and dozens."""


class Quantity(NamedTuple):
    """A number as it was written: `value` does not include the unit, so 50 % has the value 50.

    `whole` is true if it was written as a whole number, without decimals or division.
    """

    value: Fraction
    whole: bool = False
    unit: Unit | None = None

    @property
    def in_base_units(self) -> Fraction:
        """The value in the base unit of its dimension."""
        return self.value * self.unit.factor if self.unit else self.value


NOTHING = "no number"
"""The kind of a reading in which nothing is like a number."""


class Reading(NamedTuple):
    """What stands at one place of a text: a number, or something of another `kind` (a date, a list, …).

    `quantities` is empty for other kinds. It has two values if a rounded number is given with an exact one.
    """

    span: str
    quantities: tuple[Quantity, ...] = ()
    kind: str = "a number"


class Tolerance(NamedTuple):
    """How far two equal numbers may differ: `relative` to the larger one, or by `absolute`."""

    relative: Fraction | None = None
    absolute: Fraction = Fraction(0)

    def allows(self, one: Quantity, other: Quantity) -> bool:
        """Return whether two quantities are equal.

        Units are converted if both have one; then different dimensions are never equal. If only one has a unit, the
        values are compared; of percent and dozens also the value that they stand for (50 % equals 50 and 0.5).
        """
        whole = (one.whole, other.whole)
        if one.unit and other.unit:
            return one.unit.fits(other.unit) and self._near(one.in_base_units, other.in_base_units, whole)
        if self._near(one.value, other.value, whole):
            return True
        unit = one.unit or other.unit
        either_way = unit is not None and unit.dimensions in EITHER_WAY
        return either_way and self._near(one.in_base_units, other.in_base_units, whole)

    def _near(self, one: Fraction, other: Fraction, whole: tuple[bool, bool]) -> bool:
        if one == other:
            return True
        return abs(one - other) <= max(self._relative(max(abs(one), abs(other)), whole), self.absolute)

    def _relative(self, larger: Fraction, whole: tuple[bool, bool]) -> Fraction:
        if self.relative is not None:
            return self.relative * larger
        if all(whole):
            return Fraction(0)
        return min(TOLERANCE * larger, NEAR_WHOLE) if any(whole) else TOLERANCE * larger
