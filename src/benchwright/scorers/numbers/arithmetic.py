"""Arithmetic with exact values, bounded in time and memory for any input.

A rational result is exact. An irrational root is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial as product_up_to
from math import isqrt

from benchwright.scorers.numbers.quantity import PERCENT_UNIT, SHARE_DIMENSION, Quantity, Unit

MAX_BITS = 40_000
"""Maximum size of a numerator or denominator, in bits.

A result with a larger numerator or denominator is not computed.
"""

DECIMAL_PLACES = 60
"""Number of decimal places to which irrational roots are rounded."""

PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459")
NO_NUMBER_KIND = "not a number"
TOO_LARGE_KIND = "a number that is too large to compare"

ExpressionValue = Quantity | str
"""The value of an expression: a quantity, or words that say what it is instead (`a division by zero`)."""


def bounded_quantity(value: Fraction, whole: bool = False, unit: Unit | None = None) -> ExpressionValue:
    """Return the value as a quantity.

    Return `TOO_LARGE_KIND` if its numerator or denominator has more than `MAX_BITS` bits.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        return TOO_LARGE_KIND
    return Quantity(value, whole, unit)


def negate(quantity: Quantity) -> Quantity:
    """Return the quantity with the opposite sign."""
    return quantity._replace(value=-quantity.value)


def add_or_subtract(one: ExpressionValue, other: ExpressionValue, sign: int) -> ExpressionValue:
    """Return one + sign * other, in the unit of `one`.

    If the units have different dimensions, return words that say so.
    """
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else other
    if one.unit and other.unit and one.unit != other.unit:
        if not one.unit.is_convertible_to(other.unit):
            return "a sum of different units"
        other = Quantity(other.value_in_base_units / one.unit.factor, unit=one.unit)
    if (one.unit == PERCENT_UNIT) != (other.unit == PERCENT_UNIT):
        return "a sum of a number and a percentage"
    return bounded_quantity(
        one.value + sign * other.value, one.is_whole and other.is_whole, one.unit or other.unit
    )


def _share(value: Quantity) -> Quantity:
    return (
        Quantity(value.value_in_base_units)
        if value.unit and value.unit.dimensions == SHARE_DIMENSION
        else value
    )


def multiply(one: ExpressionValue, other: ExpressionValue) -> ExpressionValue:
    """Return one * other. Percentages are converted into shares first (50 % into 0.5)."""
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else other
    one, other = _share(one), _share(other)
    unit = (one.unit or other.unit) if not (one.unit and other.unit) else None
    return bounded_quantity(one.value * other.value, one.is_whole and other.is_whole, unit)


def divide(one: ExpressionValue, other: ExpressionValue) -> ExpressionValue:
    """Return one / other. Percentages are converted into shares first (50 % into 0.5)."""
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else other
    if not other.value:
        return "a division by zero"
    one, other = _share(one), _share(other)
    value = one.value / other.value
    return bounded_quantity(value, False, one.unit if other.unit is None else None)


def raise_to_power(base: ExpressionValue, exponent: ExpressionValue) -> ExpressionValue:
    """Return base ** exponent. A fractional exponent is a root."""
    if isinstance(base, str) or isinstance(exponent, str):
        return base if isinstance(base, str) else exponent
    if exponent.value.denominator != 1:
        root = root_of(base.value, Fraction(exponent.value.denominator))
        return raise_to_power(root, Quantity(Fraction(exponent.value.numerator), True))
    power = exponent.value.numerator
    bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if abs(power) * bits > MAX_BITS and abs(base.value) != 1:
        return TOO_LARGE_KIND
    if power < 0 and not base.value:
        return "a division by zero"
    return Quantity(base.value**power, base.is_whole and power >= 0, base.unit)


def factorial(value: Quantity) -> ExpressionValue:
    """Return the factorial of a value.

    Return `TOO_LARGE_KIND` if the value is above 2,000, negative or fractional.
    """
    number = value.value.numerator
    if value.value.denominator != 1 or not 0 <= number <= 2_000:
        return TOO_LARGE_KIND
    return Quantity(Fraction(product_up_to(number)), True)


def root_of(value: Fraction, degree: Fraction) -> ExpressionValue:
    """Return the root of a value.

    A rational root is exact. Other roots are rounded to `DECIMAL_PLACES` decimal places.
    """
    if degree.denominator != 1 or not 1 <= degree <= 100 or (value < 0 and degree % 2 == 0):
        return NO_NUMBER_KIND
    sign, number = (-1 if value < 0 else 1), degree.numerator
    over, under = _whole_root(abs(value.numerator), number), _whole_root(value.denominator, number)
    if over**number == abs(value.numerator) and under**number == value.denominator:
        return Quantity(Fraction(sign * over, under), under == 1)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 2_000:
        return TOO_LARGE_KIND
    shifted = abs(value) * 10 ** (DECIMAL_PLACES * number)
    return Quantity(Fraction(sign * _whole_root(int(shifted), number), 10**DECIMAL_PLACES))


def _whole_root(number: int, degree: int) -> int:
    """Return the root of `number`, rounded down to a whole number, found by Newton's method from above."""
    if degree == 2 or not number:
        return isqrt(number)
    root = 1 << -(-number.bit_length() // degree)
    while (lower := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = lower
    return root
