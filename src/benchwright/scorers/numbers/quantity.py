"""Quantities (exact values with a unit), and the comparison of two of them."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

RELATIVE_TOLERANCE = Fraction(1, 10**9)
"""Relative difference up to which two numbers count as equal. Two whole numbers must be exactly equal."""

WHOLE_NUMBER_TOLERANCE = Fraction(1, 10**6)
"""Absolute difference up to which a number that is not whole counts as equal to a whole number."""


class Unit(NamedTuple):
    """A unit: its dimensions, and the factor that converts it into the base unit of these dimensions.

    A cent has two dimensions, because both dollars and euros have cents.
    """

    name: str
    dimensions: frozenset[str]
    factor: Fraction = Fraction(1)

    def is_convertible_to(self, other: Unit) -> bool:
        """Return True if the units share a dimension. Only then can one be converted into the other."""
        return bool(self.dimensions & other.dimensions)


SHARE_DIMENSION = frozenset({"share"})
PERCENT_UNIT = Unit("%", SHARE_DIMENSION, Fraction(1, 100))
OPTIONAL_DIMENSIONS = (SHARE_DIMENSION, frozenset({"count"}))
"""Dimensions whose unit may be missing from one of two equal numbers: percent and dozens.

Such numbers are compared both before and after conversion.
"""


class Quantity(NamedTuple):
    """A number with its unit, as written. `value`: the number without the unit, such as 50 for 50 %.

    `is_whole`: True if it is written as a whole number, without decimals or division.
    """

    value: Fraction
    is_whole: bool = False
    unit: Unit | None = None

    @property
    def value_in_base_units(self) -> Fraction:
        """The value converted into the base unit, such as 0.5 for 50 %."""
        return self.value * self.unit.factor if self.unit else self.value


NOTHING_READ_KIND = "no number"
"""The `kind` of a `NumberReading` that contains nothing like a number."""


class NumberReading(NamedTuple):
    """The result of reading one passage: a number, or something of another `kind` (a date, …).

    `quantities`: the number; empty for other kinds. There are two quantities if an exact number is followed
    by its rounded value.
    """

    span: str
    quantities: tuple[Quantity, ...] = ()
    kind: str = "a number"


class Tolerance(NamedTuple):
    """The difference up to which two numbers count as equal. It is the larger of two limits.

    `relative`: a share of the larger number. If it is None, whole numbers must be exactly equal, and others
    may differ by `RELATIVE_TOLERANCE`. `absolute`: a difference.
    """

    relative: Fraction | None = None
    absolute: Fraction = Fraction(0)

    def allows(self, one: Quantity, other: Quantity) -> bool:
        """Return True if two quantities are equal within the tolerance.

        If both have a unit, they are converted first; quantities of different dimensions are never equal. If
        only one has a unit, the values without units are compared. If that unit is percent or dozen, the
        converted value may be equal instead (50 % equals both 50 and 0.5).
        """
        whole = (one.is_whole, other.is_whole)
        if one.unit and other.unit:
            return one.unit.is_convertible_to(other.unit) and self._near(
                one.value_in_base_units, other.value_in_base_units, whole
            )
        if self._near(one.value, other.value, whole):
            return True
        unit = one.unit or other.unit
        either_way = unit is not None and unit.dimensions in OPTIONAL_DIMENSIONS
        return either_way and self._near(one.value_in_base_units, other.value_in_base_units, whole)

    def _near(self, one: Fraction, other: Fraction, whole: tuple[bool, bool]) -> bool:
        if one == other:
            return True
        return abs(one - other) <= max(self._relative(max(abs(one), abs(other)), whole), self.absolute)

    def _relative(self, larger: Fraction, whole: tuple[bool, bool]) -> Fraction:
        if self.relative is not None:
            return self.relative * larger
        if all(whole):
            return Fraction(0)
        return (
            min(RELATIVE_TOLERANCE * larger, WHOLE_NUMBER_TOLERANCE)
            if any(whole)
            else RELATIVE_TOLERANCE * larger
        )
